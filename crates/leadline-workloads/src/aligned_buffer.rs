//! Memory that direct I/O accepts: it starts on a page boundary, as open(2) asks for under O_DIRECT.

use std::alloc::{alloc_zeroed, dealloc, handle_alloc_error, Layout};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use crate::randomness;

/// The page size of every processor we run on, or a divisor of it; no device asks for more.
const ALIGNMENT_BYTES: usize = 4096;

/// A slice of bytes of fixed size, owned by one thread.
pub struct AlignedBuffer {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the buffer owns its memory alone, exactly as a `Box<[u8]>` would.
unsafe impl Send for AlignedBuffer {}

impl AlignedBuffer {
    /// Fills `size_bytes` with noise from the seed: every page is touched, and nothing on the way to the disk
    /// can compress it.
    pub fn filled(size_bytes: usize, seed: u64) -> Self {
        assert!(size_bytes > 0, "an allocation of zero bytes has no address");
        let layout = Layout::from_size_align(size_bytes, ALIGNMENT_BYTES).expect("a size below isize::MAX");
        // SAFETY: the layout has a size above zero, as asserted.
        let memory = unsafe { alloc_zeroed(layout) };
        let start = NonNull::new(memory).unwrap_or_else(|| handle_alloc_error(layout));
        let mut buffer = Self { start, layout };
        for (index, word) in buffer.chunks_mut(8).enumerate() {
            let noise = randomness::word(seed, index as u64).to_le_bytes();
            word.copy_from_slice(&noise[..word.len()]);
        }
        buffer
    }
}

impl Deref for AlignedBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: start points to layout.size() initialised bytes that live as long as self.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.layout.size()) }
    }
}

impl DerefMut for AlignedBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and &mut self makes this the only reference.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.layout.size()) }
    }
}

impl Drop for AlignedBuffer {
    fn drop(&mut self) {
        // SAFETY: the same pointer and layout that alloc_zeroed returned and took.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_starts_on_a_page_and_holds_different_noise_for_each_seed() {
        let one = AlignedBuffer::filled(5000, 1);
        let other = AlignedBuffer::filled(5000, 2);
        assert_eq!(one.as_ptr() as usize % ALIGNMENT_BYTES, 0);
        assert_eq!(one.len(), 5000);
        assert_ne!(&one[..], &other[..]);
        assert_ne!(one[4992..], [0; 8]);
    }
}
