// What kernels can take, each with its launch.
#![deny(unexpected_cfgs)]

use warpheap_rt::api::host::{DeviceBox, DeviceError, DeviceVec, LaunchConfig, Pool, SharedArg};
use warpheap_rt::device::*;
use warpheap_rt::host::DeviceLog;

/// Stands for what `device_module!` makes in a crate with a build script.
pub struct Kernels(warpheap_rt::api::host::Module);

impl Kernels {
    pub fn module(&self, _: &str) -> &warpheap_rt::api::host::Module {
        &self.0
    }
}

#[derive(Clone, Copy, Debug, PartialEq, KernelError)]
#[repr(u32)]
pub enum Trouble {
    TooDeep = 4,
    NotSorted,
}

/// Each lane changes its own element.
#[kernel(allocators = [Bump, WarpHeap])]
pub fn own<A: DeviceAlloc>(
    heap: Heap<A>,
    list: &mut HeapVec<u32>,
    sum: &mut f32,
) -> Result<(), Failure<Trouble>> {
    list.push(heap, 1)?;
    *sum += 1.0;
    if list.len() > 40 { Err(Trouble::TooDeep.into()) } else { Ok(()) }
}

/// All lanes run.
#[kernel]
pub fn per_lane(values: &[u32], mut out: PerLane<u32>, all: Scatter<'_, u32>, on: bool, by: u64) {
    if let Some(i) = out.lane_index() {
        out[i] = values[i.get() as usize] + by as u32;
        if on & (i.get() < all.len()) {
            // SAFETY: each lane has an index of its own.
            unsafe { all.write(i.get(), out.replace(i, 0)) };
        }
    }
}

/// A heap of one allocator.
#[kernel]
pub fn one(heap: Heap<WarpHeap>, at: &mut DevicePtr<u32>, usize: usize, half: i16, wide: f64) {
    if (usize as f64) < wide + half as f64 {
        *at = heap.malloc(layout::bytes(4)).map(|p| p.cast()).unwrap_or(DevicePtr::NULL);
    }
}

/// Containers that lanes share, and other values.
#[kernel]
pub fn shared(heap: Heap<WarpHeap>, map: HeapHashMap<u32, u32>, at: DevicePtr<u32>, pair: [f32; 2]) {
    let _ = (heap, map, at, pair);
}

/// More words than arguments have.
#[derive(Clone, Copy, HeapData)]
#[repr(C)]
pub struct Many([u32; 99]);

/// One value for all lanes.
#[kernel]
pub fn one_for_all(many: &Many, out: &mut u32) {
    *out = many.0[7];
}

/// Words that a block shares.
const ROOM: usize = 40;

/// Shared words, by a number, a constant and a computed number.
#[kernel]
pub fn shares(few: SharedWords<4>, more: SharedWords<'_, ROOM>, most: SharedWords<{ 2 * ROOM }>, mut out: PerLane<u32>) {
    few.store(0, more.fetch_add(1, 2));
    if let Some(i) = out.lane_index() {
        out[i] = most.load(few.len());
    }
}

/// A log, and format strings with arguments of all sorts; the last one has a name of the expansion's.
#[kernel]
pub fn prints(log: Log<'_>, x: u32, y: &mut f32) {
    let argument0 = &x;
    let kept = heap_print!(log, "{{}} {x} {1:>+4} {} {0:#x} {z:.2} {argument0}", x, -1i32, z = *y,);
    heap_print!(log, "no argument");
    *y = kept as u32 as f32;
}

/// Several heaps.
///
/// # Safety
/// Handles are of the heaps.
#[kernel(A = all, B = [Bump, Counted<ScatterAlloc>])]
pub unsafe fn several<A: DeviceAlloc, B: DeviceAlloc>(from: Heap<A>, to: Heap<B>, at: DevicePtr<u32>) {
    // SAFETY: the caller's promise.
    unsafe { to.atomic_add(at, from.load_at(at, 0)) };
}

pub fn launches(
    kernels: &Kernels,
    pool: &Pool<WarpHeap>,
    other: &Pool<Counted<ScatterAlloc>>,
    lists: &mut DeviceVec<HeapVec<u32>>,
    sums: &mut DeviceVec<f32>,
    words: &mut [DeviceVec<u32>; 3],
    at: &mut DeviceVec<DevicePtr<u32>>,
    maps: &DeviceVec<HeapHashMap<u32, u32>>,
    map: SharedArg<HeapHashMap<u32, u32>>,
    many: &DeviceBox<Many>,
    log: &DeviceLog,
) -> Result<(), DeviceError> {
    let config = LaunchConfig::for_num_elems(4);
    kernels.own(pool, config, lists, sums)?;
    let [values, out, all] = words;
    kernels.per_lane(config, values, out, all, true, 1 << 40)?;
    kernels.shares(config, out)?;
    kernels.prints(config, log, 3, sums)?;
    kernels.one_for_all(config, many, out)?;
    kernels.one(pool, config, at, 3, -1, 0.5)?;
    kernels.shared(pool, config, map, DevicePtr::NULL, [1.0, 2.0])?;
    kernels.shared(pool, config, maps.shared(0)?, DevicePtr::<f32>::NULL.cast(), Default::default())?;
    // SAFETY: never launched here.
    unsafe { kernels.several(pool, other, config, DevicePtr::NULL)? };
    Ok(())
}

fn main() {
    use warpheap_rt::api::KernelError;
    assert_eq!(Trouble::from_number(5), Some(Trouble::NotSorted));
    assert_eq!((Trouble::TooDeep.number(), Trouble::from_number(0)), (4, None));
}
