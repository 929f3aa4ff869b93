//! Reads of words of a heap that nobody has written: what stops a launch, what it says, and what must not stop one.

#[path = "../common/mod.rs"]
mod common;
mod written;

use common::{args, assert_tells, device, launch, stopped, words_after_heap};
use warpheap_api::abi::{ARG_FIRST, ArgBlock};
use warpheap_api::host::{Device, DeviceVec, HostEntry, Pool};
use warpheap_api::{DevicePtr, HeapMemory, Layout, layout};
use warpheap_host::{HostConfig, Mode};
use warpheap_rt::alloc::WarpHeap;
use warpheap_rt::container::HeapVec;
use warpheap_rt::{Heap, arch, entry};

/// Where the messages point to.
const HERE: &str = "backend-host/tests/unwritten/main.rs:";

fn heap(args: &ArgBlock) -> Heap<WarpHeap> {
    // SAFETY: the tests pass a heap of that kind there.
    unsafe { entry::heap(arch::heap_words(args, ARG_FIRST), args, ARG_FIRST) }
}

/// The words of the heap.
fn memory(args: &ArgBlock) -> arch::Words {
    // SAFETY: kernels read and write their own blocks alone, or are stopped.
    unsafe { heap(args).words() }
}

/// A block of so many words, nobody's before.
fn words(args: &ArgBlock, words: usize) -> DevicePtr<u32> {
    let block = heap(args).malloc(layout::bytes(words * 4));
    block.expect("there is room").cast()
}

/// The first word of a block.
fn first<T>(block: DevicePtr<T>) -> usize {
    block.granule() as usize * 4
}

/// Run mode, explored schedules, and those in the model of memory.
fn modes() -> Vec<HostConfig> {
    let common = HostConfig {
        unwritten: true,
        warp_width: 4,
        threads: 2,
        ..HostConfig::default()
    };
    let explored = |seed, races| HostConfig {
        mode: Mode::Explore { seed },
        races,
        ..common.clone()
    };
    let mut modes = vec![common.clone()];
    modes.extend((0..3).map(|seed| explored(seed, false)));
    modes.extend((0..3).map(|seed| explored(seed, true)));
    modes
}

/// A device, a heap, and words that lanes may use.
fn world(config: HostConfig) -> (Device, Pool<WarpHeap>, DeviceVec<u32>) {
    let device = device(config);
    let pool = device.reserve::<WarpHeap>(1 << 20).expect("a pool");
    let out = DeviceVec::<u32>::zeroed(&device, 64).expect("room");
    (device, pool, out)
}

/// What each mode says of a kernel of one lane that is to be stopped.
fn told(name: &'static str, entry: HostEntry) -> Vec<String> {
    let told = modes().into_iter().map(|config| {
        let (device, pool, out) = world(config);
        stopped(&device, name, entry, (1, 1), args([pool.arg(), out.arg()]))
    });
    told.collect()
}

/// That a kernel runs to its end, in each mode and in several shapes.
fn runs(name: &'static str, entry: HostEntry) {
    runs_in(name, entry, &[(1, 1), (3, 7)]);
}

fn runs_in(name: &'static str, entry: HostEntry, shapes: &[(u32, u32)]) {
    for config in modes() {
        for &shape in shapes {
            let (device, pool, out) = world(config.clone());
            let all = args([pool.arg(), out.arg()]);
            launch(&device, name, entry, shape, all)
                .unwrap_or_else(|error| panic!("{name} in {config:?}: {error}"));
        }
    }
}

/// Checks what all modes say of a read of this word of a block of so many bytes.
#[track_caller]
fn tells(name: &'static str, entry: HostEntry, did: &str, (word, bytes): (u32, u32)) {
    for message in told(name, entry) {
        let place = "block 0, warp 0, lane 0: read of a word that nobody has written: word ";
        let read = format!("of the heap in argument 1, {did} at {HERE}");
        let block = format!(
            "; it is word {word} of the block of {bytes} bytes that lane 0 of block 0 of kernel {name} "
        );
        let cure = "; write it first, or ask for zeros by calloc";
        assert_tells(&message, name, place, &[&read, &block, cure]);
        assert_eq!(message.matches("nobody has written").count(), 1);
    }
}

