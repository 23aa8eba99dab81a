//! The metadata load on real directories, with real processes: what is there afterwards, and what is told of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use leadline_attempts::attempts;
use leadline_workloads::metadata::outcome::{MetadataOutcome, PhaseOutcome};
use leadline_workloads::metadata::phases::{Action, Kind};
use leadline_workloads::metadata::Metadata;
use leadline_workloads::Workload;
use serde_json::{json, Value};

/// A step of three ranks on a tree of three directories, with changes.
fn step(directory: &Path, changes: Value) -> Metadata {
    let mut fields = json!({
        "directory": directory, "ranks": 3, "depth": 1, "branching_factor": 2, "items_per_directory": 5,
    });
    fields.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    serde_json::from_value(fields).unwrap()
}

fn perform(directory: &Path, changes: Value) -> MetadataOutcome {
    step(directory, changes).perform().unwrap_or_else(|refusal| panic!("{refusal}"))
}

fn refused(directory: &Path, changes: Value) -> String {
    step(directory, changes).perform().unwrap_err().0
}

fn empty_directory() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// Everything below, as paths from there, in order.
fn below(directory: &Path) -> Vec<String> {
    fn visit(path: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(path).unwrap().map(Result::unwrap) {
            found.push(entry.path());
            if entry.file_type().unwrap().is_dir() {
                visit(&entry.path(), found);
            }
        }
    }
    let mut found = Vec::new();
    visit(directory, &mut found);
    let mut told: Vec<_> =
        found.iter().map(|path| path.strip_prefix(directory).unwrap().to_str().unwrap().to_owned()).collect();
    told.sort();
    told
}

fn files_below(directory: &Path) -> usize {
    below(directory).iter().filter(|path| path.contains("/file.mdtest.")).count()
}

fn phase<'outcome>(outcome: &'outcome MetadataOutcome, words: &str) -> &'outcome PhaseOutcome {
    let named =
        |phase: &&PhaseOutcome| format!("{:?} {:?}", phase.kind, phase.action).to_lowercase() == words;
    outcome.phases.iter().find(named).expect(words)
}

/// What must hold in every phase, whatever happened.
fn assert_adds_up(outcome: &MetadataOutcome) {
    for phase in &outcome.phases {
        assert_eq!(phase.operations + phase.failed, phase.planned, "{:?} {:?}", phase.kind, phase.action);
        assert_eq!(phase.operations, phase.series.iter().map(|each| each.operations).sum::<u64>());
        assert_eq!(phase.operations, phase.ranks.iter().map(|rank| rank.operations).sum::<u64>());
        assert_eq!(phase.failed, phase.errors.iter().map(|error| error.count).sum::<u64>());
        assert_eq!(phase.operations, phase.last_done.operations);
        for rank in &phase.ranks {
            assert_eq!(rank.operations, rank.latency.bins.iter().map(|bin| bin.1).sum::<u64>());
            assert!(rank.started_ns <= rank.ended_ns && rank.ended_ns <= phase.last_done.at_ns);
        }
        if let Some(first_done) = &phase.first_done {
            assert!(first_done.at_ns <= phase.last_done.at_ns && first_done.operations <= phase.operations);
        }
    }
}

#[test]
fn every_phase_succeeds_and_nothing_is_left() {
    let ways = [
        json!({}),
        json!({"unique_trees": true, "rank_shift": 1}),
        json!({"naming": "directory_relative", "leaves_only": true}),
        json!({"driver": "io_uring", "iodepth": 8, "rank_shift": 2}),
        json!({"driver": "io_uring", "iodepth": 3, "naming": "directory_relative", "unique_trees": true}),
        json!({"ranks": 1, "write_size_bytes": 3901, "read_size_bytes": 3901}),
        json!({"depth": 0, "items_per_rank": 15, "iterations": 2}),
    ];
    for changes in ways {
        let directory = empty_directory();
        let outcome = perform(directory.path(), changes.clone());
        assert_adds_up(&outcome);
        assert!(outcome.phases.iter().all(|phase| phase.failed == 0), "{changes}");
        assert_eq!(outcome.phases.len() % 10, 0, "{changes}");
        assert!(outcome.left_behind.is_empty());
        assert!(below(directory.path()).is_empty(), "{changes}");
    }
}

