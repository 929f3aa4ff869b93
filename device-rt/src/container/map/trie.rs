//! Finding a key's leaf, and hanging one in.

use super::leaf::{self, Before};
use super::path::{MOST_NODES, NODE_SLOTS, Path};
use super::slot::{
    EMPTY, NODE, NODE_LAYOUT, block, first_word, has_key, is_node, key_of, leaf_layout, slot_of,
};
use super::words::WordSource;
use crate::Heap;
use crate::sync::Group;
use warpheap_api::{AllocError, DeviceAlloc, DevicePtr, HeapMemory, Layout, layout, select};

/// Most bits of the hash that a root looks at.
pub const MOST_ROOT_BITS: u32 = 28;

/// Set in the answer of [`Trie::enter`] if the leaf is new.
pub const FRESH: u32 = 1 << 31;

/// A slot changes at most twice, from empty to a leaf to a node, and a node is asked for once, so no key needs more rounds than
/// four at each node.
const MOST_ROUNDS: u32 = 5 * (MOST_NODES + 1);

/// The root of a trie and how many bits of the hash it looks at.
///
/// Widths of keys and values come with each call and must always be the same for a trie.
#[derive(Clone, Copy, Debug)]
pub struct Trie {
    /// `2^root_bits` slots.
    pub root: DevicePtr<u32>,
    /// Bits of the hash that the root looks at.
    pub root_bits: u32,
}

/// Where a search ended.
#[derive(Clone, Copy)]
struct Place {
    /// The slot.
    at: usize,
    /// What it says: nothing or a leaf.
    seen: u32,
    /// The way behind this slot.
    path: Path,
}

impl Trie {
    /// No trie: it finds nothing and takes nothing.
    pub const NONE: Trie = Trie {
        root: DevicePtr::from_granule(0),
        root_bits: 0,
    };

    /// The layout of a root with `2^root_bits` slots; one that no heap serves beyond [`MOST_ROOT_BITS`].
    #[inline(always)]
    pub const fn root_layout(root_bits: u32) -> Layout {
        if root_bits <= MOST_ROOT_BITS {
            layout::bytes(4 << root_bits)
        } else {
            layout::bytes(layout::ABSURD)
        }
    }

    /// Whether there is no trie.
    #[inline(always)]
    pub const fn is_none(self) -> bool {
        // Every heap begins with its header.
        self.root.granule() == 0
    }

    /// The root's slot for a hash.
    #[inline(always)]
    pub fn root_slot<M: HeapMemory>(self, memory: M, hash: u32) -> usize {
        memory.word_of(self.root) + (hash & ((1 << self.root_bits) - 1)) as usize
    }

    #[inline(always)]
    fn descend<M: HeapMemory, K: WordSource>(self, memory: M, key: K) -> Place {
        let mut path = Path::begin(key, self.root_bits);
        let mut at = self.root_slot(memory, path.hash());
        let mut seen = memory.load(at);
        memory.acquire();
        let mut nodes = 0;
        while is_node(seen) & (nodes < MOST_NODES) {
            path = path.ready(key);
            at = first_word(memory, seen) + path.digit() as usize;
            path = path.passed();
            seen = memory.load(at);
            memory.acquire();
            nodes += 1;
        }
        Place { at, seen, path }
    }

    /// The leaf with this key, dead or alive; 0 if there is none.
    #[inline(always)]
    pub fn find<M: HeapMemory, K: WordSource>(self, memory: M, key: K) -> u32 {
        if self.is_none() {
            return EMPTY;
        }
        let seen = self.descend(memory, key).seen;
        let mut leaf = EMPTY;
        if (seen != EMPTY) & !is_node(seen) {
            leaf = select(has_key(memory, seen, key), seen, EMPTY);
        }
        leaf
    }

