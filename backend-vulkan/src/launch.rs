//! A launch is checked and looked up: everything that may be wrong with it is found before
//! anything runs.

use crate::addressed::Addressed;
use crate::gpu::Gpu;
use crate::limits::Limits;
use crate::memory::{Buffer, Memory};
use crate::pipeline::{Built, Pipelines, Unready};
use ash::vk;
use warpheap_api::abi::{ARG_FIRST, ARG_WORDS, ArgBlock, SLICE_WORDS};
use warpheap_api::host::{BufferId, DeviceError, Launch};

/// Most storage buffers of a launch, its report included: what argument words there can be slices of.
pub(crate) const MOST_BINDINGS: usize = (ARG_WORDS - ARG_FIRST) / SLICE_WORDS + 1;

/// A launch with everything looked up.
pub(crate) struct Ready {
    pub(crate) entry: &'static str,
    pub(crate) built: Built,
    /// Workgroups along x and y.
    pub(crate) groups: [u32; 2],
    pub(crate) args: ArgBlock,
    /// What is bound, in the order of the bindings, without the report.
    pub(crate) buffers: Vec<vk::DescriptorBufferInfo>,
}

/// Looks up everything that a launch needs, whose shape was checked. `nothing` is bound for empty
/// slices: Vulkan has no empty bindings.
pub(crate) fn prepare(
    gpu: &Gpu,
    memory: &Memory,
    pipelines: &mut Pipelines,
    nothing: Buffer,
    launch: &Launch<'_>,
) -> Result<Ready, Unready> {
    let address = |id| memory.get(id).map_or(0, |buffer| buffer.address);
    let args = launch.arg_block(0, address)?;
    let mut addressed = Addressed::default();
    let mut buffers = Vec::new();
    let mut word = ARG_FIRST;
    for arg in launch.args {
        if let Some(range) = arg.binding() {
            let bound = bind(&gpu.limits, memory, nothing, launch.entry, range)?;
            if bound.is_none() {
                addressed.add(buffers.len(), word);
            }
            // What a kernel finds by address is bound all the same: the layout has a place for it.
            let unused = || {
                vk::DescriptorBufferInfo::default()
                    .buffer(nothing.raw)
                    .range(nothing.bytes)
            };
            buffers.push(bound.unwrap_or_else(unused));
        }
        word += arg.words();
    }
    let built = pipelines.get(launch, buffers.len() as u32, addressed)?;
    Ok(Ready {
        entry: launch.entry,
        built,
        groups: fold(launch.config.grid_dim, gpu.limits.max_groups[0]),
        args,
        buffers,
    })
}

/// The launches with these entries, in words; nothing if there are none.
pub(crate) fn named(entries: &[&str]) -> Option<String> {
    match entries {
        [] => None,
        [one] => Some(format!("the launch of {one}")),
        [first, .., last] => Some(format!(
            "one of {} launches, {first} to {last}",
            entries.len()
        )),
    }
}

/// The binding of `bytes` bytes at `offset` of a buffer; `None` if no descriptor shows so many.
fn bind(
    limits: &Limits,
    memory: &Memory,
    nothing: Buffer,
    kernel: &str,
    (buffer, offset, bytes): (BufferId, u64, u64),
) -> Result<Option<vk::DescriptorBufferInfo>, DeviceError> {
    let bad = |why| DeviceError::BadLaunch {
        kernel: kernel.to_string(),
        why,
    };
    let Some(found) = memory.get(buffer) else {
        return Err(bad(
            "a buffer among its arguments belongs to another device, or is gone".to_string(),
        ));
    };
    if offset.saturating_add(bytes) > found.bytes {
        return Err(bad(format!(
            "an argument of {bytes} bytes at {offset} reaches beyond its buffer of {} bytes",
            found.bytes
        )));
    }
    let info = vk::DescriptorBufferInfo::default();
    if bytes == 0 {
        return Ok(Some(info.buffer(nothing.raw).range(nothing.bytes)));
    }
    if bytes > limits.descriptor_bytes {
        return Ok(None);
    }
    if offset % limits.offset_align != 0 {
        return Err(bad(format!(
            "an argument begins at byte {offset} of its buffer, {} binds buffers at multiples of {} \
             bytes only",
            limits.name, limits.offset_align
        )));
    }
    Ok(Some(info.buffer(found.raw).offset(offset).range(bytes)))
}

/// Workgroups along x and y for a launch of `blocks`, of which at most `most` may lie along x: as
/// few rows as possible, about equally long. Kernels leave at once in blocks beyond the launch.
fn fold(blocks: u32, most: u32) -> [u32; 2] {
    let rows = blocks.div_ceil(most.max(1)).max(1);
    [blocks.div_ceil(rows), rows]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_fold_into_rows_that_hold_every_block() {
        assert_eq!(fold(1, 65535), [1, 1]);
        assert_eq!(fold(65535, 65535), [65535, 1]);
        assert_eq!(fold(65536, 65535), [32768, 2]);
        for (blocks, most) in [
            (100_000, 65535),
            (u32::MAX, i32::MAX as u32),
            (7, 1),
            (9, 4),
        ] {
            let [x, y] = fold(blocks, most);
            assert!(x <= most, "{blocks} blocks in rows of {x}");
            assert!(x as u64 * y as u64 >= blocks as u64);
            assert!(x as u64 * (y as u64 - 1) < blocks as u64, "an empty row");
        }
    }
}
