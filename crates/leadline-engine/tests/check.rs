//! `leadline-engine check`: histories in, a report out; whole ones, damaged ones, and what is no history.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use leadline_attempts::attempts;
use serde_json::{json, Value};

fn engine(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_leadline-engine")).args(words).output().unwrap()
}

/// A short run of one client and its witness; their histories.
fn recorded(place: &Path, run: u32) -> [PathBuf; 2] {
    let objects = place.join(format!("objects-{run}"));
    fs::create_dir(&objects).unwrap();
    [false, true].map(|witness| {
        let history = place.join(format!("{run}-{witness}.history"));
        let step = json!({
            "workload": "histories", "directory": objects, "history": history, "client": u16::from(witness), "clients": 1,
            "witness": witness, "workers": 2, "runtime_ns": 100_000_000, "rest_ns": 100_000, "run": run,
        });
        let file = place.join("step.json");
        fs::write(&file, step.to_string()).unwrap();
        let done = engine(&["run", file.to_str().unwrap()]);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        history
    })
}

fn checked(words: &[&str]) -> Value {
    let done = engine(&[&["check"], words].concat());
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    serde_json::from_slice(&done.stdout).unwrap()
}

fn refused(words: &[&str]) -> String {
    let done = engine(&[&["check"], words].concat());
    assert_eq!(done.status.code(), Some(2));
    String::from_utf8(done.stderr).unwrap()
}

fn verdict(report: &Value, kind: &str, guarantee: &str) -> Value {
    let lines = report["lines"].as_array().unwrap();
    lines.iter().find(|line| line["kind"] == kind && line["guarantee"] == guarantee).unwrap()["verdict"]
        .clone()
}

#[test]
fn the_histories_of_all_clients_are_judged_together() {
    let measure = || {
        let place = tempfile::tempdir().unwrap();
        let [client, witness] = recorded(place.path(), 1);
        let (client, witness) = (client.to_str().unwrap(), witness.to_str().unwrap());
        let report = checked(&[client, witness]);
        assert_eq!((&report["whole"], &report["damages"]), (&json!(true), &json!([])));
        let without_witness = checked(&[client]);
        assert_eq!(verdict(&without_witness, "append_log", "no_lost_write"), "not_exercised");
        assert_eq!(checked(&[client, "--incomplete"])["whole"], json!(false));
        verdict(&report, "append_log", "no_lost_write")
    };
    let judged = attempts(measure, |judged| judged != "not_exercised"); // nothing was done in a stall of 100 ms
    assert_eq!(judged, "held");
}

#[test]
fn a_history_that_is_cut_off_or_damaged_is_judged_as_far_as_it_goes_and_said_to_be_so() {
    let place = tempfile::tempdir().unwrap();
    let [client, _] = recorded(place.path(), 1);
    let whole = fs::read(&client).unwrap();
    let header = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let mut flipped = whole.clone();
    flipped[header + 500] ^= 1;
    for (bytes, said) in [
        (whole[..whole.len() - 7].to_vec(), "is cut off"),
        (whole[..header + 3].to_vec(), "is cut off"),
        (flipped, "is corrupted"),
    ] {
        let damaged = place.path().join("damaged.history");
        fs::write(&damaged, bytes).unwrap();
        let report = checked(&[damaged.to_str().unwrap()]);
        assert_eq!(report["whole"], json!(false));
        assert!(report["damages"][0].as_str().unwrap().contains(said), "{report}");
        let lines = report["lines"].as_array().unwrap();
        assert!(lines.iter().all(|line| line["verdict"] != "violated"), "{report}");
    }
}

#[test]
fn what_is_no_history_of_this_run_is_refused_in_one_sentence() {
    let place = tempfile::tempdir().unwrap();
    let [first, _] = recorded(place.path(), 1);
    let [second, _] = recorded(place.path(), 2);
    let (first, second) = (first.to_str().unwrap(), second.to_str().unwrap());
    assert!(refused(&[first, second]).contains("of run 1 and"));
    let foreign = place.path().join("step.json");
    assert!(refused(&[foreign.to_str().unwrap()]).contains("this is not a leadline history"));
    let missing = place.path().join("missing");
    assert!(refused(&[missing.to_str().unwrap()]).contains("cannot read the history"));
    assert!(refused(&[place.path().to_str().unwrap()]).contains("cannot be read"));
    // The same file twice: every value would be written twice, and nobody could say by whom.
    assert!(refused(&[first, first]).contains("was given value"));
}
