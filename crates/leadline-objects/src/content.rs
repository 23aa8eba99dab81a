//! The bytes of objects: random, so that no store compresses them, and no two objects alike, so that none stores them once.

use bytes::Bytes;
use leadline_workloads::aligned_buffer::AlignedBuffer;
use opendal::Buffer;

/// Objects begin at different places of one random buffer, so wide apart.
const SPREAD_BYTES: usize = 64 * 1024;
const HEADER_BYTES: usize = 16;

/// What a client puts and expects to get back.
#[derive(Clone)]
pub struct Content {
    random: Bytes,
    size: usize,
}

impl Content {
    pub fn new(size_bytes: u64, seed: u64) -> Self {
        let size = size_bytes as usize;
        let random = AlignedBuffer::filled(size + SPREAD_BYTES, seed);
        Self { random: Bytes::copy_from_slice(&random), size }
    }

    /// An object: its number, then random bytes that are shared and not copied.
    pub fn of(&self, number: u64) -> Buffer {
        let header = Bytes::copy_from_slice(&header(number)).slice(..HEADER_BYTES.min(self.size));
        let rest = self.shared(number).slice(header.len()..);
        Buffer::from(vec![header, rest])
    }

    /// Why these are not the bytes of that object; looked at after the request was timed, at both ends.
    pub fn fault(&self, number: u64, got: &Buffer) -> Option<String> {
        if got.len() != self.size {
            return Some(format!("{} bytes came back where {} were put", got.len(), self.size));
        }
        let (header_size, tail_size) = (HEADER_BYTES.min(self.size), HEADER_BYTES.min(self.size));
        let head = got.slice(..header_size).to_bytes();
        let tail = got.slice(self.size - tail_size..).to_bytes();
        let wanted_tail = self.of(number).slice(self.size - tail_size..).to_bytes();
        (head[..] != header(number)[..header_size] || tail != wanted_tail)
            .then(|| "other bytes came back than were put".to_owned())
    }

    fn shared(&self, number: u64) -> Bytes {
        let start = (number as usize).wrapping_mul(4099) % SPREAD_BYTES;
        self.random.slice(start..start + self.size)
    }
}

fn header(number: u64) -> [u8; HEADER_BYTES] {
    let mut header = *b"leadline........";
    header[8..].copy_from_slice(&number.to_be_bytes());
    header
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_object_is_known_again_and_told_from_every_other(size in 1u64..5000, number in 0u64..1000) {
            let content = Content::new(size, 7);
            let object = content.of(number);
            prop_assert_eq!(object.len() as u64, size);
            prop_assert_eq!(content.fault(number, &object), None);
            if size >= 16 {
                prop_assert!(content.fault(number + 1, &object).is_some());
            }
            prop_assert!(content.fault(number, &object.slice(1..)).is_some());
        }
    }
}
