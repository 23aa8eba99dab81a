//! The pipe between a client of the visibility grid and whoever tells it what to do; ends when the instructions end.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::os::fd::AsFd;
use std::path::Path;

use leadline_workloads::visibility;
use nix::poll::{poll, PollFd, PollFlags, PollTimeout};

/// Serves a directory; the document that is left to print is empty, since every reply was printed when it came.
pub fn serve(directory: &Path, instructions: &Path) -> Result<String, String> {
    if !directory.is_absolute() {
        return Err(format!(
            "{} is a relative path; name the directory by its whole path",
            directory.display()
        ));
    }
    let mut lines: Box<dyn BufRead> = if instructions == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        Box::new(BufReader::new(File::open(instructions).map_err(|error| {
            format!("cannot read the instructions from {}: {error}", instructions.display())
        })?))
    };
    visibility::serve(directory, &mut lines, &mut io::stdout().lock(), &is_heard)
        .map_err(|refusal| refusal.to_string())?;
    Ok(String::new())
}

/// Whether somebody may still read the replies. Standard input says nothing of that: all instructions may have been sent at once.
fn is_heard() -> bool {
    let stdout = io::stdout();
    let mut replies = [PollFd::new(stdout.as_fd(), PollFlags::empty())];
    let has_gone = |flags: PollFlags| flags.intersects(PollFlags::POLLERR | PollFlags::POLLHUP);
    // A call that a signal interrupted tells nothing.
    poll(&mut replies, PollTimeout::ZERO).is_err() || !replies[0].revents().is_some_and(has_gone)
}
