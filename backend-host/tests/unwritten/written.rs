//! What is written in any way is read without a word.

use super::{first, heap, memory, runs, runs_in, words};
use warpheap_api::abi::ArgBlock;
use warpheap_api::{HeapMemory, layout};
use warpheap_rt::container::{HeapString, HeapVec};
use warpheap_rt::{arch, thread as lane};

/// Words of a block of zeros, written or not.
unsafe fn zeros(args: &ArgBlock) {
    let heap = heap(args);
    let block = heap.calloc(layout::bytes(38)).expect("there is room");
    for word in 0..10 {
        assert_eq!(memory(args).read(first(block) + word), 0);
        memory(args).fetch_add(first(block) + word, 1);
    }
    // SAFETY: the lane's own block.
    unsafe { heap.free(block, layout::bytes(38)) };
}

/// Each kind of write.
unsafe fn written(args: &ArgBlock) {
    let (memory, block) = (memory(args), first(words(args, 64)));
    memory.write(block, 1);
    memory.store(block + 63, 2);
    assert_eq!((memory.read(block), memory.load(block + 63)), (1, 2));
    assert_eq!(memory.exchange(block + 63, 3), 2);
}

/// Strings that grow byte by byte, and by a few bytes; vectors that grow.
unsafe fn containers(args: &ArgBlock) {
    let heap = heap(args);
    let (mut text, mut list) = (HeapString::new(), HeapVec::<[u32; 3]>::new());
    for byte in 0..70 {
        text.push_byte(heap, 32 + byte).expect("there is room");
        list.push(heap, [byte, 0, byte]).expect("there is room");
        assert_eq!(text.byte(heap, byte), Some(32 + byte));
    }
    let mut other = HeapString::new();
    other.push_bytes(heap, &[1, 2], 5).expect("there is room");
    other.push_str(heap, &text).expect("there is room");
    other.push_str(heap, &text).expect("there is room");
    other.push_decimal(heap, 1_234_567).expect("there is room");
    assert!(other.cmp(heap, &text) < 0);
    assert_ne!(other.hash(heap), text.hash(heap));
    list.shrink_to_fit(heap).expect("there is room");
    assert_eq!(list.get(heap, 69), Some([69, 0, 69]));
    list.free(heap);
    text.free(heap);
    other.free(heap);
}

/// Blocks come, are written and read, and go: over and over in the same memory, of different sizes.
unsafe fn again_and_again(args: &ArgBlock) {
    let (heap, memory) = (heap(args), memory(args));
    for round in 0..40 {
        let own = layout::bytes(4 + (round * 52 + lane::lane() as usize * 12) % 600);
        let block = heap.malloc(own).expect("there is room");
        for word in 0..own.size() / 4 {
            memory.write(first(block) + word, round as u32);
        }
        for word in 0..own.size() / 4 {
            assert_eq!(memory.read(first(block) + word), round as u32);
        }
        // SAFETY: the lane's own block.
        unsafe { heap.free(block, own) };
    }
}

/// Who has an address writes unseen.
unsafe fn by_address(args: &ArgBlock) {
    let block = words(args, 6);
    let address = arch::pointer(memory(args), block.cast()).cast::<u32>();
    // SAFETY: the lane's own block.
    unsafe {
        address.add(5).write(9);
        assert_eq!(heap(args).load_at(block, 5), 9);
    }
}

/// Memory that no block has is the allocator's.
unsafe fn outside_blocks(args: &ArgBlock) {
    let (heap, memory, block) = (heap(args), memory(args), words(args, 16));
    // SAFETY: the lane's own block.
    unsafe { heap.free(block.cast(), layout::bytes(64)) };
    memory.load(first(block) + 7);
    memory.load(memory.len() - 1);
}

#[test]
fn what_is_written_is_read_without_a_word() {
    runs("zeros", zeros);
    runs("written", written);
    runs("containers", containers);
    runs("again_and_again", again_and_again);
    runs("by_address", by_address);
    // Another lane might be given the block.
    runs_in("outside_blocks", outside_blocks, &[(1, 1)]);
}