    /// The leaf with this key; where there is none, a new one with this value, and [`FRESH`] in the answer.
    ///
    /// Lanes may call it at any time; of those that bring the same key one makes the leaf. Wait-free but
    /// for the heap.
    ///
    /// # Errors
    /// As [`DeviceAlloc::malloc`], and `Unsupported` without a map and in heaps of more than 2^31 granules; then
    /// nothing changed.
    #[inline]
    pub fn enter<A: DeviceAlloc, K: WordSource, V: WordSource>(
        self,
        heap: Heap<A>,
        key: K,
        value: V,
    ) -> Result<u32, AllocError> {
        if self.is_none() | too_large(heap) {
            return Err(AllocError::Unsupported);
        }
        let memory = heap.memory();
        let group = Group::here();
        let place = self.descend(memory, key);
        // Ways have different lengths. Those who came together ask for their leaves together.
        group.barrier();
        let mut seen = place.seen;
        if (seen != EMPTY) & !is_node(seen) && has_key(memory, seen, key) {
            return Ok(seen);
        }
        let leaf_layout = leaf_layout(key.words(), value.words());
        let mut path = place.path;
        let mut at = place.at;
        // What this lane got and hung in nowhere yet: a leaf with the key, and a node, all zeros.
        let mut own = EMPTY;
        let mut spare = EMPTY;
        let mut needs_node = false;
        let mut leaf = EMPTY;
        let mut error = 0;
        let mut round = 0;
        while (leaf == EMPTY) & (error == 0) & (round < MOST_ROUNDS) {
            round += 1;
            let group = Group::here();
            let needs_leaf = own == EMPTY;
            if needs_leaf | needs_node {
                // One call for both: where all is inlined it is long. The leaf before it is needed: lanes of a warp get theirs together.
                match heap.malloc_rarely(either(needs_leaf, leaf_layout, NODE_LAYOUT)) {
                    Ok(block) => {
                        if needs_leaf {
                            leaf::write_new(memory, memory.word_of(block), key, value);
                            own = slot_of(block);
                            memory.release();
                        } else {
                            let mut word = 0;
                            while word < NODE_SLOTS as usize {
                                memory.write4(memory.word_of(block) + word, [EMPTY; 4]);
                                word += 4;
                            }
                            spare = slot_of(block) | NODE;
                        }
                    }
                    Err(cause) => error = cause.code(),
                }
                needs_node = false;
            }
            if error != 0 {
                // Nothing hangs anywhere.
            } else if seen == EMPTY {
                seen = memory.compare_exchange(at, EMPTY, own);
                leaf = select(seen == EMPTY, own | FRESH, EMPTY);
            } else if is_node(seen) {
                path = path.ready(key);
                at = first_word(memory, seen) + path.digit() as usize;
                path = path.passed();
                seen = memory.load(at);
            } else if has_key(memory, seen, key) {
                leaf = seen;
            } else {
                // Another key's leaf: a node in its place, with that leaf in it.
                let below = path.ready(key);
                if below.ended() {
                    error = AllocError::Unsupported.code();
                } else if spare == EMPTY {
                    needs_node = true;
                } else {
                    let other = below.digit_of(key_of(memory, seen, key.words()));
                    let inner = first_word(memory, spare) + other as usize;
                    memory.write(inner, seen);
                    memory.release();
                    let old = memory.compare_exchange(at, seen, spare);
                    if old == seen {
                        seen = spare;
                        spare = EMPTY;
                    } else {
                        memory.write(inner, EMPTY);
                        seen = old;
                    }
                }
            }
            memory.acquire();
            group.barrier();
        }
        own = select(leaf & FRESH == 0, own, EMPTY);
        while (own | spare) != EMPTY {
            let node = spare != EMPTY;
            let layout = either(node, NODE_LAYOUT, leaf_layout);
            // SAFETY: this lane got it and hung it in nowhere.
            unsafe { heap.free_rarely(block(select(node, spare, own)), layout) };
            own = select(node, own, EMPTY);
            spare = EMPTY;
        }
        if error != 0 {
            return Err(AllocError::from_code(error));
        }
        if leaf == EMPTY {
            return Err(AllocError::Contended);
        }
        Ok(leaf)
    }
}

/// Changing and asking, for keys and values of any width.
impl Trie {
    /// Brings `value` to a key. Where the key is there, `live` does with the value what it likes, given the leaf and its
    /// state, and says whether that is done.
    ///
    /// # Errors
    /// As [`enter`](Self::enter), and `Contended`; then the map is as it was.
    #[inline(always)]
    pub fn change<A: DeviceAlloc, K: WordSource, V: WordSource>(
        self,
        heap: Heap<A>,
        key: K,
        value: V,
        live: impl Fn(u32, u32) -> bool,
    ) -> Result<Before, AllocError> {
        let leaf = self.enter(heap, key, value)?;
        if leaf & FRESH != 0 {
            return Ok(Before::Absent);
        }
        leaf::settle(heap.memory(), leaf, key.words(), value, |seen| {
            live(leaf, seen)
        })
    }

    /// Whether a key is there.
    #[inline(always)]
    pub fn contains<M: HeapMemory, K: WordSource>(self, memory: M, key: K) -> bool {
        let leaf = self.find(memory, key);
        let mut present = false;
        if leaf != EMPTY {
            present = leaf::is_present(memory, leaf);
            memory.acquire();
        }
        present
    }

    /// Removes a key.
    ///
    /// # Errors
    /// `Contended`.
    #[inline(always)]
    pub fn remove<M: HeapMemory, K: WordSource>(
        self,
        memory: M,
        key: K,
    ) -> Result<Before, AllocError> {
        let leaf = self.find(memory, key);
        if leaf == EMPTY {
            return Ok(Before::Absent);
        }
        leaf::remove(memory, leaf)
    }
}

/// One of two layouts.
#[inline(always)]
fn either(first: bool, a: Layout, b: Layout) -> Layout {
    let size = if first { a.size() } else { b.size() };
    let align = if first { a.align() } else { b.align() };
    layout::aligned(size, align)
}

/// Whether the heap has blocks beyond what a slot can name, 2^31 granules.
#[inline(always)]
pub fn too_large<A: DeviceAlloc>(heap: Heap<A>) -> bool {
    (heap.memory().len() / 8) >> heap.memory().granule_shift() > 1 << 30
}
