//! What happens next: events by time, and among equal times by the order in which they were entered.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What an event is about. The number finds it; whoever it concerns knows what comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A part of a chunk has come to its next place.
    Part(u32),
    /// A request on this disk may be finished.
    Disk(u32),
    /// A request leaves the software of its client.
    Launch(u32),
    /// A request arrives from outside.
    Arrival,
}

/// A heap of 16-byte keys: 64 bits of time, 32 of order, 32 of what. Comparing two is comparing two integers.
#[derive(Default)]
pub struct Calendar {
    heap: BinaryHeap<Reverse<u128>>,
    /// Wraps after 4 billion events: far apart ones never share a picosecond by then.
    entered: u32,
}

const KIND_SHIFT: u32 = 30;
const NUMBER_MASK: u32 = (1 << KIND_SHIFT) - 1;

impl Calendar {
    #[inline]
    pub fn enter(&mut self, time_ps: u64, event: Event) {
        let key = (u128::from(time_ps) << 64) | (u128::from(self.entered) << 32) | u128::from(packed(event));
        self.entered = self.entered.wrapping_add(1);
        self.heap.push(Reverse(key));
    }
}

/// Takes what comes next, with its time.
impl Iterator for Calendar {
    type Item = (u64, Event);

    #[inline]
    fn next(&mut self) -> Option<(u64, Event)> {
        let Reverse(key) = self.heap.pop()?;
        Some(((key >> 64) as u64, unpacked(key as u32)))
    }
}

#[inline]
fn packed(event: Event) -> u32 {
    let (kind, number) = match event {
        Event::Part(number) => (0, number),
        Event::Disk(number) => (1, number),
        Event::Launch(number) => (2, number),
        Event::Arrival => (3, 0),
    };
    debug_assert!(number <= NUMBER_MASK);
    (kind << KIND_SHIFT) | number
}

#[inline]
fn unpacked(word: u32) -> Event {
    let number = word & NUMBER_MASK;
    match word >> KIND_SHIFT {
        0 => Event::Part(number),
        1 => Event::Disk(number),
        2 => Event::Launch(number),
        _ => Event::Arrival,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equal_times_come_in_the_order_in_which_they_were_entered() {
        let mut calendar = Calendar::default();
        let events = [Event::Disk(7), Event::Part(1), Event::Arrival, Event::Launch(NUMBER_MASK)];
        events.iter().for_each(|&event| calendar.enter(5, event));
        calendar.enter(4, Event::Part(9));
        assert_eq!(calendar.next(), Some((4, Event::Part(9))));
        assert_eq!(events.map(|_| calendar.next().unwrap().1), events);
        assert_eq!(calendar.next(), None);
    }

    proptest! {
        #[test]
        fn time_never_runs_backwards(times_ps in prop::collection::vec(0u64..u64::MAX, 0..200)) {
            let mut calendar = Calendar::default();
            times_ps.iter().for_each(|&time_ps| calendar.enter(time_ps, Event::Arrival));
            let mut sorted = times_ps.clone();
            sorted.sort_unstable();
            let came: Vec<u64> = calendar.map(|(time_ps, _)| time_ps).collect();
            prop_assert_eq!(came, sorted);
        }
    }
}
