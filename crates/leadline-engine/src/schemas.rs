//! The seam in writing: JSON schemas of what this program reads and writes, derived from the types themselves.
//! They are committed, and both languages are tested against them.

use std::fs;
use std::path::Path;

use schemars::{schema_for, Schema};

use crate::arguments;
use crate::step::{EngineResult, EngineStep};
use crate::supervise::report::Supervision;

pub const NAMES: [&str; 3] = ["engine_step", "engine_result", "supervision"];

fn schema(name: &str) -> Schema {
    match name {
        "engine_step" => schema_for!(EngineStep),
        // Results are written, never read: absent and null are told apart as serialisation does.
        "engine_result" => for_output::<EngineResult>(),
        "supervision" => for_output::<Supervision>(),
        _ => unreachable!("clap admits no other name"),
    }
}

fn for_output<Output: schemars::JsonSchema>() -> Schema {
    schemars::generate::SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<Output>()
}

fn document(name: &str) -> String {
    serde_json::to_string_pretty(&schema(name)).expect("a schema is plain data") + "\n"
}

/// Returns the schema that was asked for, or writes all of them and returns nothing.
pub fn deliver(choice: &arguments::Schema) -> Result<String, String> {
    if let Some(directory) = &choice.all {
        NAMES.iter().try_for_each(|name| write(directory, name))?;
    }
    Ok(choice.name.as_deref().map(document).unwrap_or_default())
}

fn write(directory: &Path, name: &str) -> Result<(), String> {
    let path = directory.join(format!("{name}.schema.json"));
    fs::write(&path, document(name)).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_schemas_are_the_generated_ones() {
        let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas");
        for name in NAMES {
            let text = fs::read_to_string(committed.join(format!("{name}.schema.json"))).unwrap_or_default();
            assert!(
                text == document(name),
                "schemas/{name}.schema.json has drifted: run `leadline-engine schema --all schemas`"
            );
        }
    }
}
