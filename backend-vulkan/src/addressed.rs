//! Buffers that kernels find by their addresses.
//!
//! A descriptor shows a kernel at most `maxStorageBufferRange` bytes of a buffer: less than 4 GiB, everywhere. A larger buffer has an
//! address (`bufferDeviceAddress`), and the argument block has room for it, since kernels on CUDA find all buffers so. Images know
//! descriptors alone. This changes a kernel, on the right, where it is loaded for arguments that no descriptor can hold:
//!
//! ```text
//!                                                at the beginning, from two words of the arguments:
//!                                                %b = Bitcast %words
//! %p = AccessChain %buffer 0 %index              %i = UConvert %index
//!                                                %o = IMul %i stride
//!                                                %a = IAdd %b %o
//!                                                %p = ConvertUToPtr %a
//! %v = Load %p                                   %v = Load %p Aligned 4
//! ```
//!
//! Pointers become those of `PhysicalStorageBuffer`. Elements are counted with numbers of 64 bits: with `InBoundsAccessChain %b 0 %i`
//! kernels on NVIDIA (580) come back to the beginning of the buffer behind 4 GiB, also where `%i` has 64 bits. A device without such
//! numbers gets access chains, and has no larger buffers.

mod changed;
mod globals;
#[cfg(test)]
mod tests;

use crate::launch::MOST_BINDINGS;
use crate::module::instructions;
use changed::Changed;
use globals::Globals;
use spirv::Op;

/// Which buffers a kernel finds by address.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct Addressed {
    /// For each binding the word of the argument block in which its address begins; 0 is a descriptor.
    places: [u8; MOST_BINDINGS],
}

impl Addressed {
    /// That of this binding is at this word.
    pub(crate) fn add(&mut self, binding: usize, word: usize) {
        if let Some(place) = self.places.get_mut(binding) {
            *place = word as u8;
        }
    }

    /// Whether all are descriptors.
    pub(crate) fn is_none(&self) -> bool {
        *self == Addressed::default()
    }

    fn place(&self, binding: u32) -> Option<u32> {
        let place = *self.places.get(binding as usize)?;
        (place != 0).then_some(place.into())
    }
}

/// The words of a module of one entry that finds these buffers by address, with elements counted with 64 bits if it is to be `wide`.
/// `None` if it uses one in a way that is not known here.
pub(crate) fn by_address(words: Vec<u32>, addressed: &Addressed, wide: bool) -> Option<Vec<u32>> {
    if addressed.is_none() {
        return Some(words);
    }
    let globals = Globals::of(&words)?;
    let mut changed = Changed::new(&globals, wide);
    changed.find_buffers(addressed)?;
    for instruction in instructions(&words).skip_while(|i| !i.is(Op::Function)) {
        changed.take(&words[instruction.range.clone()], &instruction)?;
    }
    Some(changed.into_words(&words))
}
