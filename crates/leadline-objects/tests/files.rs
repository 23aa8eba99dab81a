//! Loads and checks on a directory: every request is accounted for, with success or without.

use std::fs;
use std::path::Path;

use leadline_attempts::attempts;
use leadline_objects::checks::{CheckResult, ObjectChecks};
use leadline_objects::folder::{FolderAction, ObjectFolder};
use leadline_objects::load::ObjectLoad;
use leadline_objects::outcome::{ObjectLoadOutcome, ObjectPhase, Operation};
use leadline_objects::store::Store;
use leadline_workloads::Workload;

const FOLDER: &str = "leadline-objbench-test/";

fn store(root: &Path) -> Store {
    let options = [("root".to_owned(), root.display().to_string())].into();
    Store { scheme: "fs".to_owned(), options, secrets_variable: None }
}

fn load(root: &Path) -> ObjectLoad {
    ObjectLoad {
        store: store(root),
        folder: FOLDER.to_owned(),
        object_size_bytes: 3000,
        objects: 20,
        concurrency: 3,
        clients: 2,
        part_size_bytes: None,
        operations: Operation::ALL.to_vec(),
        runtime_ns: None,
        listings: Some(4),
        retries: 0,
        timeout_ns: 100_000_000_000,
        seed: 1,
        external_barriers: false,
    }
}

fn phase(outcome: &ObjectLoadOutcome, operation: Operation) -> &ObjectPhase {
    outcome.phases.iter().find(|phase| phase.operation == operation).expect("it was asked for")
}

fn operations(phase: &ObjectPhase) -> u64 {
    phase.clients.iter().map(|share| share.operations).sum()
}

fn failed(phase: &ObjectPhase) -> u64 {
    phase.clients.iter().map(|share| share.failed).sum()
}

#[test]
fn every_object_is_put_got_looked_at_listed_and_deleted_once() {
    let root = tempfile::tempdir().unwrap();
    let outcome = load(root.path()).perform().unwrap();
    let told: Vec<_> = outcome.phases.iter().map(|phase| (phase.operation, operations(phase))).collect();
    let wanted = [20, 20, 20, 4, 20];
    assert_eq!(told, Operation::ALL.into_iter().zip(wanted).collect::<Vec<_>>());
    assert!(outcome.phases.iter().all(|phase| failed(phase) == 0 && phase.clients.len() == 2));
    assert_eq!(phase(&outcome, Operation::List).listed_objects, 80);
    let moved =
        |operation| phase(&outcome, operation).clients.iter().map(|share| share.size_bytes).sum::<u64>();
    assert_eq!((moved(Operation::Put), moved(Operation::Get), moved(Operation::Head)), (60_000, 60_000, 0));
    assert_eq!(fs::read_dir(root.path().join(FOLDER).join("load")).unwrap().count(), 0);
}

#[test]
fn latencies_lie_within_the_phase_and_processor_time_is_told() {
    let root = tempfile::tempdir().unwrap();
    let outcome = load(root.path()).perform().unwrap();
    for phase in &outcome.phases {
        for share in &phase.clients {
            assert_eq!(share.latency.count, share.operations);
            assert!(
                share.latency.max_ns.unwrap_or(0) <= phase.runtime_ns && share.ended_ns <= phase.runtime_ns
            );
        }
    }
    assert!(outcome.phases.iter().map(|phase| phase.user_ns + phase.system_ns).sum::<u64>() > 0);
}

#[test]
fn requests_that_fail_are_counted_by_kind_and_are_in_no_latency() {
    let root = tempfile::tempdir().unwrap();
    let mut step = load(root.path());
    step.operations = vec![Operation::Get]; // nothing was put
    let outcome = step.perform().unwrap();
    let gets = phase(&outcome, Operation::Get);
    assert_eq!((operations(gets), failed(gets), gets.planned), (0, 20, Some(20)));
    let errors: Vec<_> = gets.clients.iter().flat_map(|share| &share.errors).collect();
    assert!(errors.iter().all(|error| error.name == "NotFound" && !error.first.is_empty()), "{errors:?}");
}