unsafe fn plain_read(args: &ArgBlock) {
    let block = words(args, 10);
    // SAFETY: the lane's own block.
    unsafe {
        heap(args).store_at(block, 3, 1);
        heap(args).load_at(block, 3);
        heap(args).load_at(block, 4);
    }
}

unsafe fn atomic_load(args: &ArgBlock) {
    memory(args).load(first(words(args, 1)));
}

unsafe fn addition(args: &ArgBlock) {
    let block = words(args, 2);
    // SAFETY: the lane's own block.
    unsafe { heap(args).atomic_add(block, 1) };
}

unsafe fn exchange_on_condition(args: &ArgBlock) {
    memory(args).compare_exchange(first(words(args, 5)) + 4, 0, 1);
}

#[test]
fn reads_of_all_kinds_are_found() {
    tells("plain_read", plain_read, "read (plain)", (4, 40));
    tells("atomic_load", atomic_load, "loaded (atomic)", (0, 4));
    tells("addition", addition, "changed (atomic)", (0, 8));
    tells(
        "exchange",
        exchange_on_condition,
        "changed (atomic)",
        (4, 20),
    );
}

#[test]
fn the_lines_of_the_read_and_of_the_malloc_are_told() {
    let message = &told("plain_read", plain_read)[0];
    let source = include_str!("main.rs");
    let line = |text: &str| {
        let found = source.lines().position(|line| line.contains(text));
        found.expect("it is there") + 1
    };
    let (read, malloc) = (line(".load_at(block, 4)"), line(".malloc(layout::bytes("));
    assert!(
        message.contains(&format!("read (plain) at {HERE}{read}:")),
        "{message}"
    );
    assert!(
        message.contains(&format!("got from malloc at {HERE}{malloc}:")),
        "{message}"
    );
}

/// A block of two words, of which one is written, becomes larger.
unsafe fn resized<const READS: u32>(args: &ArgBlock) {
    let (heap, block) = (heap(args), words(args, 2));
    // SAFETY: the lane's own block.
    unsafe {
        heap.store(block, 7);
        let block = heap.realloc(block.cast(), layout::bytes(8), 400);
        let block = block.expect("there is room").cast::<u32>();
        assert_eq!(heap.load(block), 7);
        heap.load_at(block, READS);
    }
}

#[test]
fn realloc_copies_what_is_written_and_no_more() {
    let did = "read (plain)";
    tells("resized", resized::<1>, did, (1, 400));
    tells("resized", resized::<2>, did, (2, 400));
    tells("resized", resized::<99>, did, (99, 400));
    let message = &told("resized", resized::<2>)[0];
    assert!(
        message.contains("of kernel resized moved or resized at"),
        "{message}"
    );
    runs("resized", resized::<0>);
}

/// One that cannot become larger is what it was.
unsafe fn not_resized<const READS: u32>(args: &ArgBlock) {
    let (heap, block) = (heap(args), words(args, 2));
    // SAFETY: the lane's own block.
    unsafe {
        heap.store(block, 7);
        let resized = heap.realloc(block.cast(), layout::bytes(8), 64 << 20);
        assert!(resized.is_err());
        heap.load_at(block, READS);
    }
}

#[test]
fn a_block_that_stays_is_as_written_as_before() {
    tells("not_resized", not_resized::<1>, "read (plain)", (1, 8));
    runs("not_resized", not_resized::<0>);
}

/// A block of ten words is moved, as a compaction does it: with its words, by who reads all of them.
unsafe fn moved<const READS: usize>(args: &ArgBlock) {
    let (memory, from, to) = (memory(args), words(args, 10), words(args, 10));
    let block = layout::bytes(40);
    memory.write(first(from) + 3, 1);
    memory.note_free(to.cast(), block);
    memory.note_moving(from.cast(), block);
    for word in 0..10 {
        memory.write(first(to) + word, memory.read(first(from) + word));
    }
    memory.note_moved(to.cast(), block);
    memory.read(first(to) + READS);
}

#[test]
fn a_block_that_moves_takes_along_what_is_not_written() {
    tells("moved", moved::<2>, "read (plain)", (2, 40));
    runs("moved", moved::<3>);
}

