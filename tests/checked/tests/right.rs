//! Programs without mistakes: none is found, and a heap is as usable as without the adaptor.

use warpheap_api::host::{BackendKind, DeviceVec, HostAlloc, LaunchConfig, PlanError};
use warpheap_checked_kernels::{MALLOC_LINE, Step};
use warpheap_checked_tests::{
    BLOCK, GRID, Kind, SLOTS, Site, Subject, World, everywhere, step, with_both,
};
use warpheap_rt::adaptor::Checked;
use warpheap_rt::alloc::WarpHeap;
use warpheap_rt::arch::Words;
use warpheap_rt::host::CheckedConfig;

const POOL: u64 = 8 << 20;

with_both! {
    churned => churns,
    left_over => leaves_some,
    called_together => calls_together,
    filled => fills,
}
everywhere! { churned, left_over, called_together, filled, reset }

/// Blocks come and go in all lanes.
fn churns<A: HostAlloc<Memory = Words>>(site: &Site)
where
    Checked<A>: Subject,
{
    for waiting in [None, Some(0), Some(4)] {
        let world = World::<A>::new(site, POOL, waiting);
        let (grid_dim, block_dim) = match site.is_slow() {
            true => (4, 24),
            false => (256, 256),
        };
        let config = LaunchConfig {
            grid_dim,
            block_dim,
        };
        let lanes = (grid_dim * block_dim) as usize;
        let mut damaged = DeviceVec::<u32>::zeroed(&site.device, lanes).expect("counts");
        let ran = site.kernels.churn(&world.pool, config, &mut damaged, 30);
        ran.expect("nothing is wrong");
        assert!(damaged.to_vec().expect("counts").iter().all(|&n| n == 0));
        assert_eq!(world.inspect(), Default::default());
    }
}

/// What is left is found, with who asked for it.
fn leaves_some<A: HostAlloc<Memory = Words>>(site: &Site)
where
    Checked<A>: Subject,
{
    let world = World::<A>::new(site, POOL, None);
    let lanes = BLOCK * GRID;
    let steps: Vec<_> = (0..lanes)
        .map(|lane| (lane, step(lane as usize, lane * 37, 1 << (lane % 9))))
        .collect();
    world.right(Kind::Malloc, &steps);
    let (left, freed): (Vec<_>, Vec<_>) = steps.iter().partition(|(lane, _)| lane % 3 == 0);
    world.right(Kind::Free, &freed);
    let found = world.inspect();
    assert_eq!(found.mistakes, []);
    assert_eq!(found.live.len(), left.len());
    let bytes: u32 = left.iter().map(|(_, step)| step.size).sum();
    assert_eq!(found.live_bytes(), u64::from(bytes));
    for (lane, Step { slot, size, other }) in left {
        let ptr = world.handle(slot as usize);
        let block = found.live.iter().find(|block| block.ptr == ptr);
        let block = block.expect("it is live");
        assert_eq!(
            (block.layout.size, block.layout.align),
            (size.into(), other.into())
        );
        let malloc = (block.malloc.block, block.malloc.lane);
        assert_eq!(malloc, (lane / BLOCK, lane % BLOCK));
        let line = site.tells_lines().then_some(MALLOC_LINE);
        assert_eq!(block.malloc.line, line);
    }
}

fn calls_together<A: HostAlloc<Memory = Words>>(site: &Site)
where
    Checked<A>: Subject,
{
    let world = World::<A>::new(site, POOL, None);
    let config = LaunchConfig {
        grid_dim: 3,
        block_dim: 40,
    };
    let mut wrong = DeviceVec::<u32>::zeroed(&site.device, 120).expect("counts");
    for _ in 0..2 {
        let ran = site.kernels.together(&world.pool, config, &mut wrong);
        ran.expect("nothing is wrong");
    }
    assert!(wrong.to_vec().expect("counts").iter().all(|&n| n == 0));
    assert_eq!(world.inspect(), Default::default());
}

/// What waits is there for a request that finds nothing else.
fn fills<A: HostAlloc<Memory = Words>>(site: &Site)
where
    Checked<A>: Subject,
{
    let waiting = 4;
    let world = World::<A>::new(site, 2 << 20, Some(waiting));
    let size = 40_000;
    let fill = || {
        // More than there is room for, one after the other.
        for slot in 0..SLOTS {
            let _ = world.run(Kind::Malloc, &[(slot as u32 % BLOCK, step(slot, size, 16))]);
        }
        world.inspect().live
    };
    let full = fill().len();
    assert!((10..SLOTS).contains(&full), "{full}");
    for _ in 0..2 {
        for block in world.inspect().live {
            let slots = world.slots.to_vec().expect("slots");
            let slot = slots.iter().position(|&at| at == block.ptr.granule());
            let slot = slot.expect("its slot");
            world.right(Kind::Free, &[(3, step(slot, size, 16))]);
        }
        assert!(world.inspect().live.is_empty());
        // Blocks that need what waits, too. On Vulkan that stays where it is.
        let stays = match site.device.info().backend {
            BackendKind::Vulkan => waiting as usize,
            _ => 0,
        };
        let again = fill().len();
        assert!((full - stays..=full).contains(&again), "{again} of {full}");
    }
}

/// A heap that was made fresh knows nothing of before.
fn reset(site: &Site) {
    let mut world = World::<WarpHeap>::new(site, POOL, Some(4));
    let block = step(0, 40, 16);
    let config = LaunchConfig {
        grid_dim: 1,
        block_dim: BLOCK,
    };
    for by_kernel in [true, false, true] {
        let steps: Vec<_> = (0..6)
            .map(|lane| (lane, step(lane as usize, 40, 16)))
            .collect();
        world.right(Kind::Malloc, &steps);
        world.right(Kind::Free, &steps[3..]);
        match by_kernel {
            true => {
                let ran = site.kernels.frees_all(&world.pool, config);
                ran.expect("nothing is wrong");
            }
            false => world.pool.reset().expect("reset"),
        }
        assert_eq!(world.inspect(), Default::default());
        assert_eq!(world.used(), 0);
        // The block is of before.
        let found = world.one_wrong(Kind::Free, &[(3, block)]);
        assert_eq!(found.kind, warpheap_api::host::MistakeKind::ForeignHandle);
    }
}

/// A pool is refused that is too small, or to grow, or a quarantine that cannot be.
#[test]
fn impossible_heaps() {
    let site = Site::host(32);
    let plan = |bytes, waiting| {
        let config = CheckedConfig {
            waiting,
            ..CheckedConfig::default()
        };
        <Checked<WarpHeap> as HostAlloc>::plan(bytes, &config)
    };
    let Err(PlanError::TooSmall { least, .. }) = plan(4096, None) else {
        panic!("4096 bytes are enough");
    };
    plan(least, None).expect("the least is enough");
    assert!(matches!(
        plan(least - 16, None),
        Err(PlanError::TooSmall { .. })
    ));
    assert!(matches!(
        plan(POOL, Some(3)),
        Err(PlanError::BadSetting { .. })
    ));
    let growing = site
        .device
        .reserve_growing::<Checked<WarpHeap>>(1 << 20, 2 << 20);
    let text = growing.map(|_| ()).expect_err("it cannot grow").to_string();
    assert!(text.starts_with("Checked heaps cannot grow"), "{text}");
}
