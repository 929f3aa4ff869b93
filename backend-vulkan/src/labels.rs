//! Names for those who look at objects from outside: the validation layer, and tools that capture or profile. By the extension
//! `VK_EXT_debug_utils`, where the loader or a layer has it.

use ash::ext::debug_utils;
use ash::vk;
use std::ffi::{CStr, c_void};
use std::ptr::null;

/// Most bytes of a name; the rest is cut off.
const MOST: usize = 127;

/// What names objects of a device.
pub(crate) struct Labels {
    calls: debug_utils::DeviceFn,
    device: vk::Device,
}

impl Labels {
    /// The functions of the extension; `None` if one of them is missing.
    ///
    /// # Safety
    /// The instance was made with the extension, and the device is of it and outlives what is returned.
    pub(crate) unsafe fn new(
        entry: &ash::Entry,
        instance: &ash::Instance,
        device: vk::Device,
    ) -> Option<Self> {
        let mut all = true;
        let calls = debug_utils::DeviceFn::load(|name| {
            // SAFETY: the instance is alive, the name a text of C.
            let found = unsafe { entry.get_instance_proc_addr(instance.handle(), name.as_ptr()) };
            all &= found.is_some();
            found.map_or(null(), |call| call as *const c_void)
        });
        all.then_some(Labels { calls, device })
    }

    /// Names an object of the device. A failure changes nothing that anybody needs.
    ///
    /// # Safety
    /// The object is alive, and no other thread uses its handle meanwhile.
    pub(crate) unsafe fn name<H: vk::Handle>(&self, object: H, name: &str) {
        with_text(name, |text| {
            let info = vk::DebugUtilsObjectNameInfoEXT::default()
                .object_handle(object)
                .object_name(text);
            // SAFETY: the caller's promise; the device is alive, and the text outlives the call.
            let named = unsafe { (self.calls.set_debug_utils_object_name_ext)(self.device, &info) };
            if let Err(error) = named.result() {
                tracing::debug!(%error, name, "an object has no name");
            }
        });
    }

    /// What is recorded from here up to [`end`](Self::end) is shown under a name.
    ///
    /// # Safety
    /// `commands` is recording.
    pub(crate) unsafe fn begin(&self, commands: vk::CommandBuffer, name: &str) {
        with_text(name, |text| {
            let info = vk::DebugUtilsLabelEXT::default().label_name(text);
            // SAFETY: the caller's promise; the text outlives the call.
            unsafe { (self.calls.cmd_begin_debug_utils_label_ext)(commands, &info) };
        });
    }

    /// Ends what [`begin`](Self::begin) began.
    ///
    /// # Safety
    /// `commands` is recording, and was given to `begin` since it does.
    pub(crate) unsafe fn end(&self, commands: vk::CommandBuffer) {
        // SAFETY: the caller's promise.
        unsafe { (self.calls.cmd_end_debug_utils_label_ext)(commands) };
    }
}

/// A name as C has it, without memory of its own: launches have names.
fn with_text<R>(name: &str, work: impl FnOnce(&CStr) -> R) -> R {
    let mut text = [0u8; MOST + 1];
    let end = name.floor_char_boundary(MOST);
    text[..end].copy_from_slice(&name.as_bytes()[..end]);
    work(CStr::from_bytes_until_nul(&text).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_between_letters() {
        let read = |name: &str| with_text(name, |text| text.to_str().map(str::to_string));
        assert_eq!(read("fill_l1").as_deref(), Ok("fill_l1"));
        assert_eq!(read("").as_deref(), Ok(""));
        let long = "é".repeat(100);
        assert_eq!(read(&long).as_deref(), Ok(&*"é".repeat(63)));
    }
}
