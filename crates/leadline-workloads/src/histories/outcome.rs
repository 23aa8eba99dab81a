//! What a client tells when it is done; the records themselves are in its file.

use std::collections::BTreeMap;

use leadline_history::{Operation, Outcome};
use nix::errno::Errno;
use schemars::JsonSchema;
use serde::Serialize;

use crate::histories::flavour::Flavour;
use crate::histories::objects::Objects;
use crate::histories::recorder::Work;
use crate::histories::Histories;

/// What was done, in numbers.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HistoriesOutcome {
    pub client: u16,
    pub operations: u64,
    /// Of all clients together.
    pub objects: u64,
    /// Operations after whose error nobody knows whether they were carried out.
    pub doubts: u64,
    /// Refusals and doubts, by sort of object, action and error.
    pub failures: Vec<FailedOperations>,
    /// What the filesystem does not have, as this client met it.
    pub not_offered: Vec<Flavour>,
    /// Workers that stopped because their buffer was full.
    pub full_workers: u32,
    /// Workers that stopped because they met nothing but doubts: the mount is gone.
    pub given_up_workers: u32,
}

/// How often an operation failed in one way.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FailedOperations {
    pub flavour: Flavour,
    /// As the checker names it: `write`, `append` ...
    pub action: String,
    /// Name of the error; `short` for a write that moved fewer bytes than asked.
    pub error: String,
    /// Whether it is unknown whether it was carried out.
    pub doubt: bool,
    pub count: u64,
}

impl HistoriesOutcome {
    pub fn of(step: &Histories, objects: &Objects, work: &Work) -> Self {
        let operations = &work.history.operations;
        let doubtful = |each: &&Operation| each.outcome == Outcome::Doubt;
        Self {
            client: step.client,
            operations: operations.len() as u64,
            objects: objects.all().len() as u64,
            doubts: operations.iter().filter(doubtful).count() as u64,
            failures: failures(operations, objects),
            not_offered: Flavour::ALL.into_iter().filter(|flavour| objects.is_withdrawn(*flavour)).collect(),
            full_workers: work.full,
            given_up_workers: work.gave_up,
        }
    }
}

fn failures(operations: &[Operation], objects: &Objects) -> Vec<FailedOperations> {
    let mut counts: BTreeMap<(usize, u8, i16, bool), (u64, &Operation)> = BTreeMap::new();
    for each in operations.iter().filter(|each| each.outcome != Outcome::Ok) {
        let flavour = objects.all()[each.object as usize].flavour as usize;
        let key = (flavour, each.action as u8, each.errno, each.outcome == Outcome::Doubt);
        counts.entry(key).or_insert((0, each)).0 += 1;
    }
    let told = |((_, _, errno, doubt), (count, each)): ((usize, u8, i16, bool), (u64, &Operation))| {
        FailedOperations {
            flavour: objects.all()[each.object as usize].flavour,
            action: format!("{:?}", each.action).to_lowercase(),
            error: if errno == 0 {
                "short".to_owned()
            } else {
                format!("{:?}", Errno::from_raw(errno.into()))
            },
            doubt,
            count,
        }
    };
    counts.into_iter().map(told).collect()
}
