//! The command and everything that descends from it: reaped, found in /proc, and killed until none is left.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{kill, killpg, Signal};
use nix::sys::wait::{waitpid, WaitPidFlag, WaitStatus};
use nix::unistd::{getpid, Pid};

use super::signals::Signals;

/// How long to wait for the deaths that were ordered before looking for processes forked meanwhile.
const BETWEEN_SWEEPS: Duration = Duration::from_millis(20);

/// All descendants of this process. Holds only in a process that is a child subreaper.
pub struct ProcessTree {
    root: Pid,
    root_end: Option<(WaitStatus, Instant)>,
    is_empty: bool,
    killed: HashSet<Pid>,
}

impl ProcessTree {
    pub fn rooted_at(root: Pid) -> Self {
        Self { root, root_end: None, is_empty: false, killed: HashSet::new() }
    }

    pub fn root_is_alive(&self) -> bool {
        self.root_end.is_none()
    }

    pub fn root_status(&self) -> Option<WaitStatus> {
        self.root_end.map(|(status, _)| status)
    }

    pub fn root_ended(&self) -> Option<Instant> {
        self.root_end.map(|(_, instant)| instant)
    }

    /// How many processes were killed, the command itself included.
    pub fn killed(&self) -> u64 {
        self.killed.len() as u64
    }

    /// Sends a signal to the command and those that stayed in its process group, as a terminal would.
    pub fn signal_root(&self, signal: Signal) -> nix::Result<()> {
        match killpg(self.root, signal) {
            Err(Errno::ESRCH) => Ok(()), // it ended meanwhile
            sent => sent,
        }
    }

    /// Collects all children that have ended, orphans that became ours included.
    pub fn reap(&mut self) -> nix::Result<()> {
        loop {
            match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::StillAlive) | Err(Errno::EINTR) => return Ok(()),
                Ok(status) if status.pid() == Some(self.root) => {
                    self.root_end = Some((status, Instant::now()))
                }
                Ok(_) => {}
                Err(Errno::ECHILD) => {
                    self.is_empty = true;
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Kills every descendant, again and again until none is left, since each can fork while it is looked for.
    /// Returns how many are still there when `limit` has passed.
    pub fn kill(&mut self, signals: &mut Signals, limit: Duration) -> io::Result<u64> {
        let give_up = Instant::now() + limit;
        self.reap()?;
        while !self.is_empty {
            let alive = living_descendants(getpid())?;
            if Instant::now() >= give_up {
                return Ok(alive.len() as u64);
            }
            // A process that is gone already, or that another user owns, stays for the next look.
            self.killed.extend(alive.into_iter().filter(|&process| kill(process, Signal::SIGKILL).is_ok()));
            self.reap_until(signals, Instant::now() + BETWEEN_SWEEPS)?;
        }
        Ok(0)
    }

    fn reap_until(&mut self, signals: &mut Signals, deadline: Instant) -> io::Result<()> {
        self.reap()?;
        while !self.is_empty && signals.next_before(deadline)?.is_some() {
            self.reap()?;
        }
        Ok(())
    }
}

/// Processes that descend from `ancestor` and have not ended, parents before their children.
fn living_descendants(ancestor: Pid) -> io::Result<Vec<Pid>> {
    let mut children: HashMap<Pid, Vec<Process>> = HashMap::new();
    for process in processes()? {
        children.entry(process.parent).or_default().push(process);
    }
    let mut found = Vec::new();
    let mut parents = vec![ancestor];
    while let Some(parent) = parents.pop() {
        for child in children.remove(&parent).unwrap_or_default() {
            parents.push(child.id);
            if !child.has_ended {
                found.push(child.id);
            }
        }
    }
    Ok(found)
}

struct Process {
    id: Pid,
    parent: Pid,
    has_ended: bool,
}

fn processes() -> io::Result<Vec<Process>> {
    let stats = fs::read_dir("/proc")?.flatten().filter_map(|entry| {
        let id = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?; // gone meanwhile: nothing to kill
        parse_stat(id, &stat)
    });
    Ok(stats.collect())
}

/// `pid (name) state ppid ...`, see proc_pid_stat(5). The name may itself hold spaces and parentheses, so
/// fields are counted from the last one.
fn parse_stat(id: i32, stat: &str) -> Option<Process> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let has_ended = matches!(state, "Z" | "X");
    Some(Process { id: Pid::from_raw(id), parent: Pid::from_raw(parent), has_ended })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_name_with_parentheses_does_not_confuse_the_parser() {
        let process = parse_stat(42, "42 (a) Z 1 (b) S 7 42 42 0").unwrap();
        assert_eq!((process.parent, process.has_ended), (Pid::from_raw(7), false));
        assert!(parse_stat(42, "42 (sh) Z 7 42").unwrap().has_ended);
        assert!(parse_stat(42, "42 (sh").is_none());
    }

    #[test]
    fn a_child_of_a_child_is_found() {
        let sleeper = r#"sleep 60 & echo $!; wait"#;
        let mut shell = std::process::Command::new("sh")
            .args(["-c", sleeper])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let output = shell.stdout.take().unwrap();
        io::BufRead::read_line(&mut io::BufReader::new(output), &mut line).unwrap();
        let grandchild = Pid::from_raw(line.trim().parse().unwrap());
        let found = living_descendants(getpid()).unwrap();
        kill(grandchild, Signal::SIGKILL).unwrap();
        shell.wait().unwrap();
        assert!(found.contains(&grandchild));
    }
}
