//! The command line, from which clap makes parser and help.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

#[derive(Parser)]
#[command(name = "leadline-engine", version, about = "Performs and guards the timed steps of leadline")]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Run a command that must neither hang nor outlive whoever started it
    Supervise(Supervise),
    /// Perform one step and print its result as JSON
    Run {
        /// File that holds the step as JSON, or - for standard input
        step: PathBuf,
    },
    /// Judge what the clients of one run wrote down, and print which guarantees held as JSON
    Check(Check),
    /// Be one client of the visibility grid: follow instructions, one JSON object a line, and reply to each with one
    VisibilityClient {
        /// Directory that the names in the instructions are relative to
        directory: PathBuf,
        /// File that holds the instructions, or - for standard input
        #[arg(default_value = "-")]
        instructions: PathBuf,
    },
    /// Show an image file as a disk that takes its time, and stay behind until that is unmounted
    SlowDisk(SlowDisk),
    /// Print or write the JSON schemas of what this program reads and writes
    Schema(Schema),
}

#[derive(Args)]
pub struct Check {
    /// The histories of all clients, as the workload `histories` wrote them
    #[arg(required = true, value_name = "HISTORY")]
    pub histories: Vec<PathBuf>,
    /// A client took part whose history is not there: what it did may excuse what looks wrong
    #[arg(long)]
    pub incomplete: bool,
    /// How old what is seen may be, where that was promised
    #[arg(long, value_name = "NS", value_parser = clap::value_parser!(i64).range(0..))]
    pub staleness_ns: Option<i64>,
}

#[derive(Args)]
pub struct SlowDisk {
    /// The image: read and written through the page cache
    pub image: PathBuf,
    /// The file over which it is shown
    pub point: PathBuf,
    /// How long every request holds a channel, whatever its size
    #[arg(long, value_name = "SECONDS", value_parser = latency_seconds)]
    pub latency_seconds: f64,
    /// How many requests are served at once
    #[arg(long, value_name = "N", default_value = "1")]
    pub channels: NonZeroUsize,
    /// What a channel moves: a request holds it for so much longer; without it, size does not matter
    #[arg(long, value_name = "RATE", value_parser = bytes_per_second)]
    pub channel_bytes_per_second: Option<f64>,
}

/// A century would overflow what adds them up; a day is more than can be meant.
fn latency_seconds(text: &str) -> Result<f64, String> {
    within(text, f64::MIN_POSITIVE, 86_400.0)
}

fn bytes_per_second(text: &str) -> Result<f64, String> {
    within(text, 1.0, f64::MAX)
}

fn within(text: &str, least: f64, most: f64) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if (least..=most).contains(&value) => Ok(value),
        _ => Err(format!("give a number from {least:e} to {most:e}")),
    }
}

#[derive(Args)]
pub struct Supervise {
    /// Kill the command and all its descendants after this many milliseconds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MOST_MILLISECONDS))]
    pub timeout_ms: u64,
    /// How long the command may take to finish once it was interrupted
    #[arg(long, value_name = "G", default_value_t = 5000, value_parser = clap::value_parser!(u64).range(..=MOST_MILLISECONDS))]
    pub grace_ms: u64,
    /// Write what was observed to this file, as JSON
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Process without which the command must not run; default: whoever started this one
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    pub parent: Option<i32>,
    /// Take orders on standard input: say that all is ready, start the command at the line `go`, interrupt it at the
    /// line `interrupt`, and kill everything when the input ends
    #[arg(long)]
    pub orders: bool,
    /// With --orders: what follows `tell ` in an order is a line for the command's standard input
    #[arg(long, requires = "orders")]
    pub answers: bool,
    /// The command and its arguments, after --
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// A century: more cannot be meant, and less than what would overflow in nanoseconds.
const MOST_MILLISECONDS: u64 = 100 * 365 * 24 * 3600 * 1000;

#[derive(Args)]
#[group(required = true, multiple = false)]
pub struct Schema {
    /// Which schema to print
    #[arg(value_parser = crate::schemas::NAMES)]
    pub name: Option<String>,
    /// Write all schemas into this directory
    #[arg(long, value_name = "DIR")]
    pub all: Option<PathBuf>,
}
