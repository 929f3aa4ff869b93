use super::*;
use clap::Parser;
use warpheap_api::host::BackendKind;

#[derive(clap::Parser)]
struct Program {
    #[command(flatten)]
    options: Options,
}

fn info(backend: BackendKind, max_buffer_bytes: u64) -> DeviceInfo {
    DeviceInfo {
        backend,
        name: "device".into(),
        driver: "driver".into(),
        warp_width: 32,
        max_block_dim: 1024,
        max_grid_dim: 1 << 30,
        max_buffer_bytes,
        memory_bytes: 100 << 30,
    }
}

fn plan(line: &str, device: &DeviceInfo) -> Result<Plan, BenchError> {
    let words = ["bench"].into_iter().chain(line.split_whitespace());
    Plan::new(&Program::parse_from(words).options, device)
}

#[test]
fn a_full_run_on_a_gpu_is_that_of_the_published_tables() {
    let plan = plan("", &info(BackendKind::Cuda, 100 << 30)).unwrap();
    assert_eq!((plan.pool, plan.repeats), (8 << 30, 21));
    let cells = |scenario| plan.cells.iter().filter(move |c| c.scenario == scenario);
    for cell in cells(Scenario::S1) {
        let n = match cell.size().unwrap() {
            // The largest power of two of which half the pool has room.
            size @ 8192.. => ((4u64 << 30) / u64::from(size)) as u32,
            _ => 1 << 20,
        };
        assert_eq!(cell.n(), n, "{cell:?}");
    }
    let n = |cell: &Cell| cell.n();
    assert_eq!(
        cells(Scenario::S2).map(n).collect::<Vec<_>>(),
        [1 << 20, 1 << 20, 1 << 20, 1 << 18]
    );
    assert_eq!(cells(Scenario::S3).count(), 3 * 6 + 5);
    assert_eq!(cells(Scenario::S5).map(n).next(), Some(1 << 16));
    assert!(cells(Scenario::S6).all(|cell| cell.pool == 2 << 30));
    assert!(cells(Scenario::S7).all(|cell| cell.n() == 100_000));
    assert_eq!(cells(Scenario::S8).next().unwrap().case, "8 GiB");
    assert!(cells(Scenario::S10).all(|cell| cell.pool == 1 << 30));
    // Programs are not in the plan, and there is no trace.
    let others = [
        Scenario::S14,
        Scenario::S15,
        Scenario::S16,
        Scenario::S17,
        Scenario::S20,
    ];
    for scenario in Scenario::ALL {
        let own = !others.contains(&scenario);
        assert_eq!(cells(scenario).count() != 0, own, "{scenario:?}");
    }
    assert!(cells(Scenario::S18).all(|cell| cell.n() == 1 << 20));
    assert!(cells(Scenario::S19).all(|cell| cell.pool == 1 << 30 && cell.fill().is_some()));
    // A pool is made once for all cells that share it.
    let mut pools: Vec<_> = plan.cells.iter().map(|cell| cell.pool).collect();
    pools.dedup();
    assert_eq!(pools, [8 << 30, 2 << 30, 1 << 30]);
}

#[test]
fn a_device_with_small_buffers_gets_a_smaller_pool_and_fewer_lanes() {
    let small = info(BackendKind::Vulkan, 1 << 30);
    let plan = plan("--scenario S1 --sizes 4096", &small).unwrap();
    assert_eq!(plan.pool, 1 << 30);
    assert_eq!(plan.cells[0].n(), 1 << 17);
}

#[test]
fn numbers_that_were_asked_for_are_kept_or_refused() {
    let host = info(BackendKind::Host, 1 << 34);
    let kept = plan("--scenario S1 --n 1000 --sizes 100 --pool 1M", &host).unwrap();
    let cell = &kept.cells[0];
    assert_eq!((cell.n(), cell.size()), (1000, Some(100)));
    let text = plan("--n 100000 --sizes 100 --pool 1M", &host)
        .unwrap_err()
        .to_string();
    assert!(text.contains("100000 blocks of 100 bytes"), "{text}");
    assert!(plan("--sizes 100 --pool 100", &host).is_err());
    // Lanes of a permutation are a power of two.
    let handed = plan("--scenario S12 --n 1000", &host).unwrap();
    assert!(handed.cells.iter().all(|cell| cell.n() == 512));
}
