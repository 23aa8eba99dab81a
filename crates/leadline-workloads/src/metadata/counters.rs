//! Requests that reached the filesystem, by its own counters: how many of them an operation was worth.
//!
//! JuiceFS and MooseFS keep such counters in a virtual file of the mount, kernel NFS in /proc. The file is read when
//! a phase has not begun yet and when it has ended, outside of what is timed. Two things would spoil the difference:
//!
//! * Reading the file is itself a handful of requests. They are found out by reading it over and over, and taken off.
//! * A FUSE filesystem hears of a close only after close(2) has returned (RELEASE has no answer that anybody waits
//!   for), so requests of a phase arrive when it is over. A reading therefore counts once the next one has grown by
//!   nothing but what a reading costs.
//!
//! What remains is a request or two for the file's own attributes where they expired during the phase.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use crate::metadata::Metadata;
use crate::Refusal;

/// Counters by name.
pub type Counts = BTreeMap<String, u64>;

/// Filesystems do things on their own account, such as telling their server that they are alive: after so many
/// readings the last is taken as it is.
const MOST_READINGS: u64 = 10;
const BETWEEN_READINGS: Duration = Duration::from_millis(5);

/// Where counters are found, and which of them.
#[derive(Clone, Debug)]
struct Source {
    file: PathBuf,
    section: Option<String>,
    prefixes: Vec<String>,
}

/// A file with counters, and what it costs to look at them.
#[derive(Clone, Debug)]
pub struct Counters {
    source: Source,
    cost: Counts,
}

/// The counters when they had come to rest.
pub struct Reading {
    counts: Counts,
    /// How many times the file was read for it.
    readings: u64,
}

impl Counters {
    /// The counters that a step names; None: it names none. Refuses a file that cannot be read, or without counters.
    pub fn of(step: &Metadata) -> Result<Option<Self>, Refusal> {
        let Some(file) = step.counters_file.clone() else { return Ok(None) };
        let source =
            Source { file, section: step.counters_section.clone(), prefixes: step.counters_prefixes.clone() };
        let told =
            |what: String| Refusal(format!("counters_file {} {what}: leave it out", source.file.display()));
        let cost = source.cost_of_reading().map_err(|error| told(format!("cannot be read ({error})")))?;
        let cost =
            cost.ok_or_else(|| told("holds no line with a name of that kind and a number".to_owned()))?;
        Ok(Some(Self { source, cost }))
    }

    /// Reads until nothing arrives any more. None: the file cannot be read any longer, so nothing is known.
    pub fn read(&self) -> Option<Reading> {
        let mut counts = self.source.read().ok()?;
        for readings in 2..=MOST_READINGS {
            let next = self.source.read().ok()?;
            let settled = growth(&counts, &next) == self.cost;
            counts = next;
            if settled || readings == MOST_READINGS {
                return Some(Reading { counts, readings });
            }
            sleep(BETWEEN_READINGS);
        }
        None
    }

    /// What was counted between two readings, without what the readings themselves caused.
    pub fn between(&self, before: &Reading, after: &Reading) -> Counts {
        let mut grown = growth(&before.counts, &after.counts);
        // The requests of a reading show in the next one: those of the last reading before the phase and of all but
        // the last one after it lie between the two, as many as there were readings after it.
        for (name, &each) in &self.cost {
            if let Some(count) = grown.get_mut(name) {
                *count = count.saturating_sub(each * after.readings);
            }
        }
        grown.retain(|_, count| *count > 0);
        grown
    }
}

impl Source {
    /// None: there are no counters. Two readings in a row that cost the same tell what one costs.
    fn cost_of_reading(&self) -> io::Result<Option<Counts>> {
        let mut counts = self.read()?;
        if counts.is_empty() {
            return Ok(None);
        }
        let mut costs: Vec<Counts> = Vec::new();
        for _ in 0..MOST_READINGS {
            let next = self.read()?;
            costs.push(growth(&counts, &next));
            counts = next;
            if costs.len() > 1 && costs[costs.len() - 1] == costs[costs.len() - 2] {
                break;
            }
        }
        Ok(costs.pop())
    }

    fn read(&self) -> io::Result<Counts> {
        Ok(parse(&fs::read_to_string(&self.file)?, self.section.as_deref(), &self.prefixes))
    }
}

