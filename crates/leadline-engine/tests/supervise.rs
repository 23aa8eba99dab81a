//! What the supervisor promises about the life and death of other processes.
//!
//! Every process of a test inherits the write end of one pipe as its standard output. The pipe therefore ends
//! exactly when the last of them has: no test needs to look for processes, nor to wait and hope.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use leadline_attempts::attempts;
use nix::sys::signal::{kill, Signal};
use nix::unistd::Pid;
use serde_json::Value;
use tempfile::TempDir;

/// Prints "ready" from a grandchild that has left session, process group and parent, as fio's jobs and
/// daemons do, then sleeps for longer than any test may last.
const DAEMON: &str = r#"(setsid sh -c 'echo ready; exec sleep 60' &)"#;
const LIMIT: Duration = Duration::from_secs(50);

struct Supervised {
    process: Child,
    output: BufReader<ChildStdout>,
    directory: TempDir,
    begun: Instant,
}

fn engine() -> Command {
    Command::new(env!("CARGO_BIN_EXE_leadline-engine"))
}

/// Starts `sh -c SCRIPT` under the supervisor.
fn supervise(options: &[&str], script: &str) -> Supervised {
    let directory = tempfile::tempdir().unwrap();
    let mut command = engine();
    command.arg("supervise").args(options).arg("--report").arg(directory.path().join("report.json"));
    command.args(["--", "sh", "-c", script]);
    Supervised::start(command, directory)
}

impl Supervised {
    fn start(mut command: Command, directory: TempDir) -> Self {
        let begun = Instant::now();
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        Self { process, output, directory, begun }
    }

    fn await_line(&mut self, expected: &str) {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        assert_eq!(line.trim(), expected);
    }

    /// Returns once every process that holds the pipe has ended, and what they still wrote.
    fn await_silence(&mut self) -> String {
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).unwrap();
        assert!(self.begun.elapsed() < LIMIT, "somebody lived on");
        rest
    }

    fn end(mut self) -> (ExitStatus, Value) {
        self.await_silence();
        let status = self.process.wait().unwrap();
        let report = std::fs::read(self.directory.path().join("report.json")).unwrap();
        (status, serde_json::from_slice(&report).unwrap())
    }

    fn send(&self, signal: Signal) {
        kill(Pid::from_raw(self.process.id() as i32), signal).unwrap();
    }
}

#[test]
fn the_exit_code_of_the_command_is_passed_on_and_reported() {
    let (status, report) = supervise(&["--timeout-ms", "60000"], "exit 7").end();
    assert_eq!(status.code(), Some(7));
    assert_eq!((&report["exit_code"], &report["signal"]), (&Value::from(7), &Value::Null));
    assert_eq!((&report["timed_out"], &report["interrupted"]), (&Value::from(false), &Value::from(false)));
    assert_eq!(report["killed_descendants"], 0);
}

#[test]
fn a_command_that_dies_of_a_signal_yields_128_and_its_number() {
    let (status, report) = supervise(&["--timeout-ms", "60000"], "kill -TERM $$").end();
    assert_eq!(status.code(), Some(128 + 15));
    assert_eq!((&report["exit_code"], &report["signal"]), (&Value::Null, &Value::from(15)));
}

#[test]
fn a_command_that_does_not_exist_yields_127_and_one_sentence() {
    let output =
        engine().args(["supervise", "--timeout-ms", "1000", "--", "no-such-program"]).output().unwrap();
    assert_eq!(output.status.code(), Some(127));
    let sentence = String::from_utf8(output.stderr).unwrap();
    assert_eq!(sentence, "leadline-engine: no-such-program was not found: is it installed?\n");
}

#[test]
fn a_timeout_kills_grandchildren_that_left_session_and_parent() {
    let script = format!("{DAEMON}; {DAEMON}; exec sleep 60");
    let measure = || supervise(&["--timeout-ms", "3000"], &script).end();
    let (status, report) = attempts(measure, |(_, report)| report["killed_descendants"] == 3); // all were up in time
    assert_eq!(status.code(), Some(124));
    assert_eq!((&report["timed_out"], &report["signal"]), (&Value::from(true), &Value::from(9)));
    assert_eq!(report["killed_descendants"], 3);
    assert_eq!(report["surviving_descendants"], 0);
    let wall_ns = report["wall_ns"].as_u64().unwrap();
    assert!((3_000_000_000..30_000_000_000).contains(&wall_ns), "{wall_ns}");
}

