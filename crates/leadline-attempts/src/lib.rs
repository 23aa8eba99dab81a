//! Measurements of tests on a machine that may stand still: one that it spoilt is made again, a few times.
//!
//! What is wrong of itself is wrong every time. What no stall can excuse is asserted inside the measurement.

const AT_MOST: usize = 4;

/// Measures until `was_left_alone`; the last measurement stands as it is, so that its test says what is wrong with it.
pub fn attempts<Measured>(
    mut measure: impl FnMut() -> Measured,
    was_left_alone: impl Fn(&Measured) -> bool,
) -> Measured {
    let mut measured = measure();
    for _ in 1..AT_MOST {
        if was_left_alone(&measured) {
            break;
        }
        measured = measure();
    }
    measured
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts how often it was measured.
    fn measured_until(good: usize) -> usize {
        let mut count = 0;
        attempts(
            || {
                count += 1;
                count
            },
            |&count| count >= good,
        )
    }

    #[test]
    fn what_was_left_alone_is_measured_once_and_what_was_spoilt_again() {
        assert_eq!((measured_until(1), measured_until(3)), (1, 3));
    }

    #[test]
    fn what_is_wrong_every_time_comes_back_as_it_is() {
        assert_eq!(measured_until(usize::MAX), AT_MOST);
    }
}
