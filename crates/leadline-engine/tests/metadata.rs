//! The metadata load through the engine: processes that die, hosts that wait for each other.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{json, Value};

const PATIENCE: Duration = Duration::from_secs(60);

/// Starts the engine with a step that lies beside the directory it works in.
fn start(place: &Path, name: &str, changes: Value) -> Child {
    let mut step = json!({
        "workload": "metadata", "directory": place.join("data"), "ranks": 2, "items_per_directory": 20,
    });
    step.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    fs::create_dir_all(place.join("data")).unwrap();
    let path = place.join(name);
    fs::write(&path, step.to_string()).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_leadline-engine"));
    command.arg("run").arg(path).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn result_of(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn await_that(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "still not so: {what}");
        sleep(Duration::from_millis(5));
    }
}

/// The ranks of an engine that is at work.
fn ranks_of(engine: &Child) -> Vec<u32> {
    let path = format!("/proc/{0}/task/{0}/children", engine.id());
    let told = fs::read_to_string(path).unwrap_or_default();
    told.split_whitespace().map(|process| process.parse().unwrap()).collect()
}

fn is_alive(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    !status.is_empty() && !status.contains(") Z ")
}

fn kill(process: u32) {
    assert!(Command::new("kill").args(["-9", &process.to_string()]).status().unwrap().success());
}

/// An engine with more to do than the test will wait for, in the middle of it.
fn start_endless(place: &Path) -> (Child, Vec<u32>) {
    let engine = start(place, "step.json", json!({"items_per_directory": 3_000_000, "directories": false}));
    let file = place.join("data/test-dir.0-0/mdtest_tree.0/file.mdtest.1.0");
    await_that("rank 1 creates files", || file.exists());
    let ranks = ranks_of(&engine);
    assert_eq!(ranks.len(), 2);
    (engine, ranks)
}

#[test]
fn a_metadata_step_returns_totals_that_agree() {
    let place = tempfile::tempdir().unwrap();
    let result = result_of(&start(place.path(), "step.json", json!({})).wait_with_output().unwrap());
    assert_eq!(result["workload"], "metadata");
    assert_eq!(result["phases"].as_array().unwrap().len(), 10);
    for phase in result["phases"].as_array().unwrap().iter().filter(|phase| phase["kind"] != "tree") {
        assert_eq!((&phase["operations"], &phase["failed"]), (&json!(40), &json!(0)));
        let at_ns = phase["last_done"]["at_ns"].as_f64().unwrap();
        let rate = phase["last_done"]["rate_per_second"].as_f64().unwrap();
        assert!((rate * at_ns / 40e9 - 1.0).abs() < 1e-9);
    }
}

#[test]
fn ranks_die_with_the_engine_and_what_they_left_can_be_cleared() {
    let place = tempfile::tempdir().unwrap();
    let (mut engine, ranks) = start_endless(place.path());
    kill(engine.id());
    engine.wait().unwrap();
    await_that("all ranks are gone", || !ranks.iter().any(|&rank| is_alive(rank)));
    let again = start(place.path(), "step.json", json!({})).wait_with_output().unwrap();
    let sentence = String::from_utf8_lossy(&again.stderr);
    assert_eq!(again.status.code(), Some(2));
    assert!(sentence.contains("was left behind by an earlier run"), "{sentence}");
    result_of(&start(place.path(), "step.json", json!({"leftovers": "remove"})).wait_with_output().unwrap());
    assert_eq!(fs::read_dir(place.path().join("data")).unwrap().count(), 0);
}

#[test]
fn a_killed_rank_ends_the_step_with_one_sentence_that_names_the_phase() {
    let place = tempfile::tempdir().unwrap();
    let (engine, ranks) = start_endless(place.path());
    kill(ranks[1]);
    let output = engine.wait_with_output().unwrap();
    let sentence = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{sentence}");
    assert!(sentence.contains("rank 1 was killed by SIGKILL in phase \"file create\""), "{sentence}");
    assert!(!is_alive(ranks[0]), "the other rank waits for ever");
    assert!(output.stdout.is_empty());
}

