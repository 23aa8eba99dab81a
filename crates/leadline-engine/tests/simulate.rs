//! A simulation through the door that Python uses.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::{json, Value};

fn run(step: &Value) -> Output {
    let mut process = Command::new(env!("CARGO_BIN_EXE_leadline-engine"))
        .args(["run", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    process.stdin.take().unwrap().write_all(step.to_string().as_bytes()).unwrap();
    process.wait_with_output().unwrap()
}

/// Four disks of 1,000 requests a second, kept busy.
fn step(replicas: u32) -> Value {
    json!({
        "workload": "simulate",
        "clients": {"count": 1, "requests_in_flight": 64, "nics": 1, "nic_bytes_per_second": 1e12},
        "network": {},
        "storage": {
            "nodes": 4, "disks_per_node": 1, "nics": 1, "nic_bytes_per_second": 1e12, "disk_rates": [[1, 1000]],
        },
        "layout": {"chunk_bytes": 4096, "protection": {"replicas": replicas}, "writes": "chain"},
        "load": {
            "direction": "read", "random": true, "request_bytes": 4096,
            "operations": 20_000, "warm_up_operations": 1000, "seed": 1,
        },
    })
}

#[test]
fn a_step_with_its_defaults_is_simulated() {
    let output = run(&step(3));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&result["workload"], &result["operations"]), (&json!("simulate"), &json!(20_000)));
    let rate = result["operations_per_second"].as_f64().unwrap();
    assert!((3600.0..4001.0).contains(&rate), "{rate}");
}

#[test]
fn an_impossible_cluster_is_refused_in_one_sentence() {
    let output = run(&step(5));
    let sentence = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{sentence}");
    assert!(sentence.contains("5 replicas on 4 nodes"), "{sentence}");
    assert_eq!(sentence.lines().count(), 1, "{sentence}");
}
