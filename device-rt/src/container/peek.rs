//! Memory whose plain reads are atomic, for data that other lanes may be writing.

use warpheap_api::{DevicePtr, HeapMemory, Layout};

/// The words of a heap, of which even a plain read is an atomic load: `T::get(Peek(memory), word)` reads
/// a value that others may be writing. Whether it is of one piece, the caller finds out.
#[derive(Clone, Copy)]
pub struct Peek<M>(pub M);

/// The same, each of whose plain reads acquires, too: what the lane knows next is no older.
#[derive(Clone, Copy)]
pub struct PeekInOrder<M>(pub M);

macro_rules! pass_on {
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => {$(
        #[inline(always)]
        fn $name(self $(, $argument: $type)*) $(-> $result)? {
            self.0.$name($($argument),*)
        }
    )*};
}

macro_rules! peek {
    ($name:ident, $load:ident) => {
        // SAFETY: as what it reads from.
        unsafe impl<M: HeapMemory> HeapMemory for $name<M> {
            #[inline(always)]
            fn read(self, word: usize) -> u32 {
                self.0.$load(word)
            }
            #[inline(always)]
            fn once_for_group(self, call: impl FnOnce() -> (u32, u32)) -> (u32, u32) {
                self.0.once_for_group(call)
            }
            pass_on! {
                len() -> usize;
                write(word: usize, value: u32);
                write4(word: usize, values: [u32; 4]);
                load(word: usize) -> u32;
                load4(word: usize) -> [u32; 4];
                load_acquire(word: usize) -> u32;
                load4_acquire(word: usize) -> [u32; 4];
                glance(word: usize) -> u32;
                store(word: usize, value: u32);
                fetch_add(word: usize, value: u32) -> u32;
                fetch_sub(word: usize, value: u32) -> u32;
                release_sub(word: usize, value: u32) -> u32;
                fetch_and(word: usize, value: u32) -> u32;
                fetch_or(word: usize, value: u32) -> u32;
                fetch_max(word: usize, value: u32) -> u32;
                exchange(word: usize, value: u32) -> u32;
                compare_exchange(word: usize, current: u32, new: u32) -> u32;
                release();
                acquire();
                index_in_block() -> u32;
                block_barrier();
                block_broadcast(value: u32, source: u32) -> u32;
                note_malloc(ptr: DevicePtr<u8>, layout: Layout);
                note_calloc(ptr: DevicePtr<u8>, layout: Layout);
                note_free(ptr: DevicePtr<u8>, layout: Layout);
                note_moving(ptr: DevicePtr<u8>, layout: Layout);
                note_moved(ptr: DevicePtr<u8>, layout: Layout);
                note_reset();
            }
        }
    };
}

peek!(Peek, load);
peek!(PeekInOrder, load_acquire);
