//! The loader and the instance: the way to every Vulkan call.

use crate::error::{INSTALL, describe, no_device};
use crate::labels::Labels;
use crate::validation::{self, Messages, Messenger};
use ash::{ext, khr, vk};
use std::ffi::{CStr, c_char};
use warpheap_api::host::DeviceError;

/// A Vulkan instance with, if asked for, the validation layer.
pub(crate) struct Instance {
    /// Whether objects can be named.
    has_names: bool,
    // Dropped by hand, before the instance.
    messenger: Option<Messenger>,
    pub(crate) raw: ash::Instance,
    // The driver holds its address until the instance is destroyed: boxed, and dropped after that.
    messages: Box<Messages>,
    // Holds the library open.
    entry: ash::Entry,
}

impl Instance {
    /// Loads the Vulkan library and makes an instance.
    ///
    /// # Errors
    /// [`DeviceError::NoDevice`] that says which part is missing and what to install.
    pub(crate) fn new(validation: bool) -> Result<Self, DeviceError> {
        // SAFETY: loading the system's Vulkan library runs its initialisers, which every Vulkan
        // program does; it is kept loaded as long as this instance.
        let entry = unsafe { ash::Entry::load() }.map_err(|error| {
            no_device(format!(
                "the Vulkan library does not load ({error}); {INSTALL}"
            ))
        })?;
        check_version(&entry)?;

        let available = extensions(&entry, None)?;
        let has = |name: &CStr| available.iter().any(|found| found == name);
        let mut names: Vec<*const c_char> = Vec::new();
        let mut flags = vk::InstanceCreateFlags::empty();
        if has(khr::portability_enumeration::NAME) {
            // Without this, layered drivers (such as those on macOS) stay hidden.
            names.push(khr::portability_enumeration::NAME.as_ptr());
            flags |= vk::InstanceCreateFlags::ENUMERATE_PORTABILITY_KHR;
        }

        let app = vk::ApplicationInfo::default()
            .application_name(c"warpheap")
            .engine_name(c"warpheap")
            .api_version(vk::API_VERSION_1_3);
        let messages = Box::<Messages>::default();
        let mut debug = validation::create_info(&messages);
        let checks = [vk::ValidationFeatureEnableEXT::SYNCHRONIZATION_VALIDATION];
        let mut features =
            vk::ValidationFeaturesEXT::default().enabled_validation_features(&checks);
        // The layer has it, whether the loader says so or not.
        let has_names = validation || has(ext::debug_utils::NAME);
        if has_names {
            names.push(ext::debug_utils::NAME.as_ptr());
        }
        let mut layers: Vec<*const c_char> = Vec::new();
        let mut info = vk::InstanceCreateInfo::default()
            .flags(flags)
            .application_info(&app);
        if validation {
            require_layer(&entry)?;
            layers.push(validation::LAYER.as_ptr());
            info = info.push_next(&mut debug);
            let own = extensions(&entry, Some(validation::LAYER))?;
            if own
                .iter()
                .any(|name| name == ext::validation_features::NAME)
            {
                names.push(ext::validation_features::NAME.as_ptr());
                info = info.push_next(&mut features);
            }
        }
        let info = info
            .enabled_extension_names(&names)
            .enabled_layer_names(&layers);

        // SAFETY: every pointer in `info` outlives the call.
        let raw = unsafe { entry.create_instance(&info, None) }.map_err(|error| match error {
            vk::Result::ERROR_INCOMPATIBLE_DRIVER => {
                no_device(format!("the Vulkan library finds no driver; {INSTALL}"))
            }
            _ => no_device(format!("vkCreateInstance: {}; {INSTALL}", describe(error))),
        })?;
        let mut instance = Instance {
            has_names,
            messenger: None,
            raw,
            messages,
            entry,
        };
        if validation {
            // SAFETY: the instance has the extension; its Drop ends the messenger first, and the
            // messages only after both.
            let messenger =
                unsafe { Messenger::new(&instance.entry, &instance.raw, &instance.messages) };
            let explain = |error| no_device(format!("validation messenger: {}", describe(error)));
            instance.messenger = Some(messenger.map_err(explain)?);
        }
        Ok(instance)
    }

    /// Whether the validation layer is there.
    pub(crate) fn validates(&self) -> bool {
        self.messenger.is_some()
    }

    /// What names objects of a device, if there is something that does.
    ///
    /// # Safety
    /// The device is of this instance, and outlives what is returned.
    pub(crate) unsafe fn labels(&self, device: &ash::Device) -> Option<Labels> {
        if !self.has_names {
            return None;
        }
        // SAFETY: the instance has the extension; the caller's promise.
        unsafe { Labels::new(&self.entry, &self.raw, device.handle()) }
    }

    /// What the validation layer complained about since the last question.
    pub(crate) fn take_messages(&self) -> Option<String> {
        self.messages.take()
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.messenger = None;
        // SAFETY: whatever was made from the instance holds it alive, so nothing is left; made by
        // `new`, destroyed once.
        unsafe { self.raw.destroy_instance(None) }
    }
}

fn check_version(entry: &ash::Entry) -> Result<(), DeviceError> {
    // SAFETY: a global query.
    let version = unsafe { entry.try_enumerate_instance_version() };
    let version = version.ok().flatten().unwrap_or(vk::API_VERSION_1_0);
    if version < vk::API_VERSION_1_2 {
        return Err(no_device(format!(
            "the Vulkan library is version {}.{}, 1.2 is needed: update libvulkan1",
            vk::api_version_major(version),
            vk::api_version_minor(version)
        )));
    }
    Ok(())
}

fn extensions(
    entry: &ash::Entry,
    layer: Option<&CStr>,
) -> Result<Vec<std::ffi::CString>, DeviceError> {
    // SAFETY: a global query; the layer, if any, was found by `require_layer`.
    let found = unsafe { entry.enumerate_instance_extension_properties(layer) };
    let found = found.map_err(|error| match error {
        vk::Result::ERROR_INCOMPATIBLE_DRIVER => {
            no_device(format!("the Vulkan library finds no driver; {INSTALL}"))
        }
        _ => no_device(format!(
            "vkEnumerateInstanceExtensionProperties: {}",
            describe(error)
        )),
    })?;
    Ok(found
        .iter()
        .filter_map(|properties| Some(properties.extension_name_as_c_str().ok()?.to_owned()))
        .collect())
}

fn require_layer(entry: &ash::Entry) -> Result<(), DeviceError> {
    // SAFETY: a global query.
    let layers = unsafe { entry.enumerate_instance_layer_properties() }.unwrap_or_default();
    let found = layers
        .iter()
        .any(|layer| layer.layer_name_as_c_str() == Ok(validation::LAYER));
    if found {
        return Ok(());
    }
    Err(no_device(format!(
        "validation was asked for and the layer {} is not installed: on Debian `apt-get install \
         vulkan-validationlayers`, or unset {}",
        validation::LAYER.to_string_lossy(),
        crate::config::ENV_VALIDATION
    )))
}
