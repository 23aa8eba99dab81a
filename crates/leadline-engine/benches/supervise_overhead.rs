//! What supervision adds to a command, from its start to the exit of the supervisor, report included. Both ways
//! take turns, so that a busy machine slows them alike. Run with `cargo bench -p leadline-engine`.

use std::process::Command;
use std::time::Instant;

const REPEATS: usize = 300;

fn median_ms(mut durations_ms: Vec<f64>) -> f64 {
    durations_ms.sort_by(f64::total_cmp);
    durations_ms[durations_ms.len() / 2]
}

fn time_ms(command: &mut Command) -> f64 {
    let begun = Instant::now();
    assert!(command.status().expect("the command starts").success());
    begun.elapsed().as_secs_f64() * 1000.0
}

fn main() {
    let report = std::env::temp_dir().join(format!("leadline-overhead-{}.json", std::process::id()));
    let mut alone = Command::new("true");
    let mut supervised = Command::new(env!("CARGO_BIN_EXE_leadline-engine"));
    supervised.args(["supervise", "--timeout-ms", "10000", "--report"]).arg(&report).args(["--", "true"]);
    let both: Vec<(f64, f64)> =
        (0..REPEATS).map(|_| (time_ms(&mut alone), time_ms(&mut supervised))).collect();
    std::fs::remove_file(&report).expect("the supervisor has written its report");
    let (alone_ms, supervised_ms) = both.into_iter().unzip();
    let (alone_ms, supervised_ms) = (median_ms(alone_ms), median_ms(supervised_ms));
    println!("median of {REPEATS}: true {alone_ms:.2} ms, supervised {supervised_ms:.2} ms");
    println!("overhead {:.2} ms", supervised_ms - alone_ms);
}
