//! The histories of all clients of a run, put together and judged, and told as JSON.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use leadline_checker::{check, Limits, Report};
use leadline_history::{read_history, History, Reading};
use serde::Serialize;

use crate::arguments::Check;

/// The report, and what was wrong with the files it is about.
#[derive(Serialize)]
struct Checked {
    #[serde(flatten)]
    report: Report,
    /// One sentence for each file of which a part is missing.
    damages: Vec<String>,
}

/// Judges the files and returns the report; refuses files that are no histories of one run in a sentence.
pub fn run(choice: &Check) -> Result<String, String> {
    let mut all = History::default();
    let mut damages = Vec::new();
    let mut first_run = None;
    for path in &choice.histories {
        let reading = read(path)?;
        let run = *first_run.get_or_insert(reading.header.run);
        if reading.header.run != run {
            let other = reading.header.run;
            let (first, path) = (choice.histories[0].display(), path.display());
            return Err(format!(
                "{first} is of run {run} and {path} of run {other}: give the histories of one run"
            ));
        }
        damages.extend(reading.damage.map(|damage| format!("{}: {damage}", path.display())));
        all.join(&reading.history);
    }
    all.whole &= !choice.incomplete;
    let limits = Limits { staleness_ns: choice.staleness_ns, ..Limits::default() };
    let report = check(&all, &limits).map_err(|flaw| format!("these histories cannot be judged: {flaw}"))?;
    Ok(serde_json::to_string(&Checked { report, damages }).expect("reports are plain data") + "\n")
}

fn read(path: &Path) -> Result<Reading, String> {
    let name = path.display();
    let file = File::open(path).map_err(|error| format!("cannot read the history {name}: {error}"))?;
    read_history(&mut BufReader::new(file)).map_err(|why| format!("{name}: {why}"))
}
