//! The host's owners: what goes in comes back, what kernels add is there, and dropping frees all of it.

use warpheap_api::HeapData;
use warpheap_api::host::{DeviceVec, HostAlloc, LaunchConfig, Pool};
use warpheap_container_kernels::list::PENDING;
use warpheap_container_kernels::queue::{POP, PUSH, QueueEvent};
use warpheap_container_kernels::string::{StringOp, TEXT};
use warpheap_container_tests::{Site, assert_empty};
use warpheap_rt::alloc::{RandomWalkMalloc, WarpHeap32, WarpHeap64};
use warpheap_rt::arch::Words;
use warpheap_rt::container::{HeapString, HeapVec};
use warpheap_rt::host::container::{
    DeviceChunkQueue, DeviceHeapVec, DeviceList, DeviceQueue, DeviceSharedVec, DeviceString,
    free_strings, free_vectors, read_strings, read_vectors,
};

const CONTENDED: u32 = 2;

/// So many different elements.
fn elements(number: u32) -> Vec<[u32; 2]> {
    (0..number).map(|i| [i + 1_000_000, !i]).collect()
}

fn config(lanes: u32) -> LaunchConfig {
    LaunchConfig {
        grid_dim: lanes.div_ceil(40),
        block_dim: 40,
    }
}

fn buffer<T: HeapData + Copy>(site: &Site, values: &[T]) -> DeviceVec<T> {
    DeviceVec::from_slice(&site.device, values).expect("a buffer")
}

fn sorted(mut values: Vec<[u32; 2]>) -> Vec<[u32; 2]> {
    values.sort();
    values
}

/// Owners of so many elements, to which a kernel of so many lanes adds three for each.
fn lists(site: &Site, pool: &Pool<RandomWalkMalloc>, numbers: &[u32], lanes: u32) {
    for &number in numbers {
        let list = DeviceList::from_slice_in(pool, &elements(number)).expect("a list");
        assert_eq!(list.to_vec().unwrap(), elements(number));
        let codes = buffer(site, &vec![PENDING; 3 * lanes as usize]);
        let launch =
            site.kernels
                .push_to_lists(pool, config(lanes), list.ptr().cast(), 1, 1, 3, &codes);
        launch.expect("pushes");
        let mut expected = elements(number);
        expected.extend((0..lanes).flat_map(|lane| (0..3).map(move |k| [lane, k])));
        assert_eq!(list.len().unwrap(), expected.len());
        assert_eq!(sorted(list.to_vec().unwrap()), sorted(expected));
        drop(list);
        assert_empty(pool);
    }
}

/// The same with shared vectors.
fn shared_vectors(site: &Site, pool: &Pool<RandomWalkMalloc>, numbers: &[u32], lanes: u32) {
    for &number in numbers {
        let vector = DeviceSharedVec::from_slice_in(pool, &elements(number)).expect("a vector");
        assert_eq!(vector.to_vec().unwrap(), elements(number));
        let added = 3 * lanes as usize;
        let (mut codes, indices) = (
            buffer(site, &vec![PENDING; added]),
            buffer(site, &vec![0; added]),
        );
        // Lanes give up where one that makes a segment stands still, which schedules that are explored may do to it.
        for _ in 0..100 {
            let launch =
                site.kernels
                    .push_shared(pool, config(lanes), vector.handle(), 3, &codes, &indices);
            launch.expect("pushes");
            let left = codes.to_vec().unwrap().into_iter();
            let left: Vec<u32> = left
                .map(|code| if code == CONTENDED { PENDING } else { code })
                .collect();
            if !left.contains(&PENDING) {
                break;
            }
            codes.copy_from(&left).expect("those that are left");
        }
        let found = vector.to_vec().unwrap();
        assert_eq!(found.len(), number as usize + added);
        for (slot, index) in indices.to_vec().unwrap().into_iter().enumerate() {
            assert_eq!(found[index as usize], [slot as u32 / 3, slot as u32 % 3]);
        }
        assert_eq!(found[..number as usize], elements(number));
        drop(vector);
        assert_empty(pool);
    }
    assert!(DeviceSharedVec::<u32, _>::new_in(pool, 32).is_err());
}