#[test]
fn trees_of_every_rank_are_counted() {
    let directory = empty_directory();
    let outcome = perform(directory.path(), json!({"unique_trees": true}));
    assert_eq!(phase(&outcome, "tree create").operations, 9);
    assert_eq!(phase(&outcome, "tree remove").operations, 9);
    assert_eq!(phase(&outcome, "file create").operations, 45);
    let shared = perform(directory.path(), json!({}));
    assert_eq!(phase(&shared, "tree create").operations, 3);
    assert_eq!(phase(&shared, "tree create").ranks[1].latency.count, 0);
}

#[test]
fn what_is_created_lies_where_mdtest_would_look_for_it() {
    let directory = empty_directory();
    let changes = json!({
        "ranks": 2, "depth": 1, "branching_factor": 1, "items_per_directory": 1, "directories": false,
        "actions": ["create"], "unique_trees": true, "rank_shift": 1,
    });
    perform(directory.path(), changes);
    // Items of a rank are created in the tree of its neighbour.
    let expected = [
        "test-dir.0-0",
        "test-dir.0-0/mdtest_tree.0.0",
        "test-dir.0-0/mdtest_tree.0.0/file.mdtest.1.0",
        "test-dir.0-0/mdtest_tree.0.0/mdtest_tree.0.1",
        "test-dir.0-0/mdtest_tree.0.0/mdtest_tree.0.1/file.mdtest.1.1",
        "test-dir.0-0/mdtest_tree.1.0",
        "test-dir.0-0/mdtest_tree.1.0/file.mdtest.0.0",
        "test-dir.0-0/mdtest_tree.1.0/mdtest_tree.1.1",
        "test-dir.0-0/mdtest_tree.1.0/mdtest_tree.1.1/file.mdtest.0.1",
    ];
    assert_eq!(below(directory.path()), expected);
}

#[test]
fn phases_can_be_run_one_step_at_a_time() {
    let directory = empty_directory();
    let act = |actions: Value| perform(directory.path(), json!({"actions": actions, "rank_shift": 1}));
    assert_eq!(phase(&act(json!(["create"])), "file create").operations, 45);
    assert_eq!(files_below(directory.path()), 45);
    let looked_at = act(json!(["stat", "read"]));
    assert_eq!(phase(&looked_at, "file stat").operations, 45);
    assert_eq!(phase(&looked_at, "file read").operations, 45);
    assert_eq!(phase(&act(json!(["rename"])), "directory rename").operations, 45);
    assert_eq!(phase(&act(json!(["remove"])), "tree remove").operations, 3);
    assert!(below(directory.path()).is_empty());
}

#[test]
fn items_on_top_of_items_lie_in_trees_of_their_own() {
    let directory = empty_directory();
    let changes = json!({"depth": 0, "items_per_rank": 15, "actions": ["create"], "directories": false});
    let outcome = perform(directory.path(), changes);
    assert_eq!(phase(&outcome, "tree create").operations, 3);
    let roots: Vec<_> = below(directory.path()).into_iter().filter(|path| !path.contains('/')).collect();
    assert_eq!(roots, ["test-dir.0-0", "test-dir.0-1", "test-dir.0-2"]);
}

#[test]
fn missing_files_are_counted_under_their_errno_and_in_no_rate() {
    let directory = empty_directory();
    perform(directory.path(), json!({"actions": ["create"], "directories": false}));
    for rank in 0..3 {
        let name = format!("test-dir.0-0/mdtest_tree.0/file.mdtest.{rank}.2");
        fs::remove_file(directory.path().join(name)).unwrap();
    }
    let changes = json!({"actions": ["stat", "read", "remove"], "directories": false});
    let outcome = perform(directory.path(), changes);
    assert_adds_up(&outcome);
    for words in ["file stat", "file read", "file remove"] {
        let phase = phase(&outcome, words);
        assert_eq!((phase.planned, phase.operations, phase.failed), (45, 42, 3), "{words}");
        assert_eq!((phase.errors[0].name.as_str(), phase.errors[0].count), ("ENOENT", 3));
        assert_eq!(phase.ranks[0].errors[0].count, 1);
        let rate = phase.last_done.rate_per_second.unwrap();
        assert!((rate / (42e9 / phase.last_done.at_ns as f64) - 1.0).abs() < 1e-9);
    }
    assert!(below(directory.path()).is_empty());
}

