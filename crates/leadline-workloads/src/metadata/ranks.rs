//! Ranks: processes, as mdtest has them, so that each has file descriptors, credentials and locks of its own.
//!
//! They are forked, which costs no second executable. Each has a pipe to the process that started it, and what it
//! has to tell comes through it: that the last rank of this host has arrived at a barrier (only where other hosts
//! take part), and at the end its report. A pipe that closes without a report is a rank that died; the others
//! would wait for it in vain, so they are killed. They also die with the process that started them.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::panic::{catch_unwind, AssertUnwindSafe};

use nix::libc;
use nix::poll::{poll, PollFd, PollFlags, PollTimeout};
use nix::sys::signal::{kill, Signal};
use nix::sys::wait::{waitpid, WaitStatus};
use nix::unistd::{fork, getppid, pipe, ForkResult, Pid};
use serde::de::DeserializeOwned;
use serde::Serialize;

use crate::metadata::company::Company;
use crate::metadata::meeting::Meeting;
use crate::Refusal;

/// Begins what a rank tells: eight bytes follow the one, a report and its end mark the other.
const BARRIER: u8 = b'B';
const REPORT: u8 = b'R';
/// A rank that is killed while it reports leaves a part of it in the pipe. JSON holds no such byte.
const END: u8 = b'\n';

/// A rank's way out of its process.
pub struct Line<'shared> {
    meeting: &'shared Meeting,
    pipe: File,
    /// Whether the ranks of other hosts have to arrive, too.
    in_company: bool,
}

impl Line<'_> {
    /// Waits until all ranks of all hosts are here. Returns the greatest number that one of them brought, and when
    /// the barrier opened, on this host's monotonic clock.
    pub fn meet(&mut self, number: u64) -> (u64, u64) {
        let (ticket, last) = self.meeting.arrive(number);
        if last && self.in_company {
            let mut message = [BARRIER; 9];
            message[1..].copy_from_slice(&self.meeting.greatest().to_le_bytes());
            self.pipe.write_all(&message).expect("the process that started this rank reads");
        } else if last {
            self.meeting.open(self.meeting.greatest());
        }
        self.meeting.wait(ticket)
    }
}

/// A rank as the process that started it sees it.
struct Started {
    process: Pid,
    pipe: File,
    told: Vec<u8>,
    ended: bool,
}

