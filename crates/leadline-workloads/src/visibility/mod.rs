//! One client of the visibility grid: does what it is told, one instruction at a time, and says what came of it and when.
//!
//! Where this stands in the flow: `leadline-engine visibility-client` serves a pipe with it, one process a client. Whoever holds
//! the pipes passes the baton: the next client hears its instruction only after this one's reply was read, so that the order of
//! what they do follows from cause and effect and from no clock. One line of JSON in, one line of JSON out.
//!
//! [`instruction`] says what may be asked, [`answer`] what comes back, [`poll`] how a probe is repeated until its answer changes,
//! [`client`] does the calls and keeps files open under names between instructions, [`names`], [`files`] and [`locks`] are the
//! calls themselves, [`content`] is what is written and how it is read back.

pub mod answer;
mod client;
mod content;
pub(crate) mod files;
pub mod instruction;
pub(crate) mod locks;
pub(crate) mod names;
mod poll;

use std::io::{BufRead, Write};
use std::path::Path;

use serde::Serialize;

use crate::Refusal;
use client::Client;
use instruction::Instruction;

/// What is said instead of a reply when an instruction cannot be carried out as it is written: the mistake of whoever sent it.
#[derive(Serialize)]
struct Mistake<'line> {
    mistake: String,
    line: &'line str,
}

/// Follows the instructions, one a line, in `directory`, until they end; files that are still open are closed then. Who waits for
/// what comes of one may go away meanwhile: `is_heard` is asked between two looks, or a client would look on for minutes.
pub fn serve(
    directory: &Path,
    instructions: &mut dyn BufRead,
    replies: &mut dyn Write,
    is_heard: &dyn Fn() -> bool,
) -> Result<(), Refusal> {
    let mut client = Client::new(directory);
    for line in instructions.lines() {
        let line = line.map_err(|error| Refusal(format!("the instructions cannot be read: {error}")))?;
        if line.trim().is_empty() {
            continue;
        }
        let reply = reply_to(&mut client, &line, is_heard);
        writeln!(replies, "{reply}")
            .and_then(|()| replies.flush())
            .map_err(|error| Refusal(format!("nobody reads the replies any more: {error}")))?;
    }
    Ok(())
}

fn reply_to(client: &mut Client, line: &str, is_heard: &dyn Fn() -> bool) -> String {
    let followed = serde_json::from_str::<Instruction>(line)
        .map_err(|error| format!("this is no instruction: {error}"))
        .and_then(|instruction| {
            poll::follow(client, &instruction, is_heard).map_err(|refusal| refusal.to_string())
        });
    match followed {
        Ok(reply) => serde_json::to_string(&reply),
        Err(mistake) => serde_json::to_string(&Mistake { mistake, line }),
    }
    .expect("replies are plain data")
}

#[cfg(test)]
mod tests {
    use serde_json::{json, Value};

    use leadline_attempts::attempts;

    use super::*;

