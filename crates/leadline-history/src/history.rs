//! The operations of a run, from however many clients, and the lists that some of them read.

use crate::grouping::Objects;
use crate::operation::Operation;

/// Operations in no particular order; their times say what came before what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    /// The operations.
    pub operations: Vec<Operation>,
    /// The lists of all operations, one behind the other; `values_from` and `values_count` say whose is which.
    pub values: Vec<u64>,
    /// Whether nothing is missing. What is missing may excuse what looks wrong.
    pub whole: bool,
}

impl Default for History {
    fn default() -> Self {
        Self { operations: Vec::new(), values: Vec::new(), whole: true }
    }
}

impl History {
    /// Adds an operation that read no list.
    pub fn push(&mut self, operation: Operation) {
        self.operations.push(operation);
    }

    /// Adds an operation with the list that it read.
    pub fn push_list(&mut self, operation: Operation, list: &[u64]) {
        let values_from = begin_of(list.len() as u32, self.values.len() as u64);
        self.values.extend_from_slice(list);
        self.operations.push(Operation { values_from, values_count: list.len() as u32, ..operation });
    }

    /// The list that an operation of this history read.
    pub fn list_of(&self, operation: &Operation) -> &[u64] {
        let from = operation.values_from as usize;
        &self.values[from..from + operation.values_count as usize]
    }

    /// Adds everything that another history holds, as one client's file is put beside another's.
    pub fn join(&mut self, other: &Self) {
        let shift = self.values.len() as u64;
        self.values.extend_from_slice(&other.values);
        let moved = |each: &Operation| Operation {
            values_from: begin_of(each.values_count, each.values_from + shift),
            ..*each
        };
        self.operations.extend(other.operations.iter().map(moved));
        self.whole &= other.whole;
    }

    /// The operations by object.
    pub fn objects(&self) -> Objects {
        Objects::of(&self.operations)
    }
}

/// Where a list begins; that of an operation without one is 0, so that equal operations are equal.
pub(crate) fn begin_of(values_count: u32, place: u64) -> u64 {
    if values_count == 0 {
        0
    } else {
        place
    }
}

impl FromIterator<Operation> for History {
    fn from_iter<Operations: IntoIterator<Item = Operation>>(operations: Operations) -> Self {
        Self { operations: operations.into_iter().collect(), ..Self::default() }
    }
}