/// Plays the part of what drives several hosts: answers each barrier once both have reached it.
fn drive(engines: &mut [Child]) -> Vec<Value> {
    let mut ends: Vec<_> = engines
        .iter_mut()
        .map(|engine| (engine.stdin.take().unwrap(), BufReader::new(engine.stdout.take().unwrap())))
        .collect();
    loop {
        let lines: Vec<String> = ends
            .iter_mut()
            .map(|(_, output)| {
                let mut line = String::new();
                output.read_line(&mut line).unwrap();
                line
            })
            .collect();
        if !lines[0].starts_with("barrier ") {
            return lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        }
        let words: Vec<Vec<&str>> = lines.iter().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(words[0][1], words[1][1], "the hosts stand at different barriers");
        let greatest = words.iter().map(|words| words[2].parse::<u64>().unwrap()).max().unwrap();
        ends.iter_mut().for_each(|(input, _)| writeln!(input, "go {} {greatest}", words[0][1]).unwrap());
    }
}

#[test]
fn engines_of_two_hosts_work_as_one_step() {
    let place = tempfile::tempdir().unwrap();
    let engine = |rank_offset: u32, name: &str| {
        let changes = json!({
            "rank_offset": rank_offset, "ranks_total": 4, "external_barriers": true, "rank_shift": 2,
            "unique_trees": true, "stonewall_ns": 100_000_000, "items_per_directory": 50_000, "directories": false,
        });
        start(place.path(), name, changes)
    };
    let mut engines = [engine(0, "one.json"), engine(2, "other.json")];
    let results = drive(&mut engines);
    for engine in engines {
        assert!(engine.wait_with_output().unwrap().status.success());
    }
    let created = |result: &Value| {
        let phases = result["phases"].as_array().unwrap();
        let phase =
            phases.iter().find(|phase| phase["kind"] == "file" && phase["action"] == "create").unwrap();
        phase["ranks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|rank| rank["operations"].as_u64().unwrap())
            .collect::<Vec<_>>()
    };
    // The number that all go on to is agreed on by all four.
    let all: Vec<u64> = results.iter().flat_map(created).collect();
    assert_eq!(all.len(), 4);
    assert!(all[0] > 0 && all.iter().all(|&each| each == all[0]), "{all:?}");
    for result in &results {
        assert!(result["phases"].as_array().unwrap().iter().all(|phase| phase["failed"] == 0));
    }
    assert_eq!(results[1]["phases"][1]["ranks"][1]["rank"], 3);
    assert_eq!(fs::read_dir(place.path().join("data")).unwrap().count(), 0);
}

#[test]
fn an_engine_whose_other_hosts_go_away_ends_with_a_sentence() {
    let place = tempfile::tempdir().unwrap();
    let changes = json!({"ranks_total": 4, "external_barriers": true});
    let output = start(place.path(), "step.json", changes).wait_with_output().unwrap();
    let sentence = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(sentence.contains("another host has given up"), "{sentence}");
}

#[test]
fn mistakes_in_a_metadata_step_are_refused_in_one_sentence() {
    let place = tempfile::tempdir().unwrap();
    let refused = |changes: Value, fragment: &str| {
        let output = start(place.path(), "step.json", changes).wait_with_output().unwrap();
        let sentence = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{sentence}");
        assert!(sentence.contains(fragment) && sentence.lines().count() == 1, "{sentence}");
    };
    refused(json!({"item_per_directory": 3}), "did you mean \"items_per_directory\"");
    refused(json!({"driver": "uring"}), "field \"driver\"");
    refused(json!({"directory": "/no/such/place"}), "/no/such/place is not a directory");
    refused(json!({"actions": ["stat"]}), "run the action create first");
}
