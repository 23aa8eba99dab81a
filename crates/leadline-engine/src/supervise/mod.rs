//! Runs a foreign command so that it can neither hang nor outlive leadline, and records what it used.
//!
//! Killing a process group is not enough: fio's jobs call setsid(2) and leave it, and with fio's main process
//! gone they would run on under init. So the supervisor makes itself the reaper of all its descendants
//! (PR_SET_CHILD_SUBREAPER): orphans become its own children, and no descendant is left exactly when waitpid(2)
//! knows no child any more. Four things can happen while the command runs:
//!
//! * it ends: whatever it left behind is killed;
//! * the timeout passes: the whole tree is killed;
//! * SIGINT, SIGTERM or SIGHUP arrives: the command is sent SIGINT, upon which fio stops and writes what it
//!   has; after the grace time the tree is killed. Further signals change nothing, because a terminal and
//!   leadline may both deliver the same one;
//! * the parent dies, even by `kill -9`: the whole tree is killed.
//!
//! With orders (`--orders`) the command is held back until it is told to go, an interrupt can also be an order, and
//! the end of the orders is the end of everything, like the death of the parent. With `--answers` they also hold
//! what the command reads on its standard input: answers to what it asked on its output.
//!
//! Nothing polls: the supervisor sleeps until a signal or a deadline.

mod launch;
mod orders;
mod process_tree;
pub mod report;
mod signals;

use std::io::{self, Write};
use std::process::{ChildStdin, ExitCode};
use std::time::{Duration, Instant};

use leadline_workloads::clock::Moment;
use nix::sys::signal::Signal;
use nix::sys::wait::WaitStatus;

use crate::arguments::Supervise;
use launch::{Guardian, Input};
use orders::Orders;
use process_tree::ProcessTree;
use report::{Resources, Supervision};
use signals::{Event, Signals};

/// How long killed processes may take to go. One that hangs in the kernel (a dead network filesystem) does not
/// even die of SIGKILL; it is reported as surviving instead of hanging the supervisor.
const REAP_LIMIT: Duration = Duration::from_secs(10);

/// Exit codes of timeout(1), which users know: the command timed out, the supervisor itself failed, the
/// command could not be started, the command was not found.
const TIMED_OUT: u8 = 124;
const SUPERVISOR_FAILED: u8 = 125;
const NOT_STARTED: u8 = 126;
const NOT_FOUND: u8 = 127;

/// Supervises, reports, and answers with the exit code for this process.
pub fn main(options: &Supervise) -> ExitCode {
    if let Err(sentence) = report::check_destination(options.report.as_deref()) {
        return crate::refuse(&sentence);
    }
    let supervision = match supervise(options) {
        Ok(supervision) => supervision,
        Err(failure) => return failure.tell(),
    };
    match report::write(options.report.as_deref(), &supervision) {
        Ok(()) => ExitCode::from(exit_code(&supervision)),
        Err(sentence) => {
            crate::refuse(&sentence);
            ExitCode::from(SUPERVISOR_FAILED)
        }
    }
}

/// The command's own exit code; 128 and its number if it died of a signal; 124 if it timed out.
pub fn exit_code(supervision: &Supervision) -> u8 {
    match (supervision.timed_out, supervision.exit_code, supervision.signal) {
        (true, _, _) => TIMED_OUT,
        (_, Some(code), _) => code,
        (_, _, Some(number)) => 128 + number,
        (_, None, None) => SUPERVISOR_FAILED, // it survived SIGKILL
    }
}

/// Why there is nothing to report.
enum Failure {
    Supervisor(io::Error),
    Command(String, io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Supervisor(error)
    }
}

impl From<nix::Error> for Failure {
    fn from(error: nix::Error) -> Self {
        Self::Supervisor(error.into())
    }
}

impl Failure {
    fn tell(&self) -> ExitCode {
        let (sentence, code) = match self {
            Self::Supervisor(error) => (format!("supervision failed: {error}"), SUPERVISOR_FAILED),
            Self::Command(command, error) if error.kind() == io::ErrorKind::NotFound => {
                (format!("{command} was not found: is it installed?"), NOT_FOUND)
            }
            Self::Command(command, error) => {
                (format!("{command} could not be started: {error}"), NOT_STARTED)
            }
        };
        crate::refuse(&sentence);
        ExitCode::from(code)
    }
}

