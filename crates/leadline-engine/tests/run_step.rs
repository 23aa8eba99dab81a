//! Steps through the door that Python uses: JSON in, JSON out, exit code 2 and one sentence for mistakes.

use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use nix::sys::signal::{kill, Signal};
use nix::unistd::Pid;
use serde_json::{json, Value};

fn engine(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leadline-engine"));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(step: &str) -> Output {
    let mut process = engine(&["run", "-"]).spawn().unwrap();
    process.stdin.take().unwrap().write_all(step.as_bytes()).unwrap();
    process.wait_with_output().unwrap()
}

fn result_of(step: &Value) -> Value {
    let output = run(&step.to_string());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn paced(file: &str) -> Value {
    json!({
        "workload": "paced", "files": [file], "rw": "randrw", "read_percentage": 70,
        "block_size_bytes": 4096, "direct": false, "threads": 2, "arrival": "constant",
        "rate_per_second": 1000, "ramp_ns": 0, "runtime_ns": 100_000_000, "seed": 1,
        "drain_limit_ns": 10_000_000_000u64,
    })
}

fn assert_refused(output: &Output, fragment: &str) {
    let sentence = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{sentence}");
    assert!(sentence.contains(fragment), "{sentence}");
    assert_eq!(sentence.lines().count(), 1, "{sentence}");
    assert!(output.stdout.is_empty());
}

#[test]
fn a_paced_step_returns_totals_that_agree() {
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(1 << 20).unwrap();
    let result = result_of(&paced(file.path().to_str().unwrap()));
    assert_eq!((&result["workload"], &result["scheduled"]), (&json!("paced"), &json!(100)));
    let jobs = result["jobs"].as_array().unwrap();
    let operations = jobs.iter().map(|job| job["operations"].as_u64().unwrap()).sum::<u64>();
    let binned = jobs.iter().flat_map(|job| job["latency"]["bins"].as_array().unwrap());
    assert_eq!(operations, 100);
    assert_eq!(binned.map(|bin| bin[1].as_u64().unwrap()).sum::<u64>(), 100);
}

#[test]
fn a_memory_copy_reports_a_bandwidth_that_its_totals_yield() {
    let result = result_of(&json!({
        "workload": "memory_copy", "threads": 2, "block_size_bytes": 65536,
        "runtime_ns": 50_000_000, "working_set_bytes": 16 << 20,
    }));
    let number = |field: &str| result[field].as_f64().unwrap();
    let bandwidth = number("copied_bytes") * 1e9 / number("runtime_ns");
    assert!((number("bandwidth_bytes_per_second") / bandwidth - 1.0).abs() < 1e-9);
    assert_eq!(result["series"].as_array().unwrap().len(), 40);
}

#[test]
fn operations_that_fail_are_data() {
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(1 << 20).unwrap();
    let mut step = paced(file.path().to_str().unwrap());
    step["rw"] = json!("write");
    step["read_percentage"] = json!(0);
    // The shell limits file sizes to 1 block of 512 bytes; without SIGXFSZ, a write beyond it fails with EFBIG.
    let script = r#"trap '' XFSZ; ulimit -f 1; exec "$0" run -"#;
    let mut process = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_leadline-engine")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    process.stdin.take().unwrap().write_all(step.to_string().as_bytes()).unwrap();
    let output = process.wait_with_output().unwrap();
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&result["served"], &result["unserved"]), (&json!(100), &json!(0)));
    let errors = result["jobs"].as_array().unwrap().iter().flat_map(|job| job["errors"].as_array().unwrap());
    let names: Vec<_> = errors.clone().map(|error| error["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"EFBIG"), "{names:?}");
    assert_eq!(errors.map(|error| error["count"].as_u64().unwrap()).sum::<u64>(), 100);
}

#[test]
fn mistakes_are_refused_in_one_sentence() {
    assert_refused(&run("{"), "standard input: this is not JSON");
    assert_refused(&run(r#"{"workload": "paced", "treads": 1}"#), r#"did you mean "threads"?"#);
    assert_refused(&run(&paced("/no/such/file").to_string()), "/no/such/file");
    assert_refused(&run(&paced("/dev/null").to_string()), "not a regular file");
    assert_refused(&engine(&["run", "/no/such/step.json"]).output().unwrap(), "/no/such/step.json");
}

#[test]
fn the_version_is_told() {
    let output = engine(&["--version"]).output().unwrap();
    let expected = format!("leadline-engine {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
}

#[test]
fn both_sides_of_a_connection_outlive_being_stopped_and_continued() {
    let port = std::net::TcpListener::bind("127.0.0.7:0").unwrap().local_addr().unwrap().port();
    for test in ["latency", "one_way", "both_ways"] {
        let side = |role: &str| {
            let step = json!({"workload": "network", "role": role, "address": "127.0.0.7", "port": port, "test": test,
                "message_size_bytes": 65536, "ramp_ns": 0, "runtime_ns": 500_000_000});
            let mut process = engine(&["run", "-"]).spawn().unwrap();
            process.stdin.take().unwrap().write_all(step.to_string().as_bytes()).unwrap();
            process
        };
        let both = [side("server"), side("client")];
        std::thread::sleep(Duration::from_millis(100));
        for signal in [Signal::SIGSTOP, Signal::SIGCONT].repeat(4) {
            // One that has ended already is not reaped yet: its number is still its own.
            both.iter().for_each(|process| kill(Pid::from_raw(process.id() as i32), signal).unwrap());
            std::thread::sleep(Duration::from_millis(20));
        }
        for process in both {
            let output = process.wait_with_output().unwrap();
            assert!(output.status.success(), "{test}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
}
