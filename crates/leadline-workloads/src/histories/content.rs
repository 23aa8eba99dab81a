//! What lies in files: values with a check each, so that what nobody wrote, zeros, and parts of two values are told apart.

use leadline_history::Content;

use crate::randomness::word;

/// A value and its check.
pub const UNIT_BYTES: u32 = 16;
/// A record of an append log: value, number, check, mark.
pub const RECORD_BYTES: usize = 32;
const MARK: u64 = 0x6c65_6164_6c69_6e65; // "leadline", so that an empty record is not one of zeros

/// The value, repeated through as many bytes.
pub fn fill(value: u64, bytes: &mut [u8]) {
    for unit in bytes.chunks_exact_mut(UNIT_BYTES as usize) {
        unit[..8].copy_from_slice(&value.to_le_bytes());
        unit[8..].copy_from_slice(&word(value, 0).to_le_bytes());
    }
}

/// The value that lies in bytes of which there should be `expected`, and in what state.
pub fn value_in(bytes: &[u8], expected: usize) -> (u64, Content) {
    let units = bytes.chunks_exact(UNIT_BYTES as usize);
    let zeros = units.clone().any(|unit| unit.iter().all(|byte| *byte == 0));
    let Some(first) = units.clone().find_map(unit_value) else {
        return (0, if zeros { Content::ZeroFilled } else { Content::Damaged });
    };
    let content = if zeros {
        Content::ZeroFilled
    } else if units.clone().any(|unit| unit_value(unit).is_none()) {
        Content::Damaged
    } else if bytes.len() != expected || units.clone().any(|unit| unit_value(unit) != Some(first)) {
        Content::Torn
    } else {
        Content::Whole
    };
    (first, content)
}

fn unit_value(unit: &[u8]) -> Option<u64> {
    let value = number_at(unit, 0);
    (number_at(unit, 8) == word(value, 0)).then_some(value)
}

fn number_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

/// One record of an append log.
pub fn record(value: u64, number: u64) -> [u8; RECORD_BYTES] {
    let mut bytes = [0; RECORD_BYTES];
    for (place, part) in [value, number, word(value, number), MARK].into_iter().enumerate() {
        bytes[8 * place..8 * place + 8].copy_from_slice(&part.to_le_bytes());
    }
    bytes
}

/// The values of the records in a log, and in what state they came; what follows a broken one is left out.
pub fn records_in(bytes: &[u8], values: &mut Vec<u64>) -> Content {
    let records = bytes.chunks_exact(RECORD_BYTES);
    let rest = records.remainder();
    for record in records {
        let (value, number) = (number_at(record, 0), number_at(record, 8));
        if record.iter().all(|byte| *byte == 0) {
            return Content::ZeroFilled;
        }
        if number_at(record, 16) != word(value, number) || number_at(record, 24) != MARK {
            return Content::Damaged;
        }
        values.push(value);
    }
    if rest.is_empty() {
        Content::Whole
    } else {
        Content::Torn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(value: u64) -> Vec<u8> {
        let mut bytes = vec![0; 64];
        fill(value, &mut bytes);
        bytes
    }

    #[test]
    fn a_value_is_read_as_it_was_written_and_what_is_wrong_is_named() {
        assert_eq!(value_in(&filled(7), 64), (7, Content::Whole));
        assert_eq!(value_in(&filled(0), 64), (0, Content::Whole));
        assert_eq!(value_in(&[&filled(7)[..32], &filled(8)[32..]].concat(), 64), (7, Content::Torn));
        assert_eq!(value_in(&filled(7)[..32], 64), (7, Content::Torn));
        assert_eq!(value_in(&[&filled(7)[..32], &[0; 32]].concat(), 64), (7, Content::ZeroFilled));
        assert_eq!(value_in(&[0; 64], 64), (0, Content::ZeroFilled));
        assert_eq!(value_in(&[b'x'; 64], 64), (0, Content::Damaged));
        let mut damaged = filled(7);
        damaged[40] ^= 1;
        assert_eq!(value_in(&damaged, 64), (7, Content::Damaged));
    }

    #[test]
    fn records_are_read_up_to_the_first_that_is_broken() {
        let read = |bytes: &[u8]| {
            let mut values = Vec::new();
            (records_in(bytes, &mut values), values)
        };
        let two = [record(5, 1), record(6, 2)].concat();
        assert_eq!(read(&two), (Content::Whole, vec![5, 6]));
        assert_eq!(read(&[]), (Content::Whole, vec![]));
        assert_eq!(read(&two[..40]), (Content::Torn, vec![5]));
        assert_eq!(read(&[&two[..], &[0; 32]].concat()), (Content::ZeroFilled, vec![5, 6]));
        let mut damaged = two;
        damaged[3] ^= 1;
        assert_eq!(read(&damaged), (Content::Damaged, vec![]));
    }
}
