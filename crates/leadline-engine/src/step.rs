//! One step: read, checked, performed, and told as JSON.

use std::io::Read;
use std::path::Path;
use std::{fs, io};

use leadline_objects::checks::{ObjectChecks, ObjectChecksOutcome};
use leadline_objects::folder::{ObjectFolder, ObjectFolderOutcome};
use leadline_objects::load::ObjectLoad;
use leadline_objects::outcome::ObjectLoadOutcome;
use leadline_simulator::{Simulate, SimulateOutcome};
use leadline_workloads::histories::{outcome::HistoriesOutcome, Histories};
use leadline_workloads::memory_copy::{MemoryCopy, MemoryCopyOutcome};
use leadline_workloads::metadata::{outcome::MetadataOutcome, Metadata};
use leadline_workloads::network::{outcome::NetworkOutcome, Network};
use leadline_workloads::paced::{outcome::PacedOutcome, Paced};
use leadline_workloads::{Refusal, Workload};
use schemars::{schema_for, JsonSchema};
use serde::de::DeserializeOwned;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::suggestion;

/// The registry: a workload is one line here, and everything else about it follows.
macro_rules! workloads {
    ($($word:literal: $variant:ident -> $outcome:ident,)+) => {
        /// What to do: the workload's name beside its own fields.
        #[derive(JsonSchema)]
        #[schemars(tag = "workload")]
        pub enum EngineStep { $(#[schemars(rename = $word)] $variant($variant),)+ }

        /// What was measured: the workload's name beside its own fields.
        #[derive(Serialize, JsonSchema)]
        #[serde(tag = "workload")]
        pub enum EngineResult { $(#[serde(rename = $word)] $variant($outcome),)+ }

        const WORKLOADS: &[&str] = &[$($word),+];

        impl EngineStep {
            fn from_fields(workload: &str, fields: Map<String, Value>) -> Result<Self, String> {
                match workload {
                    $($word => read_fields(workload, fields).map(Self::$variant),)+
                    _ => Err(suggestion::unknown("workload", workload, WORKLOADS)),
                }
            }

            fn perform(&self) -> Result<EngineResult, Refusal> {
                match self {
                    $(Self::$variant(workload) => workload.perform().map(EngineResult::$variant),)+
                }
            }
        }
    };
}

workloads! {
    "histories": Histories -> HistoriesOutcome,
    "memory_copy": MemoryCopy -> MemoryCopyOutcome,
    "metadata": Metadata -> MetadataOutcome,
    "network": Network -> NetworkOutcome,
    "object_checks": ObjectChecks -> ObjectChecksOutcome,
    "object_folder": ObjectFolder -> ObjectFolderOutcome,
    "object_load": ObjectLoad -> ObjectLoadOutcome,
    "paced": Paced -> PacedOutcome,
    "simulate": Simulate -> SimulateOutcome,
}

/// Performs the step that a file (or, for `-`, standard input) holds, and returns its result as JSON.
pub fn run(path: &Path) -> Result<String, String> {
    let step = parse(&read(path)?).map_err(|sentence| format!("{}: {sentence}", name(path)))?;
    let result = step.perform().map_err(|refusal| format!("{}: {refusal}", name(path)))?;
    Ok(serde_json::to_string(&result).expect("results are plain data") + "\n")
}

fn read(path: &Path) -> Result<String, String> {
    let read = if path == Path::new("-") {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        fs::read_to_string(path)
    };
    read.map_err(|error| format!("cannot read the step from {}: {error}", name(path)))
}

fn name(path: &Path) -> String {
    if path == Path::new("-") {
        "standard input".to_owned()
    } else {
        path.display().to_string()
    }
}

fn parse(text: &str) -> Result<EngineStep, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| format!("this is not JSON: {error}"))?;
    let Value::Object(mut fields) = value else {
        return Err("a step is a JSON object with a field \"workload\"".to_owned());
    };
    match fields.remove("workload") {
        Some(Value::String(workload)) => EngineStep::from_fields(&workload, fields),
        _ => Err(format!("the field \"workload\" must name one of {}", WORKLOADS.join(", "))),
    }
}

/// Reads one workload's fields. An unknown one is reported before a missing one, because it is usually the
/// missing one, misspelt.
fn read_fields<Fields>(workload: &str, fields: Map<String, Value>) -> Result<Fields, String>
where
    Fields: DeserializeOwned + JsonSchema,
{
    let schema = schema_for!(Fields);
    let properties = schema.get("properties").and_then(Value::as_object).expect("a workload has fields");
    let known: Vec<&str> = properties.keys().map(String::as_str).collect();
    if let Some(unknown) = fields.keys().find(|&field| !known.contains(&field.as_str())) {
        return Err(suggestion::unknown(&format!("field of workload {workload}"), unknown, &known));
    }
    serde_path_to_error::deserialize(Value::Object(fields)).map_err(|error| match error.path().to_string() {
        whole if whole == "." => format!("workload {workload}: {}", error.inner()),
        field => format!("field {field:?} of workload {workload}: {}", error.inner()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        parse(text).err().expect("a refusal")
    }

    #[test]
    fn a_step_is_read_with_its_defaults() {
        let text = r#"{"workload": "memory_copy", "threads": 1, "block_size_bytes": 4096, "runtime_ns": 1}"#;
        let Ok(EngineStep::MemoryCopy(step)) = parse(text) else { panic!("not read as memory_copy") };
        assert_eq!((step.threads, step.working_set_bytes), (1, None));
    }

    #[test]
    fn an_unknown_field_is_named_with_the_nearest_known_one() {
        let sentence = refused(r#"{"workload": "memory_copy", "thread": 1}"#);
        assert_eq!(sentence, r#"unknown field of workload memory_copy "thread": did you mean "threads"?"#);
    }

    #[test]
    fn an_unknown_workload_is_named_with_the_nearest_known_one() {
        assert_eq!(refused(r#"{"workload": "pace"}"#), r#"unknown workload "pace": did you mean "paced"?"#);
    }

    #[test]
    fn a_missing_field_and_a_wrong_type_are_named() {
        assert!(refused(r#"{"workload": "memory_copy", "threads": 1}"#).contains("`block_size_bytes`"));
        let sentence = refused(r#"{"workload": "memory_copy", "threads": "two"}"#);
        assert!(sentence.contains(r#"field "threads""#) && sentence.contains(r#""two""#), "{sentence}");
    }

    #[test]
    fn what_is_not_a_step_is_refused_in_words() {
        assert!(refused("{").contains("not JSON"));
        assert!(refused("[]").contains("JSON object"));
        assert!(refused("{}").contains("must name one of histories, memory_copy"));
    }
}