#[test]
fn what_comes_back_changed_is_a_failure() {
    let root = tempfile::tempdir().unwrap();
    let mut step = load(root.path());
    step.operations = vec![Operation::Put];
    step.perform().unwrap();
    fs::write(root.path().join(FOLDER).join("load/0000000003"), vec![7; 3000]).unwrap();
    fs::write(root.path().join(FOLDER).join("load/0000000004"), "short").unwrap();
    step.operations = vec![Operation::Get];
    let outcome = step.perform().unwrap();
    let gets = phase(&outcome, Operation::Get);
    assert_eq!((operations(gets), failed(gets)), (18, 2));
}

#[test]
fn a_window_of_fixed_time_goes_over_the_objects_again_and_has_a_course() {
    let root = tempfile::tempdir().unwrap();
    let mut step = load(root.path());
    (step.objects, step.runtime_ns) = (3, Some(1_000_000_000));
    let windows = [Operation::Put, Operation::Get, Operation::Head];
    let measure = || {
        let outcome = step.perform().unwrap();
        for operation in windows {
            let phase = phase(&outcome, operation);
            let errors: Vec<_> = phase.clients.iter().flat_map(|share| &share.errors).collect();
            assert!(errors.is_empty(), "{operation:?}: {errors:?}");
            assert!((1_000_000_000..30_000_000_000).contains(&phase.runtime_ns), "{operation:?}");
            let seen: u64 = phase.series.iter().map(|interval| interval.operations).sum();
            assert!(seen <= operations(phase) && seen + 3 >= operations(phase), "{operation:?}");
        }
        outcome
    };
    // A put ends on the disk, and a busy disk takes a second for one.
    let comes_round = |outcome: &ObjectLoadOutcome, each| operations(phase(outcome, each)) > 3;
    let outcome = attempts(measure, |outcome| windows.iter().all(|&each| comes_round(outcome, each)));
    for operation in windows {
        assert!(comes_round(&outcome, operation), "{operation:?}");
    }
    assert_eq!(operations(phase(&outcome, Operation::Delete)), 3);
}

#[test]
fn objects_that_were_never_put_are_not_asked_for_when_time_ran_out() {
    let root = tempfile::tempdir().unwrap();
    let mut step = load(root.path());
    (step.objects, step.runtime_ns) = (1 << 30, Some(50_000_000));
    let outcome = step.perform().unwrap();
    assert!(outcome.phases.iter().all(|phase| failed(phase) == 0));
    let deleted = phase(&outcome, Operation::Delete);
    assert_eq!(Some(operations(deleted)), deleted.planned);
    assert_eq!(fs::read_dir(root.path().join(FOLDER).join("load")).unwrap().count(), 0);
}

#[test]
fn a_load_outside_of_leadlines_own_folder_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let mut step = load(root.path());
    step.folder = "data/".to_owned();
    assert!(step.perform().unwrap_err().0.contains("not one of leadline's own"));
}

#[test]
fn nonsense_is_refused_in_words() {
    let root = tempfile::tempdir().unwrap();
    let refused = |change: fn(&mut ObjectLoad)| {
        let mut step = load(root.path());
        change(&mut step);
        step.perform().unwrap_err().0
    };
    assert!(refused(|step| step.clients = 4).contains("no more than concurrency"));
    assert!(refused(|step| step.objects = 0).contains("objects is 0"));
    assert!(refused(|step| step.object_size_bytes = 0).contains("object_size_bytes is 0"));
    assert!(refused(|step| step.runtime_ns = Some(0)).contains("give a time"));
    let few = refused(|step| (step.objects, step.runtime_ns) = (2, Some(1)));
    assert_eq!(
        few,
        "objects is 2, and 3 requests are in flight: two at once would put one object; give at least 3"
    );
}

#[test]
fn a_directory_passes_the_checks_that_a_file_system_can_pass() {
    let root = tempfile::tempdir().unwrap();
    let step = ObjectChecks {
        store: store(root.path()),
        folder: FOLDER.to_owned(),
        big_object_bytes: 1 << 20,
        timeout_ns: 100_000_000_000,
    };
    let checks = step.perform().unwrap().checks;
    assert_eq!(checks.len(), 16);
    let root_only = ["change owner/group"]; // chown(2) to somebody else
    for check in checks.iter().filter(|check| !root_only.contains(&check.name.as_str())) {
        assert_eq!(check.result, CheckResult::Passed, "{}: {:?}", check.name, check.reason);
    }
    let remove = ObjectFolder {
        store: store(root.path()),
        action: FolderAction::Remove,
        folder: Some(FOLDER.to_owned()),
        marker: None,
    };
    remove.perform().unwrap();
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
}
