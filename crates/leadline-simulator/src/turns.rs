//! Whose turn it is to write to a file, where a client writes to each of its files one at a time.

use std::collections::VecDeque;

/// One line of writes for each file.
pub struct Turns {
    lines: Vec<Line>,
}

#[derive(Clone, Default)]
struct Line {
    /// Somebody's turn is on.
    taken: bool,
    waiting: VecDeque<u32>,
}

impl Turns {
    pub fn new(files: usize) -> Self {
        Self { lines: vec![Line::default(); files] }
    }

    /// Whether it is this operation's turn now; else it waits in the line.
    pub fn take(&mut self, file: usize, operation: u32) -> bool {
        let line = &mut self.lines[file];
        if line.taken {
            line.waiting.push_back(operation);
            return false;
        }
        line.taken = true;
        true
    }

    /// The turn that was on is over; the operation whose turn is next.
    pub fn pass_on(&mut self, file: usize) -> Option<u32> {
        let line = &mut self.lines[file];
        let next = line.waiting.pop_front();
        line.taken = next.is_some();
        next
    }
}