    fn replies(directory: &Path, lines: &[Value]) -> Vec<Value> {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let mut written = Vec::new();
        serve(directory, &mut text.as_bytes(), &mut written, &|| true).unwrap();
        String::from_utf8(written).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn answers(directory: &Path, lines: &[Value]) -> Vec<Value> {
        let told = replies(directory, lines);
        told.iter().map(|reply| reply["sightings"][0]["answer"].clone()).collect()
    }

    fn once(calls: Value) -> Value {
        json!({"number": 1, "calls": calls})
    }

    fn open(flags: &[&str]) -> Value {
        json!({"call": "open", "name": "f", "handle": "h", "flags": flags})
    }

    #[test]
    fn what_was_written_is_read_and_a_missing_name_is_an_answer() {
        let place = tempfile::tempdir().unwrap();
        let written = json!([
            open(&["write", "create"]),
            {"call": "write", "handle": "h", "text": "new", "size_bytes": 8192},
            {"call": "close", "handle": "h"},
        ]);
        let read =
            json!([open(&["read"]), {"call": "read", "handle": "h"}, {"call": "close", "handle": "h"}]);
        let size = json!([{"call": "stat", "name": "f", "field": "size"}]);
        let missing = json!([{"call": "stat", "name": "g", "field": "kind"}]);
        let told = answers(place.path(), &[once(written), once(read), once(size), once(missing)]);
        let value = |text: &str| json!({ "value": text });
        assert_eq!(told, [value(""), value("new new"), value("8192"), json!({"failed": "ENOENT"})]);
    }

    #[test]
    fn a_file_stays_open_from_one_instruction_to_the_next_until_all_are_released() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("f"), "old").unwrap();
        let told = answers(
            place.path(),
            &[
                once(json!([open(&["read"])])),
                once(json!([{"call": "unlink", "name": "f"}])),
                once(json!([{"call": "read", "handle": "h"}])),
                once(json!([{"call": "release"}])),
            ],
        );
        assert_eq!(told[2], json!({"value": "old"}));
        let after = replies(place.path(), &[once(json!([{"call": "read", "handle": "h"}]))]);
        assert!(after[0]["mistake"].as_str().unwrap().contains("\"h\""), "{after:?}");
    }

    #[test]
    fn after_a_failed_call_the_rest_is_left_out_and_what_it_opened_is_closed() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("f"), "old").unwrap();
        let calls = json!([
            open(&["read"]),
            {"call": "make_directory", "name": "f"},
            {"call": "unlink", "name": "f"},
        ]);
        let told = replies(place.path(), &[once(calls), once(json!([{"call": "read", "handle": "h"}]))]);
        assert_eq!(told[0]["sightings"][0]["answer"], json!({"failed": "EEXIST"}));
        assert!(told[1]["mistake"].is_string());
        assert!(place.path().join("f").exists());
    }

    #[test]
    fn a_probe_is_repeated_until_its_answer_comes_and_every_change_is_told() {
        let told = attempts(change_during_a_poll, |told| told["sightings"][0]["probes"].as_u64() > Some(5));
        assert_eq!((&told["number"], &told["came"]), (&json!(7), &json!(true)));
        let seen = told["sightings"].as_array().unwrap();
        let words: Vec<_> = seen.iter().map(|sighting| sighting["answer"].clone()).collect();
        assert_eq!(words, [json!({"failed": "ENOENT"}), json!({"value": "file"})]);
        let after_ns = seen[1]["start_ns"].as_u64().unwrap() - told["received_ns"].as_u64().unwrap();
        assert!((30_000_000..9_000_000_000).contains(&after_ns), "{after_ns}");
        assert!(seen[0]["probes"].as_u64().unwrap() > 5);
    }

    /// What is told of a file that appears while it is looked for.
    fn change_during_a_poll() -> Value {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("f");
        let writer = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(400));
            std::fs::write(path, "").unwrap();
        });
        let calls = json!([{"call": "stat", "name": "f", "field": "kind"}]);
        let poll = json!({"number": 7, "calls": calls, "until": {"value": "file"},
            "every_ns": 1_000_000, "at_most_ns": 10_000_000_000_u64});
        let told = replies(place.path(), &[poll]).remove(0);
        writer.join().unwrap();
        told
    }

    #[test]
    fn what_never_comes_ends_the_poll_in_time() {
        let place = tempfile::tempdir().unwrap();
        let calls = json!([{"call": "access", "name": "f"}]);
        let poll = json!({"number": 1, "calls": calls, "until": {"value": ""},
            "every_ns": 1_000_000, "at_most_ns": 60_000_000});
        let told = &replies(place.path(), &[poll])[0];
        assert_eq!(told["came"], json!(false));
        assert_eq!(told["sightings"].as_array().unwrap().len(), 1);
    }

    #[test]
    fn who_gives_up_has_looked_after_the_time_was_over() {
        let place = tempfile::tempdir().unwrap();
        let calls = vec![json!({"call": "stat", "name": ".", "field": "kind"}); 5000];
        let poll = json!({"number": 1, "calls": calls, "until": {"value": "never"},
            "every_ns": 1_000, "at_most_ns": 20_000});
        let told = &replies(place.path(), &[poll])[0];
        let last = told["sightings"].as_array().unwrap().last().unwrap();
        let since = |moment: &Value| moment.as_u64().unwrap() - told["received_ns"].as_u64().unwrap();
        assert!(since(&last["last_start_ns"]) >= 20_000, "{told}");
        assert!(last["probes"].as_u64().unwrap() >= 1);
    }

    #[test]
    fn what_is_no_instruction_is_said_and_the_next_one_is_followed() {
        let place = tempfile::tempdir().unwrap();
        let told = replies(
            place.path(),
            &[json!({"number": 1, "calls": [{"call": "jump"}]}), once(json!([{"call": "release"}]))],
        );
        assert!(told[0]["mistake"].as_str().unwrap().contains("jump"));
        assert_eq!(told[1]["sightings"][0]["answer"], json!({"value": ""}));
    }
}