fn supervise(options: &Supervise) -> Result<Supervision, Failure> {
    let mut signals = Signals::watch()?;
    let guardian = Guardian::appoint(options.parent)?;
    let cannot_start = |error| Failure::Command(options.command[0].to_string_lossy().into_owned(), error);
    if options.orders {
        launch::check(&options.command[0]).map_err(cannot_start)?;
        signals.take(Orders::invite()?);
        if !may_start(&mut signals, &guardian)? {
            return Ok(Supervision::of_a_command_never_started()?);
        }
    }
    let start = Moment::now();
    let begun = Instant::now();
    let input = match (options.orders, options.answers) {
        (false, _) => Input::Ours,
        (true, false) => Input::Nothing,
        (true, true) => Input::Told,
    };
    let (command, told) = launch::start(&options.command, &input).map_err(cannot_start)?;
    let mut tree = ProcessTree::rooted_at(command);
    let ending = await_end(options, &mut signals, &guardian, &mut tree, begun, told)?;
    let survivors = tree.kill(&mut signals, REAP_LIMIT)?;
    let (exit_code, signal) = match tree.root_status() {
        Some(WaitStatus::Exited(_, code)) => (Some(code as u8), None),
        Some(WaitStatus::Signaled(_, signal, _)) => (None, Some(signal as u8)),
        _ => (None, None),
    };
    Ok(Supervision {
        exit_code,
        signal,
        timed_out: ending.timed_out,
        interrupted: ending.interrupted,
        start,
        wall_ns: tree.root_ended().unwrap_or_else(Instant::now).duration_since(begun).as_nanos() as u64,
        resources: Resources::of_reaped_children()?,
        killed_descendants: tree.killed(),
        surviving_descendants: survivors,
    })
}

/// Waits for the order to start; false when it will not come.
fn may_start(signals: &mut Signals, guardian: &Guardian) -> Result<bool, Failure> {
    loop {
        match signals.next_before(None)? {
            Some(Event::Go) => return Ok(true),
            Some(Event::Interrupt | Event::OrdersEnded) => return Ok(false),
            Some(Event::ParentThreadEnded) if guardian.is_orphaned() => return Ok(false),
            _ => {}
        }
    }
}

/// A command that has closed its input, or ended, hears no more.
fn tell(told: &mut Option<ChildStdin>, line: &[u8]) {
    if told.as_mut().is_some_and(|input| input.write_all(line).is_err()) {
        *told = None;
    }
}

/// Why the wait was over; both can hold, and neither when the command ended by itself.
#[derive(Default)]
struct Ending {
    timed_out: bool,
    interrupted: bool,
}

/// Returns once the command has ended, or must.
fn await_end(
    options: &Supervise,
    signals: &mut Signals,
    guardian: &Guardian,
    tree: &mut ProcessTree,
    begun: Instant,
    mut told: Option<ChildStdin>,
) -> Result<Ending, Failure> {
    let timeout = begun + Duration::from_millis(options.timeout_ms);
    let mut deadline = timeout;
    let mut ending = Ending::default();
    while tree.root_is_alive() {
        match signals.next_before(deadline)? {
            Some(Event::ChildEnded) => tree.reap()?,
            Some(Event::OrdersEnded) => {
                ending.interrupted = true;
                return Ok(ending);
            }
            Some(Event::ParentThreadEnded) if guardian.is_orphaned() => {
                ending.interrupted = true;
                return Ok(ending);
            }
            Some(Event::ParentThreadEnded | Event::Go) => {}
            Some(Event::Tell(line)) => tell(&mut told, &line),
            Some(Event::Interrupt) if !ending.interrupted => {
                ending.interrupted = true;
                deadline = timeout.min(Instant::now() + Duration::from_millis(options.grace_ms));
                tree.signal_root(Signal::SIGINT)?;
            }
            Some(Event::Interrupt) => {}
            None => {
                ending.timed_out = Instant::now() >= timeout;
                return Ok(ending);
            }
        }
    }
    Ok(ending)
}
