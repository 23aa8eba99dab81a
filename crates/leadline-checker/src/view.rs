//! The operations of one object, with the times by which they are judged.

use leadline_history::{History, Kind, Operation, NEVER};

/// From call to answer. One is before another only if it ended strictly before the other began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub start: i64,
    pub end: i64,
}

/// Whose times are believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clocks {
    /// Times are as far from the truth as each operation says, in whichever direction excuses it.
    Doubted,
    /// Times are as they were written down.
    Trusted,
}

/// One operation and where it is in the history.
#[derive(Clone, Copy)]
pub(crate) struct Seen<'a> {
    pub index: u32,
    pub operation: &'a Operation,
    pub span: Span,
}

/// One object.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub history: &'a History,
    pub members: &'a [u32],
    pub kind: Kind,
    pub clocks: Clocks,
}

impl<'a> View<'a> {
    /// Its operations, in the order in which the history holds them.
    pub fn operations(&self) -> impl Iterator<Item = Seen<'a>> + '_ {
        self.members.iter().map(|&index| self.seen(index))
    }

    /// The operation at a place of the history.
    pub fn seen(&self, index: u32) -> Seen<'a> {
        let operation = &self.history.operations[index as usize];
        Seen { index, operation, span: span_of(operation, self.clocks) }
    }

    /// How far the least exact clock may be off.
    pub fn largest_clock_error_ns(&self) -> u32 {
        self.operations().map(|each| each.operation.clock_error_ns).max().unwrap_or(0)
    }
}

fn span_of(operation: &Operation, clocks: Clocks) -> Span {
    let error = match clocks {
        Clocks::Doubted => i64::from(operation.clock_error_ns),
        Clocks::Trusted => 0,
    };
    let end = if operation.end_ns == NEVER { NEVER } else { operation.end_ns.saturating_add(error) };
    Span { start: operation.start_ns.saturating_sub(error), end }
}