#[test]
fn a_phase_in_which_everything_failed_has_no_rate() {
    let directory = empty_directory();
    perform(directory.path(), json!({"actions": ["create"], "files": false}));
    let outcome = perform(directory.path(), json!({"actions": ["stat"], "directories": false}));
    let phase = phase(&outcome, "file stat");
    assert_eq!((phase.operations, phase.failed), (0, 45));
    assert_eq!(phase.last_done.rate_per_second, None);
}

#[test]
fn leavings_of_an_earlier_run_are_refused_or_removed_as_asked() {
    let directory = empty_directory();
    perform(directory.path(), json!({"actions": ["create"]}));
    let sentence = refused(directory.path(), json!({}));
    assert!(sentence.contains("test-dir.0-0 was left behind"), "{sentence}");
    perform(directory.path(), json!({"leftovers": "remove"}));
    assert!(below(directory.path()).is_empty());
}

#[test]
fn leavings_with_something_foreign_in_them_are_never_removed() {
    let directory = empty_directory();
    perform(directory.path(), json!({"actions": ["create"]}));
    fs::write(directory.path().join("test-dir.0-0/mdtest_tree.0/mdtest_tree.2/thesis.txt"), "").unwrap();
    let before = below(directory.path());
    let sentence = refused(directory.path(), json!({"leftovers": "remove"}));
    assert!(sentence.contains("thesis.txt"), "{sentence}");
    assert_eq!(below(directory.path()), before);
}

#[test]
fn a_foreign_file_survives_the_removal_and_is_told() {
    let directory = empty_directory();
    perform(directory.path(), json!({"actions": ["create"]}));
    fs::write(directory.path().join("test-dir.0-0/mdtest_tree.0/thesis.txt"), "").unwrap();
    let outcome = perform(directory.path(), json!({"actions": ["remove"]}));
    assert_eq!(phase(&outcome, "tree remove").errors[0].name, "ENOTEMPTY");
    assert!(outcome.left_behind[0].ends_with("test-dir.0-0"));
    assert!(directory.path().join("test-dir.0-0/mdtest_tree.0/thesis.txt").exists());
}

#[test]
fn work_that_nothing_was_created_for_is_refused() {
    let directory = empty_directory();
    let sentence = refused(directory.path(), json!({"actions": ["stat"]}));
    assert!(sentence.contains("run the action create first"), "{sentence}");
}

#[test]
fn a_place_that_cannot_hold_the_step_is_refused_before_anything_is_made() {
    let directory = empty_directory();
    let much = json!({"items_per_directory": 1u64 << 40, "write_size_bytes": 4096});
    assert!(refused(directory.path(), much).contains("left, and the step"));
    assert!(below(directory.path()).is_empty());
    assert!(refused(&directory.path().join("missing"), json!({})).contains("is not a directory"));
    assert!(refused(Path::new("/proc/self"), json!({})).contains("cannot make /proc/self/test-dir.0-0"));
}

#[test]
fn ranks_catch_up_with_the_fastest_when_the_time_is_up() {
    for driver in [json!({}), json!({"driver": "io_uring", "iodepth": 4})] {
        let directory = empty_directory();
        let mut changes = json!({
            "depth": 1, "branching_factor": 1, "items_per_directory": 100_000, "directories": false,
            "stonewall_ns": 100_000_000,
        });
        changes.as_object_mut().unwrap().extend(driver.as_object().unwrap().clone());
        let outcome = perform(directory.path(), changes);
        assert_adds_up(&outcome);
        let created = phase(&outcome, "file create");
        let each = created.ranks[0].operations;
        assert!(each > 0 && each < 200_000, "{each} files");
        assert!(created.ranks.iter().all(|rank| rank.operations == each));
        let stonewall = created.stonewall.as_ref().unwrap();
        assert!(stonewall.operations <= created.operations && stonewall.at_ns >= 100_000_000);
        for words in ["file stat", "file read", "file remove"] {
            assert_eq!((phase(&outcome, words).operations, phase(&outcome, words).failed), (3 * each, 0));
        }
        assert!(below(directory.path()).is_empty());
    }
}

