//! Drivers of Vulkan that programs are run with.

use std::path::Path;

/// SwiftShader's driver description, as Debian's `chromium-common` installs it.
pub const SWIFTSHADER: &str = "/usr/lib/chromium/vk_swiftshader_icd.json";

/// The variables that tell Vulkan's loader which drivers to use: the present name and the older one.
pub const DRIVER_VARIABLES: [&str; 2] = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"];

/// Variables for programs that use Vulkan on this machine; `None` if it has no drivers that are known of.
pub fn chosen_drivers() -> Option<Vec<(&'static str, &'static str)>> {
    if drivers_chosen(|name| std::env::var_os(name).is_some()) {
        return Some(Vec::new());
    }
    let there = Path::new(SWIFTSHADER).is_file();
    there.then(|| DRIVER_VARIABLES.map(|name| (name, SWIFTSHADER)).to_vec())
}

/// Whether a person chose drivers; `is_set` says whether a variable is set.
pub fn drivers_chosen(is_set: impl Fn(&str) -> bool) -> bool {
    DRIVER_VARIABLES.iter().any(|name| is_set(name))
}
