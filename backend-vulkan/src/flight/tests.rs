//! Launches are recorded under their names, which the validation layer tells.

use super::*;
use crate::commands::Commands;
use crate::memory::tests::{backend, validated};
use warpheap_api::host::{DeviceVec, LaunchConfig};

#[test]
fn what_is_said_of_a_launch_has_its_name() {
    let Some(device) = validated() else { return };
    let kernels = warpheap_kernels::load(&device).unwrap();
    let numbers = DeviceVec::<u32>::zeroed(&device, 64).unwrap();
    let launch = kernels.selftest_index_launch(LaunchConfig::for_num_elems(64), &numbers);
    let launches = [launch.launch().unwrap()];
    let recorded = backend(&device).call_compiled(|state| {
        let mut batch = state.prepare(&launches)?;
        // More than any device has, which is only recorded.
        batch[0].groups = [u32::MAX, 1];
        let gpu = &state.gpu;
        let mut flight = Flight::new(gpu, &mut state.memory, 1, false)?;
        let mut commands = Commands::new(gpu, "warpheap launches")?;
        // SAFETY: the device never works on it.
        let recording = unsafe { commands.begin()? };
        // SAFETY: as above.
        unsafe { flight.record(recording, &batch)? };
        Ok(commands.end().map(drop)?)
    });
    let said = recorded.unwrap_err().to_string();
    let named =
        said.matches("in selftest_index_l1: ").count() == 1 && said.contains("vkCmdDispatch");
    assert!(named && said.contains("name = warpheap launches"), "{said}");
}
