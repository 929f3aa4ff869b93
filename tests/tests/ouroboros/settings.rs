//! Settings, and what a heap's metadata take.

use crate::{POOL, Settings, free_all, heap, used};
use warpheap_api::host::{HostAlloc, PlanError};
use warpheap_api::layout;
use warpheap_rt::alloc::{OuroborosCVL, OuroborosPS, OuroborosPVA, OuroborosPVL};

#[test]
fn settings_out_of_range_are_named() {
    type Change = fn(&mut Settings);
    let changes: [(Change, &str); 9] = [
        (|c| c.chunk_bytes = 5000, "chunk_bytes"),
        (|c| c.chunk_bytes = 128 << 10, "chunk_bytes"),
        (|c| c.queues = 0, "queues"),
        (|c| c.queues = 11, "queues"),
        (|c| c.instance_step = 0, "instance_step"),
        (|c| c.instances = Some(0), "instances"),
        (|c| c.instances = Some(9), "instances"),
        (|c| c.queue_capacity = 0, "queue_capacity"),
        (|c| c.trail = Some(1 << 20), "trail"),
    ];
    for (change, name) in changes {
        let mut config = Settings::default();
        change(&mut config);
        match OuroborosPVL::plan(64 << 20, &config) {
            Err(PlanError::BadSetting { setting, .. }) => assert_eq!(setting, name),
            other => panic!("{name}: {other:?}"),
        }
    }
    let few = Settings {
        queues: 4,
        chunk_bytes: 4096,
        ..Settings::default()
    };
    let pool = heap::<OuroborosPVL>(POOL, &few);
    let block = pool.malloc(layout::bytes(1)).expect("there is room");
    assert_eq!(used(&pool), 512, "the smallest page");
    free_all(&pool, vec![block], layout::bytes(1));
}

#[test]
fn metadata_are_a_few_hundredths_of_large_pools() {
    for bytes in [1u64 << 30, 8 << 30, (64 << 30) - 16] {
        let part = |plan: Result<warpheap_api::host::HeapPlan, PlanError>| {
            plan.expect("a plan").metadata_bytes as f64 / bytes as f64
        };
        let config = Settings::default();
        let [ps, va, vl] = [
            part(OuroborosPS::plan(bytes, &config)),
            part(OuroborosPVA::plan(bytes, &config)),
            part(OuroborosCVL::plan(bytes, &config)),
        ];
        assert!(
            ps < 0.09 && va < 0.02 && vl < 0.02,
            "{bytes}: {ps} {va} {vl}"
        );
    }
}
