//! Functions stand for a tool here, and keep what they are told.

use super::memory::{Batch, Info};
use super::*;
use crate::CudaConfig;
use std::ffi::{CStr, c_uint};
use std::sync::{Mutex, MutexGuard, PoisonError};
use warpheap_api::abi::{ArgBlock, HEAP_PARAMS};
use warpheap_api::host::{Arg, HeapArg, KernelImage, LaunchConfig, Prepared};

/// What the tool was told.
static HEARD: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// The places for a tool's functions are there once: one test has them at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// What the tool calls its domain.
const DOMAIN: usize = 77;

type Address = *const c_void;
type Table = *const *mut Address;

/// A table that a tool asks for, as its side sees it.
#[repr(C)]
struct Callbacks {
    bytes: usize,
    module_table: extern "C" fn(c_int, *mut Table, *mut c_uint) -> c_int,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn hear(what: String) {
    lock(&HEARD).push(what);
}

fn heard() -> Vec<String> {
    std::mem::take(&mut *lock(&HEARD))
}

/// # Safety
/// A text of C.
unsafe fn read(text: *const c_char) -> String {
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned()
}

unsafe extern "C" fn create(name: *const c_char) -> *mut c_void {
    // SAFETY: what NVTX promises; so below.
    hear(format!("domain {}", unsafe { read(name) }));
    std::ptr::without_provenance_mut(DOMAIN)
}

unsafe extern "C" fn name_category(domain: *mut c_void, category: u32, name: *const c_char) {
    assert_eq!(domain.addr(), DOMAIN);
    // SAFETY: see above.
    hear(format!("category {category} {}", unsafe { read(name) }));
}

unsafe extern "C" fn push(domain: *mut c_void, attributes: *const Attributes) -> c_int {
    assert_eq!(domain.addr(), DOMAIN);
    // SAFETY: see above.
    let it = unsafe { &*attributes };
    assert_eq!((it.version, it.bytes, it.message_kind), (3, 48, 1));
    // SAFETY: see above.
    let name = unsafe { read(it.message) };
    hear(format!("push {name} {} {}", it.category, it.payload));
    0
}

unsafe extern "C" fn pop(domain: *mut c_void) -> c_int {
    assert_eq!(domain.addr(), DOMAIN);
    hear("pop".to_string());
    0
}

unsafe extern "C" fn name_stream(stream: CUstream, name: *const c_char) {
    // SAFETY: see above.
    hear(format!("stream {} {}", stream.addr(), unsafe {
        read(name)
    }));
}

unsafe extern "C" fn name_regions(domain: *mut c_void, batch: *const Batch) {
    assert_eq!(domain.addr(), DOMAIN);
    // SAFETY: see above.
    let (regions, first) = unsafe { ((*batch).regions, &*(*batch).first) };
    assert_eq!(regions, 1);
    // SAFETY: see above.
    let name = unsafe { read(first.name) };
    hear(format!("memory {:#x} {name}", first.address));
}

/// The table of a module and its length, as tools get it.
fn table(export: extern "C" fn(u32) -> *const c_void, module: c_int) -> Option<(Table, usize)> {
    // SAFETY: NVTX's table of callbacks.
    let callbacks = unsafe { &*export(1).cast::<Callbacks>() };
    assert_eq!(callbacks.bytes, size_of::<Callbacks>());
    let (mut table, mut len) = (std::ptr::null(), 0);
    let found = (callbacks.module_table)(module, &mut table, &mut len);
    (found == 1).then_some((table, len as usize))
}

/// Sets functions of a module by their numbers.
fn set(export: extern "C" fn(u32) -> *const c_void, module: c_int, functions: &[(usize, Address)]) {
    let (table, len) = table(export, module).unwrap();
    for &(number, function) in functions {
        assert!((1..len).contains(&number));
        // SAFETY: a number within the table, whose entries are addresses of places.
        unsafe { *(*table.add(number)) = function };
    }
}

extern "C" fn listens(export: extern "C" fn(u32) -> *const c_void) -> c_int {
    let domains = [
        (4, push as Push as Address),
        (5, pop as Pop as Address),
        (8, name_category as NameCategory as Address),
        (12, create as Create as Address),
    ];
    set(export, 5, &domains);
    set(export, 2, &[(5, name_stream as NameStream as Address)]);
    1
}

extern "C" fn refuses(_: extern "C" fn(u32) -> *const c_void) -> c_int {
    0
}

unsafe extern "C" fn names_memory(info: *mut Info) -> c_int {
    // SAFETY: see above.
    let (extension, segment) = unsafe { ((*info).extension, &*(*info).first) };
    assert_eq!(extension, 1);
    let call: unsafe extern "C" fn(*mut c_void, *const Batch) = name_regions;
    // SAFETY: there are 63 places.
    unsafe { *segment.slots.cast::<Address>().cast_mut().add(6) = call as Address };
    1
}

/// Takes all functions back.
fn empty() {
    for module in 1..=6 {
        let (_, len) = table(slots::export_table, module).unwrap();
        for number in 1..len {
            set(slots::export_table, module, &[(number, std::ptr::null())]);
        }
    }
}

#[test]
fn a_tool_hears_of_launches_streams_and_memory() {
    let _alone = lock(&ALONE);
    empty();
    // SAFETY: functions as a tool has them.
    let tool = unsafe { Tool::attach(listens, Some(names_memory)) }.unwrap();
    assert_eq!(
        heard(),
        [
            "domain warpheap",
            "category 1 waited for",
            "category 2 queued"
        ]
    );
    {
        let _outer = tool.range("3 launches, a_l1 to c_l1", Category::Runs, 768);
        let _inner = tool.range("b_l1", Category::Queues, 256);
    }
    assert_eq!(
        heard(),
        [
            "push 3 launches, a_l1 to c_l1 1 768",
            "push b_l1 2 256",
            "pop",
            "pop"
        ]
    );
    tool.name_stream(std::ptr::without_provenance_mut(9), "warpheap stream");
    tool.name_memory(0x7f00_0001_0000, "warpheap pool WarpHeap 64 MiB");
    assert_eq!(
        heard(),
        [
            "stream 9 warpheap stream",
            "memory 0x7f0000010000 warpheap pool WarpHeap 64 MiB"
        ]
    );
    // No more than compute-sanitizer takes, and nothing that it does not print.
    tool.name_memory(1, &format!("é{}", "x".repeat(60)));
    assert_eq!(heard(), [format!("memory 0x1 ??{}", "x".repeat(47))]);
    // A tool may take its functions back.
    empty();
    drop(tool.range("d_l1", Category::Runs, 1));
    assert!(heard().is_empty());
}

#[test]
fn a_tool_that_refuses_hears_nothing() {
    let _alone = lock(&ALONE);
    empty();
    // SAFETY: functions as a tool has them.
    let tool = unsafe { Tool::attach(refuses, Some(names_memory)) };
    assert!(tool.is_none() && heard().is_empty());
}

#[test]
fn every_module_has_its_table() {
    let lens = [16, 9, 15, 7, 16, 7];
    for (module, want) in (1..).zip(lens) {
        let (table, len) = table(slots::export_table, module).unwrap();
        assert_eq!(len, want);
        for at in 0..=len {
            // SAFETY: as many entries, and one behind them.
            let entry = unsafe { *table.add(at) };
            assert_eq!(entry.is_null(), at == 0 || at == len, "{module} {at}");
        }
    }
    assert!(table(slots::export_table, 0).is_none());
    assert!(table(slots::export_table, 7).is_none());
    assert!(slots::export_table(2).is_null() && !slots::export_table(3).is_null());
}

#[test]
fn what_is_no_tool_is_passed_over() {
    for path in ["", NONE, "libno-such-tool.so.1"] {
        assert!(load(path.as_ref()).is_none());
    }
    #[cfg(target_os = "linux")]
    assert!(load("libc.so.6".as_ref()).is_none());
}

unsafe fn no_host_code(_: &ArgBlock) {}

/// What the backend tells on its own, where there is a GPU.
#[test]
fn on_a_gpu_launches_are_ranges_and_memory_has_names() {
    let _alone = lock(&ALONE);
    empty();
    // SAFETY: functions as a tool has them.
    let tool = TOOL.get_or_init(|| unsafe { Tool::attach(listens, Some(names_memory)) });
    assert!(tool.is_some());
    let device = match crate::open_unchecked(&CudaConfig::default()) {
        Ok(device) => device,
        Err(error) => {
            let required = std::env::var("WARPHEAP_REQUIRE_CUDA").is_ok_and(|value| value == "1");
            assert!(!required, "WARPHEAP_REQUIRE_CUDA=1, but: {error}");
            eprintln!("SKIPPED, nothing was tested on a GPU: {error}");
            empty();
            return;
        }
    };
    let image = KernelImage {
        name: "cuda-test-kernels",
        ptx: Some(include_str!("../../tests/common/kernels.ptx")),
        spirv: None,
    };
    let module = device.load(&image).unwrap();
    let heap = HeapArg::new(device.alloc(1 << 20).unwrap(), 1 << 18, [0; HEAP_PARAMS]);
    let config = LaunchConfig {
        grid_dim: 2,
        block_dim: 32,
    };
    // SAFETY: the kernel reads none of its arguments, and nothing runs on the host.
    let empty_kernel = || unsafe {
        let args = vec![Arg::Heap(heap.clone())];
        Prepared::new(module.clone(), "empty_l1", no_host_code, config, args)
    };
    let named = |heard: &[String], name: &str| {
        let at = heard.iter().position(|what| what.ends_with(name));
        at.unwrap_or_else(|| panic!("no `{name}` in {heard:#?}"))
    };
    let before = heard();
    named(&before, " warpheap buffer 1 MiB");
    empty_kernel().run().unwrap();
    let ran = heard();
    let push = named(&ran, "push empty_l1 1 64");
    let pool = named(&ran, " warpheap pool 1 MiB");
    named(&ran, " warpheap launches");
    assert!(push < pool && pool < named(&ran, "pop"));
    let stream = device.stream().unwrap();
    empty_kernel().on(&stream).unwrap();
    stream.wait().unwrap();
    let queued = heard();
    let push = named(&queued, "push empty_l1 2 64");
    assert_eq!(queued[push + 1], "pop");
    named(&queued, " warpheap stream");
    drop((stream, heap, module, device));
    empty();
}
