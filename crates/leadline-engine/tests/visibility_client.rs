//! A client of the visibility grid behind its pipe: one line in, one line out, and an end when the lines end.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{json, Value};

fn client(words: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leadline-engine"));
    command.arg("visibility-client").args(words);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn path(place: &Path) -> &str {
    place.to_str().unwrap()
}

#[test]
fn each_reply_comes_before_the_next_instruction_is_sent_and_the_client_ends_with_them() {
    let place = tempfile::tempdir().unwrap();
    let mut client = client(&[path(place.path())]);
    let mut instructions = client.stdin.take().unwrap();
    let mut replies = BufReader::new(client.stdout.take().unwrap()).lines();
    let mut ask = |instruction: Value| -> Value {
        writeln!(instructions, "{instruction}").unwrap();
        serde_json::from_str(&replies.next().unwrap().unwrap()).unwrap()
    };
    let made = ask(json!({"number": 1, "calls": [{"call": "make_directory", "name": "d"}]}));
    let seen = ask(json!({"number": 2, "calls": [{"call": "stat", "name": "d", "field": "kind"}]}));
    assert_eq!(made["sightings"][0]["answer"], json!({"value": ""}));
    assert_eq!(seen["sightings"][0]["answer"], json!({"value": "directory"}));
    assert!(seen["received_ns"].as_u64() > made["sightings"][0]["end_ns"].as_u64());
    drop(instructions);
    assert!(client.wait().unwrap().success());
}

#[test]
fn instructions_may_stand_in_a_file() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("instructions");
    let line = json!({"number": 5, "calls": [{"call": "access", "name": "nothing"}]});
    std::fs::write(&file, format!("{line}\n\n")).unwrap();
    let done = client(&[path(place.path()), path(&file)]).wait_with_output().unwrap();
    let told: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!((&told["number"], &told["sightings"][0]["answer"]), (&json!(5), &json!({"failed": "ENOENT"})));
}

#[test]
fn a_client_whose_replies_nobody_reads_any_more_stops_looking() {
    let place = tempfile::tempdir().unwrap();
    let mut client = client(&[path(place.path())]);
    let mut instructions = client.stdin.take().unwrap();
    let calls = json!([{"call": "access", "name": "nothing"}]);
    let never = json!({"number": 1, "calls": calls, "until": {"value": ""}, "every_ns": 1_000_000, "at_most_ns": 120_000_000_000_u64});
    writeln!(instructions, "{never}").unwrap();
    let begun = Instant::now();
    drop(client.stdout.take());
    assert_eq!(client.wait().unwrap().code(), Some(2));
    assert!(begun.elapsed() < Duration::from_secs(100), "it looked on until its patience was over");
}

#[test]
fn a_relative_directory_and_missing_instructions_are_refused_in_one_sentence() {
    for (words, said) in
        [(["here", "-"], "relative path"), (["/tmp", "/nowhere/at/all"], "cannot read the instructions")]
    {
        let done = client(&words).wait_with_output().unwrap();
        let sentence = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(2));
        assert!(sentence.contains(said) && sentence.trim_end().lines().count() == 1, "{sentence}");
    }
}
