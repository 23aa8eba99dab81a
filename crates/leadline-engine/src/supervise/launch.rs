//! The bonds between three generations, tied so that none can slip: leadline, the supervisor, the command.
//!
//! The kernel can send a process a signal when its parent ends (PR_SET_PDEATHSIG in prctl(2)). Two traps:
//! "parent" there means the *thread* that forked, so the signal may come while the parent process lives on; and
//! a parent that ends before the call was made sends nothing. Both are met by asking getppid(2) afterwards:
//! once the parent is gone, it answers with somebody else.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};

use nix::sys::prctl;
use nix::sys::signal::{signal, SigHandler, SigSet, Signal};
use nix::unistd::{getpid, getppid, Pid};

use super::signals::PARENT_ENDED;

/// The supervisor's tie to whoever started it.
pub struct Guardian {
    parent: Pid,
}

impl Guardian {
    /// Makes this process reaper of all its descendants and heir to the parent's death. A caller that names
    /// itself (`--parent`) leaves no gap at all; otherwise one remains, before the first getppid(2).
    pub fn appoint(parent: Option<i32>) -> io::Result<Self> {
        let guardian = Self { parent: parent.map_or_else(getppid, Pid::from_raw) };
        prctl::set_child_subreaper(true)?;
        prctl::set_pdeathsig(PARENT_ENDED)?;
        if guardian.is_orphaned() {
            return Err(io::Error::other(format!("process {} is not our parent any more", guardian.parent)));
        }
        Ok(guardian)
    }

    pub fn is_orphaned(&self) -> bool {
        getppid() != self.parent
    }
}

/// Finds out before all others wait for it that a command cannot start: there is no such program.
pub fn check(command: &OsStr) -> io::Result<()> {
    let named = Path::new(command);
    let folders = env::var_os("PATH").unwrap_or_default();
    let found = if named.components().count() > 1 {
        named.exists()
    } else {
        env::split_paths(&folders).any(|folder| folder.join(named).exists())
    };
    if found {
        Ok(())
    } else {
        Err(io::ErrorKind::NotFound.into())
    }
}

/// What the command reads.
pub enum Input {
    /// Our own standard input.
    Ours,
    /// Nothing: ours brings orders.
    Nothing,
    /// What the orders say that it is told.
    Told,
}

/// Starts the command with our standard output and error, in a process group of its own: otherwise a terminal's
/// Ctrl-C would reach it twice, once directly and once through us, and programs such as fio take the second as an
/// order to drop everything. Returns the other end of its input, where it is told something.
pub fn start(command: &[OsString], input: &Input) -> io::Result<(Pid, Option<ChildStdin>)> {
    let supervisor = getpid();
    let mut prepared = Command::new(&command[0]);
    prepared.args(&command[1..]).process_group(0);
    match input {
        Input::Ours => {}
        Input::Nothing => {
            prepared.stdin(Stdio::null());
        }
        Input::Told => {
            prepared.stdin(Stdio::piped());
        }
    }
    // SAFETY: between fork and exec only system calls are made, and nothing is allocated or locked.
    unsafe { prepared.pre_exec(move || tie_to(supervisor)) };
    let mut child = prepared.spawn()?;
    let told = child.stdin.take();
    Ok((Pid::from_raw(child.id() as i32), told)) // a dropped Child is not reaped: the process tree does that
}

/// Runs in the child. Signals that we block would otherwise stay blocked in the command, and one that begins an orderly end would
/// stay ignored where we were started in the background of a script (POSIX shells: an asynchronous list ignores SIGINT).
fn tie_to(supervisor: Pid) -> io::Result<()> {
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    // SAFETY: the default disposition runs no code of ours.
    unsafe { signal(Signal::SIGINT, SigHandler::SigDfl) }?;
    SigSet::empty().thread_set_mask()?;
    if getppid() == supervisor {
        Ok(())
    } else {
        Err(io::Error::from_raw_os_error(nix::errno::Errno::ECHILD as i32))
    }
}