/// Runs `live` in as many processes as the meeting has room for, and returns their reports in their order.
///
/// `phase` says in words what phase a number stands for.
pub fn run_ranks<Report: Serialize + DeserializeOwned>(
    ranks: u32,
    meeting: &Meeting,
    company: Option<Company<'_>>,
    phase: impl Fn(u32) -> String,
    live: impl Fn(u32, &mut Line<'_>) -> Report,
) -> Result<Vec<Report>, Refusal> {
    let in_company = company.is_some();
    let mut started = Vec::new();
    for place in 0..ranks {
        match start(|pipe| live(place, &mut Line { meeting, pipe, in_company })) {
            Ok(rank) => started.push(rank),
            Err(error) => {
                end_all(&started);
                return Err(Refusal(format!("rank {place} of {ranks} could not be started: {error}")));
            }
        }
    }
    let heard = hear(&mut started, meeting, company);
    if let Err(fault) = heard {
        let refusal = fault.in_words(&started, &phase(meeting.phase()));
        end_all(&started);
        return Err(refusal);
    }
    for rank in &started {
        let _ = waitpid(rank.process, None);
    }
    Ok(started
        .iter()
        .map(|rank| serde_json::from_slice(&rank.told[1..]).expect("ranks report in JSON"))
        .collect())
}

/// Forks. In the child this never returns.
fn start<Report: Serialize>(live: impl FnOnce(File) -> Report) -> nix::Result<Started> {
    let parent = nix::unistd::getpid();
    let (read, write) = pipe()?;
    // SAFETY: the child calls only code of this crate and ends in _exit. It may allocate: the C library makes its
    // allocator usable after fork, also when other threads exist, as they do under test.
    match unsafe { fork() }? {
        ForkResult::Parent { child } => {
            Ok(Started { process: child, pipe: read.into(), told: Vec::new(), ended: false })
        }
        ForkResult::Child => {
            drop(read);
            let _ = nix::sys::prctl::set_pdeathsig(Signal::SIGKILL);
            let mut pipe = File::from(write);
            let orphaned = getppid() != parent; // it died before the line above could take effect
            let lived =
                !orphaned && catch_unwind(AssertUnwindSafe(|| live_and_tell(&mut pipe, live))).is_ok();
            // SAFETY: ends the process without running what the parent registered for its own end.
            unsafe { libc::_exit(if lived { 0 } else { 101 }) }
        }
    }
}

fn live_and_tell<Report: Serialize>(pipe: &mut File, live: impl FnOnce(File) -> Report) {
    let report = live(pipe.try_clone().expect("a pipe can be doubled"));
    let mut message = vec![REPORT];
    serde_json::to_writer(&mut message, &report).expect("reports are plain data");
    message.push(END);
    pipe.write_all(&message).expect("the process that started this rank reads");
}

/// Why not all ranks came to their end.
enum Fault {
    Died(usize),
    Refused(Refusal),
}

impl Fault {
    fn in_words(self, started: &[Started], phase: &str) -> Refusal {
        match self {
            Self::Refused(refusal) => refusal,
            Self::Died(place) => {
                let how = match waitpid(started[place].process, None) {
                    Ok(WaitStatus::Signaled(_, signal, _)) => format!("was killed by {signal}"),
                    Ok(WaitStatus::Exited(_, code)) => format!("ended with exit code {code}"),
                    _ => "ended".to_owned(),
                };
                Refusal(format!("rank {place} {how} in phase \"{phase}\": its files are still there"))
            }
        }
    }
}

/// Listens until all have reported.
fn hear(started: &mut [Started], meeting: &Meeting, mut company: Option<Company<'_>>) -> Result<(), Fault> {
    let mut barriers = 0;
    while started.iter().any(|rank| !rank.ended) {
        for place in readable(started).map_err(Fault::Refused)? {
            let rank = &mut started[place];
            rank.listen();
            while let Some(greatest) = rank.arrival() {
                let company = company.as_mut().expect("ranks alone open their barriers themselves");
                barriers += 1;
                meeting.open(company.meet(barriers, greatest).map_err(Fault::Refused)?);
            }
            if rank.ended && !rank.has_reported() {
                return Err(Fault::Died(place));
            }
        }
    }
    Ok(())
}

/// Which ranks have something to tell, or have ended.
fn readable(started: &[Started]) -> Result<Vec<usize>, Refusal> {
    let listening: Vec<usize> = (0..started.len()).filter(|&place| !started[place].ended).collect();
    let mut pipes: Vec<PollFd<'_>> =
        listening.iter().map(|&place| PollFd::new(started[place].pipe.as_fd(), PollFlags::POLLIN)).collect();
    match poll(&mut pipes, PollTimeout::NONE) {
        Ok(_) | Err(nix::Error::EINTR) => {}
        Err(error) => return Err(Refusal(format!("ranks cannot be waited for: {error}"))),
    }
    let told = |pipe: &PollFd<'_>| pipe.any().unwrap_or(false);
    Ok(listening.into_iter().zip(&pipes).filter(|(_, pipe)| told(pipe)).map(|(place, _)| place).collect())
}

impl Started {
    fn listen(&mut self) {
        let mut buffer = [0; 65536];
        match self.pipe.read(&mut buffer) {
            Ok(0) => self.ended = true,
            Ok(length) => self.told.extend_from_slice(&buffer[..length]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => self.ended = true,
        }
    }

    fn has_reported(&self) -> bool {
        self.told.first() == Some(&REPORT) && self.told.last() == Some(&END)
    }

    /// The number that the last arrival at a barrier brought, if it has been told.
    fn arrival(&mut self) -> Option<u64> {
        if self.told.first() != Some(&BARRIER) || self.told.len() < 9 {
            return None;
        }
        let message: Vec<u8> = self.told.drain(..9).collect();
        Some(u64::from_le_bytes(message[1..].try_into().expect("eight bytes")))
    }
}

/// Kills those that still run and reaps all, but for the one whose end was put into words.
fn end_all(started: &[Started]) {
    for rank in started {
        if !rank.ended {
            let _ = kill(rank.process, Signal::SIGKILL);
        }
        let _ = waitpid(rank.process, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(ranks: u32, live: impl Fn(u32, &mut Line<'_>) -> u64) -> Result<Vec<u64>, Refusal> {
        let meeting = Meeting::new(ranks).unwrap();
        run_ranks(ranks, &meeting, None, |number| format!("phase {number}"), live)
    }

    #[test]
    fn ranks_are_processes_that_meet_and_report() {
        let reports =
            run(3, |place, line| line.meet(10 + u64::from(place)).0 * 100 + u64::from(place)).unwrap();
        assert_eq!(reports, [1200, 1201, 1202]);
        let processes = run(2, |_, _| std::process::id().into()).unwrap();
        assert_ne!(processes[0], processes[1]);
        assert!(!processes.contains(&std::process::id().into()));
    }

    #[test]
    fn a_rank_that_is_killed_ends_the_step_with_a_sentence_and_leaves_nobody_waiting() {
        let meeting = Meeting::new(2).unwrap();
        let live = |place: u32, line: &mut Line<'_>| {
            meeting.enter_phase(4);
            if place == 1 {
                kill(nix::unistd::getpid(), Signal::SIGKILL).unwrap();
            }
            line.meet(0).0
        };
        let refusal = run_ranks(2, &meeting, None, |number| format!("phase {number}"), live).unwrap_err();
        assert_eq!(refusal.0, "rank 1 was killed by SIGKILL in phase \"phase 4\": its files are still there");
    }

    #[test]
    fn a_rank_that_is_killed_in_the_midst_of_its_report_has_died_and_not_reported() {
        let live = |_: u32, line: &mut Line<'_>| {
            line.pipe.write_all(&[REPORT, b'1']).unwrap();
            kill(nix::unistd::getpid(), Signal::SIGKILL).unwrap();
            17
        };
        assert!(run(1, live).unwrap_err().0.starts_with("rank 0 was killed by SIGKILL"));
    }

    #[test]
    fn a_long_report_arrives_whole() {
        let meeting = Meeting::new(1).unwrap();
        let report: Vec<Vec<u64>> =
            run_ranks(1, &meeting, None, |_| String::new(), |_, _| (0..100_000).collect()).unwrap();
        assert_eq!(report[0].iter().sum::<u64>(), 99_999 * 50_000);
    }

    #[test]
    fn other_hosts_are_asked_at_each_barrier_and_their_greatest_number_counts() {
        let meeting = Meeting::new(2).unwrap();
        let mut questions = Vec::new();
        let mut answers = &b"go 1 50\ngo 2 60\n"[..];
        let company = Company { answers: &mut answers, questions: &mut questions };
        let live = |place: u32, line: &mut Line<'_>| line.meet(place.into()).0 + line.meet(7).0;
        let reports = run_ranks(2, &meeting, Some(company), |_| String::new(), live).unwrap();
        assert_eq!(reports, [110, 110]);
        assert_eq!(String::from_utf8(questions).unwrap(), "barrier 1 1\nbarrier 2 7\n");
    }

    #[test]
    fn ranks_end_when_the_other_hosts_do_not_answer() {
        let meeting = Meeting::new(2).unwrap();
        let company = Company { answers: &mut &b""[..], questions: &mut Vec::new() };
        let refused = run_ranks(2, &meeting, Some(company), |_| String::new(), |_, line| line.meet(1).0);
        assert!(refused.unwrap_err().0.contains("another host has given up"));
    }
}
