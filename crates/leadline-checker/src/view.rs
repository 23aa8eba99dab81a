//! The operations of one object, with the times by which they are judged.

use leadline_history::{History, Kind, Moment, Operation, NEVER};

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
    pub about: About,
    /// Whether a second processor may be used: it has nothing else to do.
    pub may_share: bool,
}

/// What one pass over the operations of an object tells, so that nobody makes another pass for it.
#[derive(Clone, Copy, Default)]
pub(crate) struct About {
    /// How far the least exact clock may be off.
    pub largest_clock_error_ns: u32,
    /// The highest number of a client, and one.
    pub clients: usize,
    /// How many operations bring a value.
    pub bringing: usize,
    /// Whether anybody did anything when everything had settled.
    pub settled: bool,
}

impl About {
    fn of(history: &History, members: &[u32]) -> Self {
        let mut about = Self::default();
        for &index in members {
            let each = &history.operations[index as usize];
            about.largest_clock_error_ns = about.largest_clock_error_ns.max(each.clock_error_ns);
            about.clients = about.clients.max(usize::from(each.client) + 1);
            about.bringing += usize::from(each.action.brings_value());
            about.settled |= each.moment == Moment::Settled;
        }
        about
    }
}

impl<'a> View<'a> {
    /// The object whose operations are at these places.
    pub fn of(history: &'a History, members: &'a [u32], kind: Kind, may_share: bool) -> Self {
        let about = About::of(history, members);
        Self { history, members, kind, clocks: Clocks::Doubted, about, may_share }
    }

    /// Its operations, in the order in which the history holds them.
    pub fn operations(&self) -> impl Iterator<Item = Seen<'a>> + '_ {
        self.members.iter().map(|&index| self.seen(index))
    }

    /// The operation at a place of the history.
    pub fn seen(&self, index: u32) -> Seen<'a> {
        let operation = &self.history.operations[index as usize];
        Seen { index, operation, span: span_of(operation, self.clocks) }
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