/// Lines `name value` or `name: value ...` with a whole number. Of a file in sections, only the one whose first line
/// holds the given text; the next begins with the same word.
fn parse(text: &str, section: Option<&str>, prefixes: &[String]) -> Counts {
    let lines: Vec<&str> = match section {
        None => text.lines().collect(),
        Some(section) => {
            let mut lines = text.lines().skip_while(|line| !line.contains(section));
            let word = lines.next().and_then(|line| line.split_whitespace().next()).unwrap_or_default();
            lines.take_while(|line| line.split_whitespace().next() != Some(word)).collect()
        }
    };
    let wanted = |name: &str| prefixes.is_empty() || prefixes.iter().any(|prefix| name.starts_with(prefix));
    let mut counts = Counts::new();
    for line in lines {
        if let Some((name, count)) = counter(line).filter(|(name, _)| wanted(name)) {
            *counts.entry(name.to_owned()).or_default() += count;
        }
    }
    counts
}

fn counter(line: &str) -> Option<(&str, u64)> {
    let mut words = line.split_whitespace();
    let name = words.next()?;
    let value: f64 = words.next()?.parse().ok()?;
    // Beyond that a floating-point number no longer counts by ones; a fraction is no counter.
    let whole = value.fract() == 0.0 && (0.0..9_007_199_254_740_992.0).contains(&value);
    whole.then(|| (name.strip_suffix(':').unwrap_or(name), value as u64))
}

/// By how much each counter has grown, if it has. What shrinks is no counter, or its filesystem was mounted anew.
fn growth(before: &Counts, after: &Counts) -> Counts {
    let grown = after.iter().filter_map(|(name, &count)| {
        let more = count.saturating_sub(before.get(name).copied().unwrap_or(0));
        (more > 0).then(|| (name.clone(), more))
    });
    grown.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(of: &[(&str, u64)]) -> Counts {
        of.iter().map(|&(name, count)| (name.to_owned(), count)).collect()
    }

    fn counters_on(file: &std::path::Path, cost: Counts) -> Counters {
        let source = Source { file: file.to_owned(), section: None, prefixes: Vec::new() };
        Counters { source, cost }
    }

    #[test]
    fn lines_of_a_name_and_a_whole_number_are_counters_and_others_are_not() {
        let text =
            "ops_total_open 3\nops.read: 4\nseconds 0.5\nlinks: [0]\nmemory -7\nthree words 1\nbig 1e+06\n";
        assert_eq!(
            parse(text, None, &[]),
            counts(&[("ops_total_open", 3), ("ops.read", 4), ("big", 1_000_000)])
        );
        assert_eq!(parse(text, None, &["ops".to_owned()]).len(), 2);
    }

    #[test]
    fn of_a_file_in_sections_only_the_mount_s_own_counts() {
        let text = "device a:/x mounted on /mnt/x with fstype nfs4\n\t\tGETATTR: 5 5 0\n\
                    device b:/y mounted on /mnt/y with fstype nfs4\n\t\tGETATTR: 7 7 0\n\t\tREAD: 1 1 0\n\
                    device c:/z mounted on /mnt/z with fstype nfs4\n\t\tGETATTR: 9 9 0\n";
        let found = parse(text, Some(" mounted on /mnt/y with "), &[]);
        assert_eq!(found, counts(&[("GETATTR", 7), ("READ", 1)]));
        assert!(parse(text, Some(" mounted on /mnt "), &[]).is_empty());
    }

    #[test]
    fn what_readings_cause_themselves_is_taken_off() {
        let counters = counters_on(std::path::Path::new("/"), counts(&[("open", 1), ("read", 2)]));
        let reading = |open, read, stat, readings| Reading {
            counts: counts(&[("open", open), ("read", read), ("stat", stat)]),
            readings,
        };
        let between = counters.between(&reading(10, 20, 5, 2), &reading(113, 26, 5, 3));
        assert_eq!(between, counts(&[("open", 100)]));
    }

    #[test]
    fn requests_that_arrive_late_are_waited_for() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("stats");
        fs::write(&file, "release 0\n").unwrap();
        let counters = counters_on(&file, Counts::new());
        let before = counters.read().unwrap();
        let late = file.clone();
        let writer = std::thread::spawn(move || {
            // Renamed into place, as a half-written file would be no file of counters.
            for count in 1..=3 {
                let next = late.with_extension("next");
                fs::write(&next, format!("release {count}\n")).unwrap();
                fs::rename(&next, &late).unwrap();
                sleep(Duration::from_millis(1));
            }
        });
        writer.join().unwrap();
        assert_eq!(counters.between(&before, &counters.read().unwrap()), counts(&[("release", 3)]));
    }

    #[test]
    fn a_file_that_is_gone_tells_nothing() {
        let counters = counters_on(std::path::Path::new("/no/such/file"), Counts::new());
        assert!(counters.read().is_none());
    }
}
