//! Kernels with the checks of `WARPHEAP_CHECK=1`: prebuilt ones have none.

use super::declared::declare;
use super::*;

fn checked(root: &Path) -> Options {
    options(root).mode(Mode::Prebuilt).checks(true)
}

#[test]
fn prebuilt_code_is_not_taken_for_code_with_checks() {
    let temp = with_prebuilt();
    let error = try_build(&checked(temp.path())).expect_err("it has none");
    assert!(
        matches!(
            &error,
            BuildError::PrebuiltOnly {
                miss: PrebuiltMiss::Unchecked,
                ..
            }
        ),
        "{error}"
    );
    let error = try_build(&checked(temp.path()).mode(Mode::Auto)).expect_err("no toolchain");
    let text = error.to_string();
    assert!(
        text.contains("WARPHEAP_CHECK=1") && text.contains("warpheap toolchain"),
        "{text}"
    );
}

/// What the folder of prebuilt code is stored by stays the same.
#[test]
fn the_hash_does_not_know_of_checks() {
    let temp = workspace();
    let krate = DeviceCrate::read(&temp.path().join("dev")).expect("crate");
    let hash = |checks| krate.clone().with_checks(checks).source_hash();
    assert_eq!(hash(true).expect("hash"), hash(false).expect("hash"));
}

#[test]
fn images_without_warp_heap_are_taken_where_each_kernel_has_one_heap() {
    let temp = workspace();
    let root = temp.path();
    let by_allocator = "images = \"by-allocator\"";
    declare(root, "dev", by_allocator);
    let krate = DeviceCrate::read(&root.join("dev")).expect("crate");
    let refused = |krate: &DeviceCrate| -> Vec<String> {
        let images = krate.clone().with_checks(true).images();
        let taken = |image: &DeviceCrate| image.differs_by_checks();
        let refused = images.iter().filter(|image| taken(image));
        refused.map(DeviceCrate::image_name).collect()
    };
    assert_eq!(refused(&krate).len(), ALLOCATORS.len() + 1);
    assert!(
        krate
            .images()
            .iter()
            .all(|image| !image.differs_by_checks())
    );
    let temp = workspace();
    let root = temp.path();
    declare(root, "dev", &format!("{by_allocator}\none-heap = true"));
    let krate = DeviceCrate::read(&root.join("dev")).expect("crate");
    assert_eq!(refused(&krate), ["dev", "dev.WarpHeap"]);
}
