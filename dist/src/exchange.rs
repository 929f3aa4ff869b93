//! Parts of unequal length from all ranks to all.

use crate::bytes::bytes_of;
use crate::{DistError, Op, World};
use warpheap::api::Element;
use warpheap::api::host::assert_plain;
use warpheap::{Device, DeviceVec};

/// Where the bytes of one rank's part are, and how many of them have come.
struct Part<T> {
    elements: Vec<T>,
    bytes: usize,
    come: usize,
}

impl World {
    /// Sends part `i` to rank `i`, and returns what rank `i` sent as part `i`. Parts have any lengths, and may be empty. A call of
    /// all ranks.
    ///
    /// It goes through host memory: the parts, what comes of it, and twice [`set_round_bytes`](Self::set_round_bytes) for what is
    /// under way.
    ///
    /// # Errors
    /// [`DistError::Parts`] unless there is a part for each rank; [`DistError::Elements`] if ranks send elements of different sizes;
    /// [`DistError::NoMemory`].
    pub fn exchange<T: Element + Copy>(
        &self,
        parts: &[impl AsRef<[T]>],
    ) -> Result<Vec<Vec<T>>, DistError> {
        const {
            assert_plain::<T>();
            assert!(size_of::<T>() > 0, "there is nothing to send");
        }
        let size = self.size();
        self.check_parts(parts.len())?;
        let parts: Vec<&[u8]> = parts.iter().map(|part| bytes_of(part.as_ref())).collect();
        let lengths: Vec<u64> = parts.iter().map(|part| part.len() as u64).collect();
        let coming = self.link().exchange_numbers(&lengths);
        let room = |(from, bytes)| Part::<T>::with_room(from, bytes);
        let mut received: Vec<Part<T>> = (0..).zip(coming).map(room).collect::<Result<_, _>>()?;

        // What a rank has for itself need not travel.
        let me = self.rank();
        received[me].append(parts[me]);
        let others = (0..size).filter(|&rank| rank != me);
        let travel = || others.clone().map(|to| lengths[to]);
        self.add_sent(travel().sum());
        let mut longest = [travel().max().unwrap_or(0)];
        self.link().reduce(Op::Max, &mut longest);
        let piece = (self.round() / size).max(1);

        let (mut out, mut into) = (Vec::new(), Vec::new());
        for number in 0..longest[0].div_ceil(piece as u64) as usize {
            out.clear();
            let mut sending = vec![0; size];
            for to in others.clone() {
                let part = parts[to];
                let begin = part.len().min(number * piece);
                let end = part.len().min(begin + piece);
                out.extend_from_slice(&part[begin..end]);
                sending[to] = end - begin;
            }
            let coming: Vec<usize> = received.iter().map(|part| part.left().min(piece)).collect();
            into.resize(coming.iter().sum(), 0);
            self.link()
                .exchange_bytes(&out, &sending, &mut into, &coming);
            let mut rest = &into[..];
            for (part, length) in received.iter_mut().zip(coming) {
                let (mine, behind) = rest.split_at(length);
                part.append(mine);
                rest = behind;
            }
        }
        Ok(received.into_iter().map(Part::finish).collect())
    }

    /// Makes sure that there is a part for each rank.
    pub(crate) fn check_parts(&self, got: usize) -> Result<(), DistError> {
        let size = self.size();
        match got == size {
            true => Ok(()),
            false => Err(DistError::Parts { got, size }),
        }
    }

    /// As [`exchange`](Self::exchange), of vectors on this rank's device, to new vectors there: by NCCL from GPU to GPU where the ranks
    /// have it ([`carrier`](Self::carrier)), otherwise through host memory.
    ///
    /// # Errors
    /// As [`exchange`](Self::exchange) and [`carrier`](Self::carrier); [`DistError::Device`].
    pub fn exchange_vecs<T: Element + Copy>(
        &self,
        device: &Device,
        parts: &[DeviceVec<T>],
    ) -> Result<Vec<DeviceVec<T>>, DistError> {
        #[cfg(feature = "mpi")]
        if let Some(nccl) = self.nccl(device)? {
            return nccl.exchange_vecs(self, device, parts);
        }
        let parts: Vec<Vec<T>> = parts
            .iter()
            .map(DeviceVec::to_vec)
            .collect::<Result<_, _>>()?;
        let received = self.exchange(&parts)?;
        let upload = |part: Vec<T>| DeviceVec::from_slice(device, &part);
        Ok(received.into_iter().map(upload).collect::<Result<_, _>>()?)
    }

    /// As [`exchange_vecs`](Self::exchange_vecs), of parts that lie one behind the other in one vector, the first one at its begin: `lengths`
    /// has the elements of each, in the order of ranks. What comes lies so too, in a new vector of as many elements.
    ///
    /// # Errors
    /// As [`exchange_vecs`](Self::exchange_vecs); [`DistError::Beyond`] if the vector ends before the parts do.
    pub fn exchange_ranges<T: Element + Copy>(
        &self,
        device: &Device,
        parts: &DeviceVec<T>,
        lengths: &[usize],
    ) -> Result<DeviceVec<T>, DistError> {
        self.check_parts(lengths.len())?;
        let (all, elements) = (lengths.iter().sum(), parts.len());
        if all > elements {
            let parts = all;
            return Err(DistError::Beyond { parts, elements });
        }
        #[cfg(feature = "mpi")]
        if let Some(nccl) = self.nccl(device)? {
            return nccl.exchange_ranges(self, device, parts, lengths);
        }
        let whole = parts.to_vec()?;
        let mut rest = &whole[..];
        let parts: Vec<&[T]> = lengths
            .iter()
            .filter_map(|&length| rest.split_off(..length))
            .collect();
        let received = self.exchange(&parts)?.concat();
        Ok(DeviceVec::from_slice(device, &received)?)
    }
}

impl<T: Element + Copy> Part<T> {
    /// Room for what rank `from` sends.
    fn with_room(from: usize, bytes: u64) -> Result<Self, DistError> {
        let element = size_of::<T>();
        let mut elements = Vec::new();
        let length = whole::<T>(from, bytes)?;
        let room = elements.try_reserve_exact(length);
        room.map_err(|_| DistError::NoMemory { from, bytes })?;
        let bytes = length * element;
        Ok(Part {
            elements,
            bytes,
            come: 0,
        })
    }

    /// Bytes that have not come.
    fn left(&self) -> usize {
        self.bytes - self.come
    }

    /// Puts bytes behind those that have come, as many of them as there is room for.
    fn append(&mut self, bytes: &[u8]) {
        let length = bytes.len().min(self.left());
        // SAFETY: `bytes` is what the vector has room for, and at most what is left of it is written. Nobody else has the room.
        unsafe {
            let to = self.elements.as_mut_ptr().cast::<u8>().add(self.come);
            to.copy_from_nonoverlapping(bytes.as_ptr(), length);
        }
        self.come += length;
    }

    /// The elements that have come.
    fn finish(mut self) -> Vec<T> {
        // SAFETY: all bytes of these elements were written, and every bit pattern is a value of an `Element`.
        unsafe { self.elements.set_len(self.come / size_of::<T>()) };
        self.elements
    }
}

/// How many elements so many bytes from a rank are.
pub(crate) fn whole<T>(from: usize, bytes: u64) -> Result<usize, DistError> {
    let element = size_of::<T>();
    if bytes % element as u64 != 0 {
        return Err(DistError::Elements {
            from,
            bytes,
            element,
        });
    }
    Ok(usize::try_from(bytes).unwrap_or(usize::MAX) / element)
}