#[test]
fn a_rest_is_taken_before_directories_and_before_files() {
    let directory = empty_directory();
    let outcome = perform(directory.path(), json!({"pause_ns": 50_000_000, "ranks": 1}));
    let start_ns = |words| phase(&outcome, words).start.start_monotonic_ns;
    assert!(start_ns("directory create") - start_ns("tree create") >= 50_000_000);
    assert!(start_ns("file create") - start_ns("directory remove") >= 50_000_000);
}

/// Text in a file, never half of it.
fn put(file: &Path, text: &str) {
    let draft = file.with_extension("draft");
    fs::write(&draft, text).unwrap();
    fs::rename(draft, file).unwrap();
}

/// A run during whose creation of files the filesystem counts five creations more.
fn counted_run() -> MetadataOutcome {
    let (directory, place) = (empty_directory(), empty_directory());
    let counters = place.path().join("stats");
    put(&counters, "ops.create 40\nops.lookup 7\nother 1\n");
    let changes = json!({
        "depth": 0, "branching_factor": 1, "items_per_directory": 100_000, "directories": false,
        "stonewall_ns": 200_000_000, "counters_file": &counters, "counters_prefixes": ["ops."],
    });
    std::thread::scope(|scope| {
        let first_file = directory.path().join("test-dir.0-0/mdtest_tree.0/file.mdtest.0.0");
        scope.spawn(move || {
            while !first_file.exists() {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            put(&counters, "ops.create 45\nops.lookup 7\nother 9\n");
        });
        perform(directory.path(), changes)
    })
}

#[test]
fn what_a_filesystem_counts_while_a_phase_runs_is_told_with_that_phase() {
    let counted = |phase: &PhaseOutcome| {
        let creates = (phase.kind, phase.action) == (Kind::File, Action::Create);
        let expected: BTreeMap<String, u64> =
            if creates { [("ops.create".to_owned(), 5)].into() } else { BTreeMap::new() };
        phase.requests == Some(expected)
    };
    // A thread that sleeps through all creations counts in a later phase.
    let outcome = attempts(counted_run, |outcome| outcome.phases.iter().all(counted));
    for phase in &outcome.phases {
        assert!(counted(phase), "{:?} {:?}: {:?}", phase.kind, phase.action, phase.requests);
    }
}

#[test]
fn without_a_file_of_counters_nothing_is_said_of_requests() {
    let directory = empty_directory();
    let outcome = perform(directory.path(), json!({"ranks": 1}));
    assert!(outcome.phases.iter().all(|phase| phase.requests.is_none()));
}

#[test]
fn a_file_without_counters_is_refused_before_anything_is_made() {
    let directory = empty_directory();
    let missing = refused(directory.path(), json!({"counters_file": "/no/such/stats"}));
    assert!(missing.contains("counters_file /no/such/stats cannot be read"), "{missing}");
    let changes = json!({"counters_file": "/proc/self/status", "counters_prefixes": ["ops."]});
    let empty = refused(directory.path(), changes);
    assert!(empty.contains("holds no line with a name of that kind and a number"), "{empty}");
    assert!(below(directory.path()).is_empty());
}

#[test]
fn phases_say_how_their_items_were_named_and_reached() {
    let directory = empty_directory();
    let changes = json!({"driver": "io_uring", "iodepth": 4, "naming": "directory_relative"});
    let outcome = serde_json::to_value(perform(directory.path(), changes)).unwrap();
    let label = |index: usize| {
        let phase = &outcome["phases"][index];
        [&phase["naming"], &phase["driver"], &phase["iodepth"]].map(Value::to_string).join(" ")
    };
    assert_eq!(label(0), r#""full_path" "calls" 1"#);
    assert_eq!(label(1), r#""directory_relative" "io_uring" 4"#);
}
