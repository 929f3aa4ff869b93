//! What a device lacks is named.

use super::*;

const FINE: Needs = Needs {
    api_version: vk::API_VERSION_1_2,
    memory_model: true,
    device_scope: true,
    width: 32,
    in_compute: true,
    operations: OPERATIONS,
    compute_queue: true,
};

#[test]
fn each_shortcoming_is_named() {
    assert_eq!(shortcoming(&FINE), None);
    for (needs, word) in [
        (
            Needs {
                api_version: vk::API_VERSION_1_1,
                ..FINE
            },
            "1.2 is needed",
        ),
        (
            Needs {
                memory_model: false,
                ..FINE
            },
            "vulkanMemoryModel",
        ),
        (
            Needs {
                device_scope: false,
                ..FINE
            },
            "DeviceScope",
        ),
        (Needs { width: 128, ..FINE }, "128 lanes"),
        (Needs { width: 0, ..FINE }, "0 lanes"),
        (
            Needs {
                in_compute: false,
                ..FINE
            },
            "in compute",
        ),
        (
            Needs {
                operations: OPERATIONS & !vk::SubgroupFeatureFlags::SHUFFLE,
                ..FINE
            },
            "SHUFFLE",
        ),
        (
            Needs {
                compute_queue: false,
                ..FINE
            },
            "compute queue",
        ),
    ] {
        let problem = shortcoming(&needs).expect(word);
        assert!(problem.contains(word), "{problem}");
    }
    for width in [1, 4, 8, 32, 64] {
        assert_eq!(shortcoming(&Needs { width, ..FINE }), None);
    }
}
