//! Bytes of device memory that are no whole words.
//!
//! Backends read and write whole words. Of bytes that begin or end in the midst of one, that word is read, and written back with the
//! bytes beside them as they were. Both happen while the call has the word for itself, so that nothing comes between them.

use super::bytes::padded;
use super::generation::HeapBlock;
use super::order::{Access, Demand};
use super::{Backend, BufferId, DeviceError, RawBuffer};
use std::vec;

/// Bytes that a copy by way of the host takes at once.
const AT_ONCE: u64 = 8 << 20;

/// A range of bytes: those before the first whole word, the whole words, and those behind the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Parts {
    head: usize,
    words: usize,
    tail: usize,
}

impl Parts {
    fn new(offset: u64, bytes: usize) -> Parts {
        let head = bytes.min((padded(offset) - offset) as usize);
        let tail = (bytes - head) % 4;
        Parts {
            head,
            words: bytes - head - tail,
            tail,
        }
    }
}

/// Memory of a backend that the caller has for itself.
#[derive(Clone, Copy)]
pub(super) struct Held<'a> {
    backend: &'a dyn Backend,
    id: BufferId,
}

impl<'a> Held<'a> {
    pub(super) fn of(buffer: &'a RawBuffer) -> Self {
        Held {
            backend: &*buffer.shared().backend,
            id: buffer.id(),
        }
    }

    /// Reads or writes the bytes from `offset` on that lie in one word.
    fn in_word(
        self,
        offset: u64,
        change: impl FnOnce(&mut [u8]),
        back: bool,
    ) -> Result<(), DeviceError> {
        let at = offset % 4;
        let mut word = [0; 4];
        self.backend.read(self.id, offset - at, &mut word)?;
        change(&mut word[at as usize..]);
        match back {
            true => self.backend.write(self.id, offset - at, &word),
            false => Ok(()),
        }
    }

    fn read(self, offset: u64, data: &mut [u8]) -> Result<(), DeviceError> {
        let parts = Parts::new(offset, data.len());
        let (head, rest) = data.split_at_mut(parts.head);
        let (words, tail) = rest.split_at_mut(parts.words);
        let begin = offset + parts.head as u64;
        let part = |offset, data: &mut [u8]| {
            let take = |word: &mut [u8]| data.copy_from_slice(&word[..data.len()]);
            self.in_word(offset, take, false)
        };
        if !head.is_empty() {
            part(offset, head)?;
        }
        if !words.is_empty() {
            self.backend.read(self.id, begin, words)?;
        }
        if !tail.is_empty() {
            part(begin + parts.words as u64, tail)?;
        }
        Ok(())
    }

    fn write(self, offset: u64, data: &[u8]) -> Result<(), DeviceError> {
        let parts = Parts::new(offset, data.len());
        let (head, rest) = data.split_at(parts.head);
        let (words, tail) = rest.split_at(parts.words);
        let begin = offset + parts.head as u64;
        let part = |offset, data: &[u8]| {
            let give = |word: &mut [u8]| word[..data.len()].copy_from_slice(data);
            self.in_word(offset, give, true)
        };
        if !head.is_empty() {
            part(offset, head)?;
        }
        if !words.is_empty() {
            self.backend.write(self.id, begin, words)?;
        }
        if !tail.is_empty() {
            part(begin + parts.words as u64, tail)?;
        }
        Ok(())
    }

    /// Copies to other memory, of this device or of another one: words that lie at words in both directly where that can be, the
    /// rest by way of the host.
    pub(super) fn copy_to(
        self,
        offset: u64,
        to: Held<'_>,
        to_offset: u64,
        bytes: u64,
    ) -> Result<(), DeviceError> {
        if offset % 4 != to_offset % 4 {
            return self.by_host(offset, to, to_offset, bytes);
        }
        let parts = Parts::new(offset, bytes as usize);
        let (head, words) = (parts.head as u64, parts.words as u64);
        self.by_host(offset, to, to_offset, head)?;
        if words > 0 {
            self.copy_words(offset + head, to, to_offset + head, words)?;
        }
        let done = head + words;
        self.by_host(offset + done, to, to_offset + done, parts.tail as u64)
    }

    fn copy_words(
        self,
        offset: u64,
        to: Held<'_>,
        to_offset: u64,
        bytes: u64,
    ) -> Result<(), DeviceError> {
        let (source, target) = ((self.id, offset), (to.id, to_offset));
        if std::ptr::addr_eq(self.backend, to.backend) {
            return self.backend.copy(source, target, bytes);
        }
        match self.backend.copy_to(source, to.backend, target, bytes)? {
            true => Ok(()),
            false => self.by_host(offset, to, to_offset, bytes),
        }
    }

