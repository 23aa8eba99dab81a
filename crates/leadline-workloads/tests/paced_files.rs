//! The paced load on real files, in real time: totals must agree, however slow the machine is.

use std::fs;
use std::path::PathBuf;

use leadline_attempts::attempts;
use leadline_workloads::arrivals::Arrival;
use leadline_workloads::paced::access::{Direction, Pattern};
use leadline_workloads::paced::outcome::PacedOutcome;
use leadline_workloads::paced::Paced;
use leadline_workloads::Workload;

const BLOCK_SIZE_BYTES: u64 = 4096;

fn step(files: Vec<PathBuf>, rw: Pattern) -> Paced {
    Paced {
        files,
        rw,
        read_percentage: None,
        block_size_bytes: BLOCK_SIZE_BYTES,
        direct: false,
        threads: 3,
        arrival: Arrival::Poisson,
        rate_per_second: 2000.0,
        ramp_ns: 50_000_000,
        runtime_ns: 200_000_000,
        seed: 5,
        drain_limit_ns: 10_000_000_000,
    }
}

fn in_laid_out_files(perform: impl FnOnce(Vec<PathBuf>) -> PacedOutcome) -> PacedOutcome {
    let directory = tempfile::tempdir().unwrap();
    let files: Vec<_> = ["a", "b"].map(|name| directory.path().join(name)).into();
    files.iter().for_each(|path| fs::write(path, vec![1; 1 << 20]).unwrap());
    perform(files)
}

#[test]
fn every_scheduled_operation_is_served_once_and_accounted_for() {
    let outcome = in_laid_out_files(|files| step(files, Pattern::Randrw).perform().unwrap());
    assert!((300..500).contains(&outcome.scheduled), "about 400 expected, {} scheduled", outcome.scheduled);
    assert_eq!((outcome.served, outcome.unserved), (outcome.scheduled, 0));
    assert_eq!(outcome.jobs.len(), 2 * 3);
    assert_eq!(outcome.jobs.iter().map(|job| job.operations).sum::<u64>(), outcome.served);
    for job in &outcome.jobs {
        assert_eq!(job.size_bytes, job.operations * BLOCK_SIZE_BYTES);
        assert_eq!([job.latency.count, job.service.count, job.lag.count], [job.operations; 3]);
        assert!(job.errors.is_empty());
        assert!(job.runtime_ns >= 200_000_000);
    }
    assert_eq!(outcome.offered_rate_per_second, outcome.scheduled as f64 / 0.2);
}

#[test]
fn reads_never_report_writes() {
    let outcome = attempts(
        || in_laid_out_files(|files| step(files, Pattern::Read).perform().unwrap()),
        |outcome| outcome.series.iter().any(|interval| interval.read_bytes > 0),
    );
    assert_eq!(outcome.jobs.len(), 3);
    assert!(outcome.jobs.iter().all(|job| job.direction == Direction::Read));
    assert!(outcome.series.iter().all(|interval| interval.write_bytes == 0));
    assert!(outcome.series.iter().any(|interval| interval.read_bytes > 0));
}

#[test]
fn a_step_that_contradicts_itself_is_refused_in_words() {
    let refused = |change: fn(&mut Paced)| {
        let mut step = step(vec!["/nowhere".into()], Pattern::Randread);
        change(&mut step);
        step.perform().unwrap_err().0
    };
    assert!(refused(|step| step.read_percentage = Some(70)).contains("read_percentage is 70"));
    assert!(refused(|step| step.rate_per_second = 0.0).contains("rate_per_second is 0"));
    assert!(refused(|step| step.rate_per_second = f64::NAN).contains("rate_per_second"));
    assert!(refused(|step| step.threads = 0).contains("threads is 0"));
    assert!(refused(|step| step.ramp_ns = u64::MAX).contains("ramp_ns"));
    assert!(refused(|step| step.files.clear()).contains("files is empty"));
    assert!(refused(|step| {
        step.direct = true;
        step.block_size_bytes = 1000;
    })
    .contains("multiples of 512"));
    assert!(refused(|_| {}).contains("/nowhere"));
}