/// A vector of three elements has room for four.
unsafe fn beyond_the_end(args: &ArgBlock) {
    let (heap, mut list) = (heap(args), HeapVec::<u32>::new());
    for value in 0..3 {
        list.push(heap, value).expect("there is room");
    }
    assert_eq!((list.get(heap, 2), list.capacity()), (Some(2), 4));
    // SAFETY: the vector's own block.
    unsafe { heap.load_at(list.as_ptr(), 3) };
}

#[test]
fn an_element_beyond_the_end_of_a_vector_is_found() {
    tells("beyond_the_end", beyond_the_end, "read (plain)", (3, 16));
}

/// Takes a block and says where it is.
unsafe fn takes(args: &ArgBlock) {
    words_after_heap(args)[0].store(words(args, 8).granule());
}

/// Writes its second word.
unsafe fn writes(args: &ArgBlock) {
    let block = DevicePtr::<u32>::from_granule(words_after_heap(args)[0].load());
    // SAFETY: the test's block.
    unsafe { heap(args).store_at(block, 1, 5) };
}

/// Reads one of them.
unsafe fn reads<const WORD: u32>(args: &ArgBlock) {
    let block = DevicePtr::<u32>::from_granule(words_after_heap(args)[0].load());
    // SAFETY: the test's block.
    unsafe { heap(args).load_at(block, WORD) };
}

#[test]
fn a_later_launch_knows_what_earlier_ones_wrote_and_who_got_the_block() {
    for config in modes() {
        let (device, mut pool, out) = world(config);
        let all = || args([pool.arg(), out.arg()]);
        launch(&device, "takes", takes, (1, 1), all()).expect("it ends");
        launch(&device, "writes", writes, (1, 1), all()).expect("it ends");
        launch(&device, "reads", reads::<1>, (1, 1), all()).expect("it was written");
        let message = stopped(&device, "reads", reads::<0>, (1, 1), all());
        assert!(
            message.contains("of kernel takes got from malloc at"),
            "{message}"
        );
        // In a fresh heap nobody has a block.
        pool.reset().expect("it is made fresh");
        let all = args([pool.arg(), out.arg()]);
        launch(&device, "reads", reads::<0>, (1, 1), all).expect("no block is there");
    }
}

/// One lane takes a block, another one writes it, a third one reads it.
unsafe fn passed_on(args: &ArgBlock) {
    let (memory, turn) = (memory(args), &words_after_heap(args)[1]);
    for _ in 0..3 {
        let seen = turn.load();
        memory.acquire();
        match seen {
            0 if turn.compare_exchange(0, 9) == 0 => {
                // SAFETY: the same arguments.
                unsafe { takes(args) };
                memory.release();
                turn.store(1);
            }
            1 if turn.compare_exchange(1, 9) == 1 => {
                memory.acquire();
                // SAFETY: the same arguments.
                unsafe { writes(args) };
                memory.release();
                turn.store(2);
            }
            // SAFETY: the same arguments.
            2 => unsafe { reads::<1>(args) },
            _ => {}
        }
    }
}

#[test]
fn lanes_write_for_each_other() {
    runs("passed_on", passed_on);
}

#[test]
fn nobody_looks_unless_asked() {
    for config in modes() {
        let (device, pool, out) = world(HostConfig {
            unwritten: false,
            ..config
        });
        let all = args([pool.arg(), out.arg()]);
        launch(&device, "plain_read", plain_read, (1, 1), all).expect("nobody looks");
    }
}

/// Frees a block that is none, which is another option's to find.
unsafe fn frees_twice(args: &ArgBlock) {
    let block = layout::bytes(16);
    let freed = |layout: Layout| memory(args).note_free(DevicePtr::from_granule(9), layout);
    memory(args).note_malloc(DevicePtr::from_granule(9), block);
    freed(block);
    freed(block);
}

#[test]
fn blocks_are_not_checked_for_it() {
    let run = modes().swap_remove(0);
    let (device, pool, out) = world(run);
    let all = args([pool.arg(), out.arg()]);
    launch(&device, "frees_twice", frees_twice, (1, 1), all).expect("nobody checks");
}