fn queues(site: &Site, pool: &Pool<RandomWalkMalloc>) {
    let device = &site.device;
    let ops = buffer(site, &[vec![POP; 5], vec![PUSH; 3]].concat());
    let events = || DeviceVec::<QueueEvent>::zeroed(device, 8).expect("events");
    let clock = buffer(site, &[0]);
    let mut expected = elements(40);
    expected.drain(..5);
    expected.extend((5..8u32).map(|i| [i, !i]));

    let queue = DeviceQueue::from_slice_in(pool, &elements(40), 50).expect("a queue");
    assert_eq!(queue.to_vec().unwrap(), elements(40));
    let launch =
        site.kernels
            .use_queue(pool, config(1), queue.handle(), 8, &ops, &clock, &events());
    launch.expect("uses it");
    assert_eq!(queue.to_vec().unwrap(), expected);
    drop(queue);
    assert_empty(pool);

    let queue = DeviceChunkQueue::from_slice_in(pool, &elements(40), 2).expect("a queue");
    assert_eq!(queue.to_vec().unwrap(), elements(40));
    let events = events();
    let launch =
        site.kernels
            .use_chunk_queue(pool, config(1), queue.handle(), 8, &ops, &clock, &events);
    launch.expect("uses it");
    assert_eq!(events.to_vec().unwrap()[4].value, 1_000_004);
    assert_eq!(queue.to_vec().unwrap(), expected);
    drop(queue);
    assert_empty(pool);

    let empty = DeviceQueue::<u32, _>::new_in(pool, 0).expect("a queue");
    assert_eq!(empty.to_vec().unwrap(), []);
    let empty = (
        empty,
        DeviceChunkQueue::<u32, _>::new_in(pool, 5).expect("a queue"),
    );
    assert_eq!(empty.1.to_vec().unwrap(), []);
    drop(empty);
    assert_empty(pool);
}

fn strings(site: &Site, pool: &Pool<RandomWalkMalloc>) {
    for text in ["", "abc", "größer als acht"] {
        let string = DeviceString::from_bytes_in(pool, text.as_bytes()).expect("a string");
        assert_eq!(string.to_bytes().unwrap(), text.as_bytes());
    }
    assert_empty(pool);
    let mut strings = DeviceVec::<HeapString>::zeroed(&site.device, 20).expect("strings");
    let ops: Vec<StringOp> = (0..20)
        .map(|value| StringOp { kind: TEXT, value })
        .collect();
    let text = *b"abcdefghijklmnopqrst";
    let words: Vec<u32> = text
        .chunks(4)
        .map(|b| u32::from_le_bytes(b.try_into().unwrap()))
        .collect();
    let codes = buffer(site, &[1; 20]);
    let (ops, words) = (buffer(site, &ops), buffer(site, &words));
    let launch = site
        .kernels
        .edit_strings(pool, config(20), &strings, &ops, &words, &codes);
    launch.expect("edits");
    let found = read_strings(pool, &strings).expect("strings");
    for (i, string) in found.iter().enumerate() {
        assert_eq!(string, &text[..i]);
    }
    // SAFETY: these are all copies.
    unsafe { free_strings(pool, &mut strings) }.expect("frees");
    assert!(
        read_strings(pool, &strings)
            .unwrap()
            .iter()
            .all(Vec::is_empty)
    );
    assert_empty(pool);
}

fn vectors(site: &Site, pool: &Pool<RandomWalkMalloc>) {
    for number in [0, 3, 1000] {
        let vector = DeviceHeapVec::from_slice_in(pool, &elements(number)).expect("a vector");
        assert_eq!(vector.to_vec().unwrap(), elements(number));
    }
    assert_empty(pool);
    let mut vectors = DeviceVec::<HeapVec<u32>>::zeroed(&site.device, 30).expect("vectors");
    site.kernels
        .fill_vectors(pool, config(30), &vectors)
        .expect("fills");
    let expected: Vec<Vec<u32>> = (0..30)
        .map(|i| (0..i).map(|k| i * 100 + k).collect())
        .collect();
    assert_eq!(read_vectors(pool, &vectors).unwrap(), expected);
    let other = site.heap::<RandomWalkMalloc>(pool.bytes());
    let refused = read_vectors(&other, &vectors).expect_err("another heap's");
    assert!(refused.to_string().contains("of another heap"), "{refused}");
    // SAFETY: nothing is freed.
    let refused = unsafe { free_vectors(&other, &mut vectors) };
    refused.expect_err("another heap's");
    // SAFETY: these are all copies.
    unsafe { free_vectors(pool, &mut vectors) }.expect("frees");
    assert!(
        read_vectors(pool, &vectors)
            .unwrap()
            .iter()
            .all(Vec::is_empty)
    );
    assert_empty(pool);
}

