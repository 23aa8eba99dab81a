//! The object load through the engine: hosts that wait for each other before every kind of request.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{json, Value};

const KINDS: u64 = 5;

/// Starts the engine on a directory as an object store, with other hosts beside it.
fn start(place: &Path, name: &str) -> Child {
    let step = json!({
        "workload": "object_load", "store": {"scheme": "fs", "options": {"root": place}},
        "folder": format!("leadline-objbench-{name}/"), "object_size_bytes": 1000, "objects": 5, "concurrency": 2,
        "clients": 2, "external_barriers": true,
    });
    let path = place.join(format!("{name}.json"));
    fs::write(&path, step.to_string()).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_leadline-engine"));
    command.arg("run").arg(path).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

#[test]
fn hosts_meet_before_every_kind_of_request() {
    let place = tempfile::tempdir().unwrap();
    let mut engines = [start(place.path(), "one"), start(place.path(), "other")];
    let mut ends: Vec<_> = engines
        .iter_mut()
        .map(|engine| (engine.stdin.take().unwrap(), BufReader::new(engine.stdout.take().unwrap())))
        .collect();
    for number in 1..=KINDS {
        for (_, output) in &mut ends {
            let mut line = String::new();
            output.read_line(&mut line).unwrap();
            assert_eq!(line, format!("barrier {number} 0\n"));
        }
        // Only now may any of them go on.
        ends.iter_mut().for_each(|(input, _)| writeln!(input, "go {number} 0").unwrap());
    }
    for (_, output) in &mut ends {
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let result: Value = serde_json::from_str(&line).unwrap();
        let phases = result["phases"].as_array().unwrap();
        assert_eq!(phases.len() as u64, KINDS);
        assert!(phases.iter().all(|phase| phase["clients"].as_array().unwrap().len() == 2));
    }
    for engine in engines {
        assert!(engine.wait_with_output().unwrap().status.success());
    }
}

#[test]
fn an_engine_whose_other_hosts_go_away_sends_no_request_and_says_so() {
    let place = tempfile::tempdir().unwrap();
    let mut engine = start(place.path(), "alone");
    drop(engine.stdin.take());
    let output = engine.wait_with_output().unwrap();
    let sentence = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(sentence.contains("another host has given up") && sentence.lines().count() == 1, "{sentence}");
    assert!(!place.path().join("leadline-objbench-alone").exists());
}
