//! `leadline-engine`: the part of leadline that measures and guards. Python thinks, this executable does.
//!
//! Where this stands in the flow: the conductor starts it on a host, once for each step, either to perform one
//! of leadline's own workloads (`run`) or to guard a foreign benchmark program such as fio (`supervise`). Files
//! and pipes are all that connects the two; `schema` prints what they carry.
//!
//! Exit codes: 0 done; 2 the user's mistake, with one sentence on standard error; 101 a mistake of ours;
//! `supervise` answers with the exit code of what it guards instead, see [`supervise::exit_code`].

mod arguments;
mod check;
mod schemas;
mod slow_disk;
mod step;
mod suggestion;
mod supervise;
mod visibility_client;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command};

/// What clap, too, exits with for a mistake on the command line.
const USER_MISTAKE: u8 = 2;

fn main() -> ExitCode {
    let answer = match Arguments::parse().command {
        Command::Supervise(options) => return supervise::main(&options),
        Command::Run { step } => step::run(&step),
        Command::Check(choice) => check::run(&choice),
        Command::VisibilityClient { directory, instructions } => {
            visibility_client::serve(&directory, &instructions)
        }
        Command::SlowDisk(options) => slow_disk::show(&options),
        Command::Schema(choice) => schemas::deliver(&choice),
    };
    match answer.and_then(|document| print(&document)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => refuse(&sentence),
    }
}

/// Tells the user what was wrong, in one sentence.
fn refuse(sentence: &str) -> ExitCode {
    let _ = writeln!(io::stderr(), "leadline-engine: {sentence}");
    ExitCode::from(USER_MISTAKE)
}

fn print(document: &str) -> Result<(), String> {
    let mut output = io::stdout().lock();
    output
        .write_all(document.as_bytes())
        .and_then(|()| output.flush())
        .map_err(|error| format!("the result could not be written to standard output: {error}"))
}