#[test]
fn what_a_finished_command_leaves_behind_is_killed() {
    let (status, report) =
        supervise(&["--timeout-ms", "60000"], &format!("{DAEMON}; read _ < /dev/null")).end();
    assert_eq!(status.code(), Some(1));
    assert_eq!((&report["timed_out"], &report["interrupted"]), (&Value::from(false), &Value::from(false)));
    assert!(report["killed_descendants"].as_u64().unwrap() >= 1);
}

#[test]
fn everything_ends_when_the_parent_is_killed() {
    let directory = tempfile::tempdir().unwrap();
    let mut parent = Command::new("sh"); // the "true" keeps the shell from becoming the supervisor
    parent.args(["-c", r#""$0" supervise --timeout-ms 60000 -- sh -c "$1"; true"#]);
    parent.args([env!("CARGO_BIN_EXE_leadline-engine"), &format!("{DAEMON}; exec sleep 60")]);
    let mut family = Supervised::start(parent, directory);
    family.await_line("ready");
    family.send(Signal::SIGKILL);
    family.await_silence();
    assert_eq!(family.process.wait().unwrap().signal(), Some(9));
}

#[test]
fn the_end_of_the_thread_that_started_it_is_not_the_end_of_the_parent() {
    let script = "echo ready; read line; exit 5";
    let start = move || {
        let mut supervised = supervise(&["--timeout-ms", "60000"], script);
        supervised.await_line("ready"); // the tie to this thread exists before it ends
        supervised
    };
    let mut supervised = std::thread::spawn(start).join().unwrap();
    supervised.process.stdin.take().unwrap().write_all(b"go on\n").unwrap();
    let (status, report) = supervised.end();
    assert_eq!(status.code(), Some(5));
    assert_eq!(report["interrupted"], false);
}

#[test]
fn a_parent_that_is_already_gone_starts_nothing() {
    let output = engine()
        .args(["supervise", "--timeout-ms", "1000", "--parent", "1", "--", "echo", "started"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(125));
    assert!(output.stdout.is_empty());
    assert!(String::from_utf8(output.stderr).unwrap().contains("not our parent any more"));
}

#[test]
fn an_interrupted_command_may_finish_what_it_writes() {
    let script = "trap 'echo last words; exit 3' INT; echo ready; while :; do sleep 0.01; done";
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        let mut supervised = supervise(&["--timeout-ms", "60000"], script);
        supervised.await_line("ready");
        supervised.send(signal);
        supervised.await_line("last words");
        let (status, report) = supervised.end();
        assert_eq!(status.code(), Some(3));
        assert_eq!((&report["interrupted"], &report["timed_out"]), (&Value::from(true), &Value::from(false)));
    }
}

#[test]
fn a_command_hears_of_the_end_though_a_script_started_us_in_its_background() {
    let directory = tempfile::tempdir().unwrap();
    let mut script = Command::new("sh"); // what `&` does to SIGINT there
    script.args(["-c", r#"trap '' INT; exec "$0" supervise --timeout-ms 60000 --report "$1" -- sh -c "$2""#]);
    script.args([
        env!("CARGO_BIN_EXE_leadline-engine"),
        directory.path().join("report.json").to_str().unwrap(),
    ]);
    script.arg("trap 'exit 3' INT; echo ready; while :; do sleep 0.01; done");
    let mut supervised = Supervised::start(script, directory);
    supervised.await_line("ready");
    supervised.send(Signal::SIGTERM);
    let (status, report) = supervised.end();
    assert_eq!((status.code(), &report["interrupted"]), (Some(3), &Value::from(true)));
}

#[test]
fn an_interrupted_command_that_does_not_stop_is_killed_after_the_grace_time() {
    let script = "trap '' INT; echo ready; while :; do sleep 0.01; done";
    let mut supervised = supervise(&["--timeout-ms", "60000", "--grace-ms", "100"], script);
    supervised.await_line("ready");
    supervised.send(Signal::SIGINT);
    let (status, report) = supervised.end();
    assert_eq!(status.code(), Some(128 + 9));
    assert_eq!((&report["interrupted"], &report["timed_out"]), (&Value::from(true), &Value::from(false)));
}

#[test]
fn the_resources_of_grandchildren_are_in_the_report() {
    // A shell counts in a grandchild, so that none of the time is the command's own.
    let script = "sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'; true";
    let (_, report) = supervise(&["--timeout-ms", "60000"], script).end();
    let number = |field: &str| report[field].as_u64().unwrap();
    assert!(number("user_cpu_ns") + number("system_cpu_ns") > 20_000_000, "{report}");
    assert!(number("user_cpu_ns") + number("system_cpu_ns") <= 2 * number("wall_ns"), "{report}");
    assert!(number("max_resident_bytes") > 500_000, "{report}");
}

#[test]
fn a_report_without_a_place_is_refused_before_the_command_runs() {
    let output = engine()
        .args(["supervise", "--timeout-ms", "1000", "--report", "/nowhere/report.json", "--", "echo", "ran"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    assert!(String::from_utf8(output.stderr).unwrap().contains("/nowhere/report.json"));
}

const READY: &str = "leadline-engine: ready";

/// Under orders, with a script that first makes the file `started` in the report's directory.
fn supervise_with_orders(script: &str) -> Supervised {
    let directory = tempfile::tempdir().unwrap();
    let started = directory.path().join("started");
    let mut command = engine();
    command.args(["supervise", "--timeout-ms", "60000", "--orders", "--report"]);
    command.arg(directory.path().join("report.json"));
    command.args(["--", "sh", "-c", &format!(r#"echo > "$0"; {script}"#)]).arg(started);
    Supervised::start(command, directory)
}

impl Supervised {
    fn order(&mut self, word: &str) {
        writeln!(self.process.stdin.as_mut().unwrap(), "{word}").unwrap();
    }

    fn has_started(&self) -> bool {
        self.directory.path().join("started").exists()
    }
}

#[test]
fn a_command_under_orders_starts_only_when_it_is_told_to() {
    let mut supervised = supervise_with_orders("cat; exit 4"); // cat: the orders are not the command's input
    supervised.await_line(READY);
    supervised.order("wait");
    std::thread::sleep(Duration::from_millis(1000));
    assert!(!supervised.has_started());
    let told = Instant::now();
    supervised.order("go");
    let input = supervised.process.stdin.take();
    let (status, report) = supervised.end();
    drop(input);
    assert_eq!(status.code(), Some(4));
    let wall = Duration::from_nanos(report["wall_ns"].as_u64().unwrap());
    assert!(wall < told.elapsed(), "the wait counts: {report}");
    assert_eq!(report["interrupted"], false);
}

#[test]
fn the_end_of_the_orders_kills_everything() {
    let mut supervised = supervise_with_orders(&format!("{DAEMON}; exec sleep 60"));
    supervised.await_line(READY);
    supervised.order("go");
    supervised.await_line("ready");
    drop(supervised.process.stdin.take());
    let (status, report) = supervised.end();
    assert_eq!(status.code(), Some(128 + 9));
    assert_eq!(
        (&report["interrupted"], &report["killed_descendants"]),
        (&Value::from(true), &Value::from(2))
    );
}

#[test]
fn a_command_whose_orders_end_before_it_may_start_is_never_started() {
    let mut supervised = supervise_with_orders("exec sleep 60");
    supervised.await_line(READY);
    drop(supervised.process.stdin.take());
    supervised.await_silence();
    assert!(!supervised.has_started());
    let (_, report) = supervised.end();
    assert_eq!((&report["interrupted"], &report["wall_ns"]), (&Value::from(true), &Value::from(0)));
}

#[test]
fn an_interrupt_can_be_an_order() {
    let mut supervised = supervise_with_orders("trap 'exit 3' INT; echo ready; while :; do sleep 0.01; done");
    supervised.await_line(READY);
    supervised.order("go");
    supervised.await_line("ready");
    supervised.order("interrupt");
    let input = supervised.process.stdin.take();
    let (status, report) = supervised.end();
    drop(input);
    assert_eq!((status.code(), &report["interrupted"]), (Some(3), &Value::from(true)));
}

#[test]
fn a_command_under_orders_that_cannot_start_says_so_before_anybody_waits_for_it() {
    let output = engine()
        .args(["supervise", "--timeout-ms", "1000", "--orders", "--", "no-such-program"])
        .output()
        .unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(127), 0));
}

#[test]
fn answers_among_the_orders_are_the_commands_input() {
    let script = "read first; echo \"heard $first\"; read second; echo \"and $second\"";
    let mut supervised =
        supervise(&["--timeout-ms", "60000", "--orders", "--answers"], &format!("echo asks; {script}"));
    supervised.await_line(READY);
    supervised.order("go");
    supervised.await_line("asks");
    supervised.order("tell go 1 17");
    supervised.await_line("heard go 1 17");
    supervised.order("what is no order is no answer either");
    supervised.order("tell go 2 18");
    supervised.await_line("and go 2 18");
    let input = supervised.process.stdin.take();
    let (status, report) = supervised.end();
    drop(input);
    assert_eq!((status.code(), &report["interrupted"]), (Some(0), &Value::from(false)));
}