/// An owner of what a kernel wrote over says so, and can be dropped.
fn broken(site: &Site, pool: &Pool<RandomWalkMalloc>) {
    let vector = DeviceHeapVec::from_slice_in(pool, &elements(3)).expect("a vector");
    let at = vector.ptr().byte_offset(0);
    let whole = [0, u32::MAX, u32::MAX].map(u32::to_ne_bytes).concat();
    // SAFETY: nobody else has this memory.
    unsafe { pool.raw().buffer.write(at, &whole) }.expect("writes");
    assert!(vector.to_vec().is_err());
    // Not freed: the block in place of the vector's own would be somebody else's.
    std::mem::forget(vector);
    let list = DeviceList::<u32, _>::new_in(pool).expect("a list");
    let at = list.ptr().byte_offset(0);
    // The list's own block as its only chunk, again and again.
    let ring = [list.ptr().granule() + 1, 4, 0, 0]
        .map(u32::to_ne_bytes)
        .concat();
    // SAFETY: nobody else has this memory.
    unsafe { pool.raw().buffer.write(at, &ring) }.expect("writes");
    assert!(list.to_vec().is_err());
    drop(list);
    let _ = site;
}

/// In a heap of any granules what goes in comes back.
fn of_granules<A: HostAlloc<Memory = Words>>(site: &Site) {
    let pool = site.heap::<A>(8 << 20);
    let all = elements(1000);
    let vector = DeviceHeapVec::from_slice_in(&pool, &all).expect("a vector");
    let list = DeviceList::from_slice_in(&pool, &all).expect("a list");
    let shared = DeviceSharedVec::from_slice_in(&pool, &all).expect("a vector");
    let queue = DeviceQueue::from_slice_in(&pool, &all, 1200).expect("a queue");
    let chunks = DeviceChunkQueue::from_slice_in(&pool, &all, 5).expect("a queue");
    let string = DeviceString::from_bytes_in(&pool, b"nine bytes").expect("a string");
    assert_eq!(vector.to_vec().unwrap(), all);
    assert_eq!(sorted(list.to_vec().unwrap()), all);
    assert_eq!(sorted(shared.to_vec().unwrap()), all);
    assert_eq!(queue.to_vec().unwrap(), all);
    assert_eq!(chunks.to_vec().unwrap(), all);
    assert_eq!(string.to_bytes().unwrap(), b"nine bytes");
    drop((vector, list, shared, queue, chunks, string));
    assert_empty(&pool);
}

fn everything(site: &Site) {
    of_granules::<WarpHeap32>(site);
    of_granules::<WarpHeap64>(site);
    let pool = site.heap::<RandomWalkMalloc>(4 << 20);
    lists(site, &pool, &[0, 3, 1000], 40);
    shared_vectors(site, &pool, &[0, 16, 1000], 40);
    queues(site, &pool);
    strings(site, &pool);
    vectors(site, &pool);
    broken(site, &pool);
}

fn few(site: &Site) {
    let pool = site.heap::<RandomWalkMalloc>(1 << 20);
    lists(site, &pool, &[3], 6);
    shared_vectors(site, &pool, &[3], 6);
    queues(site, &pool);
}

#[test]
fn host() {
    everything(&Site::host(32));
    everything(&Site::host(4));
}

warpheap_container_tests::explored!(everything);
warpheap_container_tests::explored_few!(few);
warpheap_container_tests::on_gpus!(everything);
