//! What the validation layer has to say, collected for the next call.

use ash::{ext, vk};
use std::ffi::{CStr, c_void};
use std::sync::{Mutex, PoisonError};

/// The layer that checks the use of Vulkan.
pub(crate) const LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

/// Messages of severity ERROR that no call has reported yet.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    errors: Mutex<Vec<String>>,
}

impl Messages {
    /// The messages so far, as one text; they are forgotten.
    pub(crate) fn take(&self) -> Option<String> {
        let mut errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        if errors.is_empty() {
            return None;
        }
        Some(std::mem::take(&mut *errors).join("; "))
    }

    fn push(&self, message: String) {
        // A broken kernel can make thousands of these; the first ones tell the story.
        const MOST: usize = 16;
        let mut errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        if errors.len() < MOST {
            errors.push(message);
        }
    }
}

/// The messenger that fills [`Messages`].
pub(crate) struct Messenger {
    calls: ext::debug_utils::Instance,
    raw: vk::DebugUtilsMessengerEXT,
}

impl Messenger {
    /// Installs the messenger in `instance`.
    ///
    /// # Safety
    /// The instance is alive, was made with the extension, and outlives the messenger; `messages`
    /// stays where it is until the instance is destroyed.
    pub(crate) unsafe fn new(
        entry: &ash::Entry,
        instance: &ash::Instance,
        messages: &Messages,
    ) -> Result<Self, vk::Result> {
        let calls = ext::debug_utils::Instance::new(entry, instance);
        let info = create_info(messages);
        // SAFETY: the caller's promise.
        let raw = unsafe { calls.create_debug_utils_messenger(&info, None)? };
        Ok(Messenger { calls, raw })
    }
}

impl Drop for Messenger {
    fn drop(&mut self) {
        // SAFETY: made by `new`, destroyed once, before its instance.
        unsafe {
            self.calls.destroy_debug_utils_messenger(self.raw, None);
        }
    }
}

/// How the messenger is made; also chained to the creation of the instance, whose own messages
/// come before any messenger exists.
pub(crate) fn create_info(messages: &Messages) -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
    use vk::{
        DebugUtilsMessageSeverityFlagsEXT as Severity, DebugUtilsMessageTypeFlagsEXT as Type,
    };
    vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(Severity::ERROR | Severity::WARNING)
        .message_type(Type::GENERAL | Type::VALIDATION | Type::PERFORMANCE)
        .pfn_user_callback(Some(on_message))
        .user_data(std::ptr::from_ref(messages).cast_mut().cast())
}

unsafe extern "system" fn on_message(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    kinds: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user: *mut c_void,
) -> vk::Bool32 {
    if data.is_null() || user.is_null() {
        return vk::FALSE;
    }
    // SAFETY: Vulkan passes a valid structure for the duration of the call.
    let data = unsafe { &*data };
    // SAFETY: the address given in `create_info`; the messenger keeps it alive, and it is only ever
    // used through shared references.
    let messages = unsafe { &*user.cast_const().cast::<Messages>() };
    let text = |pointer: *const std::ffi::c_char| {
        if pointer.is_null() {
            return String::new();
        }
        // SAFETY: a NUL-terminated string that lives for the duration of the call.
        let text = unsafe { CStr::from_ptr(pointer) };
        text.to_string_lossy().into_owned()
    };
    let (id, mut message) = (text(data.p_message_id_name), text(data.p_message));
    // The launch that is being recorded, which the layer knows by its label. Some versions tell a label twice.
    if data.cmd_buf_label_count > 0 && !data.p_cmd_buf_labels.is_null() {
        // SAFETY: so many structures, valid for the duration of the call.
        let label = text(unsafe { (*data.p_cmd_buf_labels).p_label_name });
        message = format!("in {label}: {message}");
    }
    // The loader reports broken drivers of other GPUs as GENERAL errors: not this device's doing.
    let checked = kinds.contains(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION);
    if severity.contains(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR) && checked {
        tracing::error!(id, "{message}");
        messages.push(message);
    } else {
        tracing::warn!(id, "{message}");
    }
    vk::FALSE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn send(messages: &Messages, severity: vk::DebugUtilsMessageSeverityFlagsEXT) {
        let data = vk::DebugUtilsMessengerCallbackDataEXT::default().message(c"wrong layout");
        let user = std::ptr::from_ref(messages).cast_mut().cast();
        // SAFETY: valid addresses, as the driver would pass them.
        let answer = unsafe {
            on_message(
                severity,
                vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION,
                &data,
                user,
            )
        };
        assert_eq!(answer, vk::FALSE);
    }

    #[test]
    fn what_is_said_of_a_launch_names_it() {
        let messages = Messages::default();
        let labels = [vk::DebugUtilsLabelEXT::default().label_name(c"fill_l1")];
        let data = vk::DebugUtilsMessengerCallbackDataEXT::default().message(c"a race");
        let data = data.cmd_buf_labels(&labels);
        let user = std::ptr::from_ref(&messages).cast_mut().cast();
        let (severity, kind) = (
            vk::DebugUtilsMessageSeverityFlagsEXT::ERROR,
            vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION,
        );
        // SAFETY: valid addresses, as the driver would pass them.
        unsafe { on_message(severity, kind, &data, user) };
        assert_eq!(messages.take().as_deref(), Some("in fill_l1: a race"));
    }

    #[test]
    fn errors_are_kept_until_taken_and_warnings_are_not() {
        let messages = Messages::default();
        send(&messages, vk::DebugUtilsMessageSeverityFlagsEXT::WARNING);
        assert_eq!(messages.take(), None);
        send(&messages, vk::DebugUtilsMessageSeverityFlagsEXT::ERROR);
        assert_eq!(messages.take().as_deref(), Some("wrong layout"));
        assert_eq!(messages.take(), None);
    }
}
