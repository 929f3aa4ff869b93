//! What the host knows of containers in vectors: of which heap they are, and whom it keeps for them.

mod common;

use common::{args, prepare, running};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use warpheap_api::HeapData;
use warpheap_api::abi::ArgBlock;
use warpheap_api::host::{Arg, Device, DeviceError, DeviceVec, IntoArg, Pool, Prepared, SharedArg};
use warpheap_rt::alloc::Bump;
use warpheap_rt::container::{HeapQueue, HeapVec};

type Queue = HeapQueue<u32>;

/// Could do anything with its arguments that safe code can.
unsafe fn anything(_: &ArgBlock) {}

static GO: AtomicBool = AtomicBool::new(false);

/// Runs until it may end.
unsafe fn held(_: &ArgBlock) {
    while !GO.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(1));
    }
}

struct World {
    device: Device,
    pool: Pool<Bump>,
    owner: Arc<()>,
}

impl World {
    fn new() -> Self {
        let device = running(4);
        World {
            pool: device.reserve::<Bump>(64 << 10).expect("a pool"),
            device,
            owner: Arc::new(()),
        }
    }

    fn vec<T: HeapData>(&self) -> DeviceVec<T> {
        DeviceVec::zeroed(&self.device, 3).expect("a vector")
    }

    /// A queue that the host owns.
    fn owned(&self) -> Arg {
        // SAFETY: nobody uses it.
        unsafe { SharedArg::owned(self.pool.raw(), Queue::NONE, self.owner.clone()) }.into_arg()
    }

    fn launch<const N: usize>(&self, all: [Arg; N]) -> Prepared {
        prepare(&self.device, "anything", anything, (1, 4), args(all))
    }

    fn run<const N: usize>(&self, all: [Arg; N]) -> Result<(), DeviceError> {
        self.launch(all).run().map(|_| ())
    }

    fn kept(&self) -> bool {
        Arc::strong_count(&self.owner) > 1
    }
}

/// Vectors where the queue may be have it until they are filled with zeros, or dropped.
#[test]
fn a_vector_keeps_what_a_kernel_may_have_left_there() {
    let world = World::new();
    let heap = || world.pool.arg();
    let direct = world.vec::<Queue>();
    world
        .run([heap(), direct.arg_mut(), world.owned()])
        .unwrap();
    assert!(world.kept());
    world.run([heap(), direct.arg()]).unwrap();
    direct.fill_zero().unwrap();
    assert!(!world.kept());

    let within = world.vec::<HeapVec<[Queue; 2]>>();
    world
        .run([heap(), world.owned(), within.arg_mut()])
        .unwrap();
    assert!(world.kept());
    drop(within);
    assert!(!world.kept());

    // It is only read.
    let read = world.vec::<Queue>();
    world.run([heap(), world.owned(), read.arg()]).unwrap();
    assert!(!world.kept());

    // There is no room for a queue.
    let other = world.vec::<HeapVec<u32>>();
    world.run([heap(), world.owned(), other.arg_mut()]).unwrap();
    assert!(!world.kept());
}

/// A kernel moves containers from vector to vector, also without a heap.
#[test]
fn what_is_known_goes_with_containers_to_other_vectors() {
    let world = World::new();
    let other = world.device.reserve::<Bump>(64 << 10).expect("a pool");
    let (first, second) = (world.vec::<Queue>(), world.vec::<Queue>());
    world.run([world.owned(), first.arg_mut()]).unwrap();
    world.run([second.arg_mut(), first.arg()]).unwrap();
    drop(first);
    assert!(world.kept());
    let taken = second.shared(1).unwrap();
    let refused = [
        world.run([other.arg(), second.arg()]),
        world.run([other.arg(), taken.clone().into_arg()]),
    ];
    for refused in refused {
        let text = refused.expect_err("it is of another heap").to_string();
        assert!(text.contains("of another heap (of Bump)"), "{text}");
    }
    world.run([world.pool.arg(), second.arg()]).unwrap();
    drop(second);
    assert!(world.kept());
    world.run([world.pool.arg(), taken.into_arg()]).unwrap();
    assert!(!world.kept());
    // Of two heaps at once, without any.
    let mixed = world.vec::<Queue>();
    // SAFETY: nobody uses it.
    let of_other = unsafe { SharedArg::assume_of(&other, Queue::NONE) }.into_arg();
    let both = [world.owned(), of_other.clone(), mixed.arg_mut()];
    let text = world.run(both).expect_err("of two heaps").to_string();
    assert!(
        text.contains("argument 2 is a container of another heap"),
        "{text}"
    );
    // Nothing came of that, and nobody reaches them where there is no heap and no vector.
    world.run([world.owned(), of_other.clone()]).unwrap();
    assert!(!world.kept());
    world.run([of_other, mixed.arg_mut()]).unwrap();
}

/// With several heaps each container is of one of them.
#[test]
fn a_container_is_of_one_of_several_heaps() {
    let world = World::new();
    let [second, third] = [(); 2].map(|()| world.device.reserve::<Bump>(64 << 10).expect("a pool"));
    world
        .run([second.arg(), world.pool.arg(), world.owned()])
        .unwrap();
    let refused = world.run([second.arg(), third.arg(), world.owned()]);
    let text = refused.expect_err("it is of the first").to_string();
    assert!(text.contains("the launch's (of Bump and Bump)"), "{text}");
}

/// Work of a stream has what it was queued with.
#[test]
fn what_is_cleared_on_a_stream_is_kept_for_what_was_queued_before() {
    let world = World::new();
    let stream = world.device.stream().expect("a stream");
    let mut queues = world.vec::<Queue>();
    world.run([world.owned(), queues.arg_mut()]).unwrap();
    let hold = prepare(&world.device, "held", held, (1, 1), args([queues.arg()]));
    stream.launch(hold).expect("queued");
    stream.fill_zero(&mut queues).expect("queued");
    drop(queues);
    assert!(world.kept());
    GO.store(true, Ordering::Relaxed);
    stream.wait().expect("it works");
    assert!(!world.kept());
}