    /// Copies by way of the host.
    fn by_host(
        self,
        mut offset: u64,
        to: Held<'_>,
        mut to_offset: u64,
        mut bytes: u64,
    ) -> Result<(), DeviceError> {
        let mut data = vec![0; bytes.min(AT_ONCE) as usize];
        while bytes > 0 {
            let now = bytes.min(AT_ONCE);
            let piece = &mut data[..now as usize];
            self.read(offset, piece)?;
            to.write(to_offset, piece)?;
            (offset, to_offset, bytes) = (offset + now, to_offset + now, bytes - now);
        }
        Ok(())
    }
}

/// The words in which a range of bytes lies.
pub(super) fn around(offset: u64, bytes: u64) -> (u64, u64) {
    let begin = offset - offset % 4;
    (begin, padded(offset.saturating_add(bytes)) - begin)
}

impl RawBuffer {
    /// As [`write_in`](Self::write_in), of any bytes.
    pub(super) fn write_bytes(
        &self,
        block: Option<&HeapBlock>,
        offset: u64,
        data: &[u8],
    ) -> Result<(), DeviceError> {
        let words = around(offset, data.len() as u64);
        if words == (offset, data.len() as u64) {
            return self.write_in(block, offset, data);
        }
        let demands = [self.demand("write", words.0, words.1, Access::Overwrite)?];
        self.holding(&demands, &[block], |held| held.write(offset, data))
    }

    /// As [`read_in`](Self::read_in), of any bytes.
    pub(super) fn read_bytes(
        &self,
        block: Option<&HeapBlock>,
        offset: u64,
        data: &mut [u8],
    ) -> Result<(), DeviceError> {
        let words = around(offset, data.len() as u64);
        if words == (offset, data.len() as u64) {
            return self.read_in(block, offset, data, || ());
        }
        let demands = [self.demand("read", words.0, words.1, Access::Snapshot)?];
        self.holding(&demands, &[block], |held| held.read(offset, data))
    }

    /// As [`copy_in`](Self::copy_in), of any bytes, and to memory of any device. The words between the ends are copied directly if
    /// they are words in both ranges, else by way of the host.
    pub(super) fn copy_bytes(
        &self,
        blocks: [Option<&HeapBlock>; 2],
        offset: u64,
        to: &RawBuffer,
        to_offset: u64,
        bytes: u64,
    ) -> Result<(), DeviceError> {
        if !self.shares_device(to) {
            return self.copy_across(blocks, offset, to, to_offset, bytes);
        }
        let (source, target) = (around(offset, bytes), around(to_offset, bytes));
        if (source, target) == ((offset, bytes), (to_offset, bytes)) {
            return self.copy_in(blocks, offset, to, to_offset, bytes);
        }
        let demands = [
            self.demand("copy", source.0, source.1, Access::Snapshot)?,
            to.demand("copy", target.0, target.1, Access::Overwrite)?,
        ];
        demands[0].apart(&demands[1])?;
        self.holding(&demands, &blocks, |from| {
            from.copy_to(offset, Held::of(to), to_offset, bytes)
        })
    }

    /// Does something with this memory that the caller then has for itself, if its blocks are still there.
    fn holding(
        &self,
        demands: &[Demand],
        blocks: &[Option<&HeapBlock>],
        work: impl FnOnce(Held<'_>) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        let shared = self.shared();
        let _permit = shared.permit(demands)?;
        for block in blocks.iter().flatten() {
            block.check()?;
        }
        work(Held::of(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_come_apart_into_words_and_what_is_beside_them() {
        for (offset, bytes, head, words, tail) in [
            (0, 0, 0, 0, 0),
            (0, 3, 0, 0, 3),
            (1, 2, 2, 0, 0),
            (5, 3, 3, 0, 0),
            (5, 4, 3, 0, 1),
            (6, 11, 2, 8, 1),
            (8, 8, 0, 8, 0),
        ] {
            let parts = Parts { head, words, tail };
            assert_eq!(Parts::new(offset, bytes), parts, "{bytes} at {offset}");
        }
        assert_eq!(around(5, 3), (4, 4));
        assert_eq!(around(6, 3), (4, 8));
        assert_eq!(around(8, 8), (8, 8));
    }
}
