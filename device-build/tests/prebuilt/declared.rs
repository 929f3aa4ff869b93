//! What a crate declares about its images: one for each allocator, sources of some of them, `alloc`.

use super::*;
use warpheap_allocators::ROWS;

/// Declares something in the manifest of a crate of the workspace.
pub fn declare(root: &Path, krate: &str, text: &str) {
    let path = root.join(krate).join("Cargo.toml");
    let manifest = fs::read_to_string(&path).expect("manifest");
    put(
        path,
        &format!("{manifest}[package.metadata.warpheap]\n{text}\n"),
    );
}

#[test]
fn images_by_allocator_are_taken_each_and_embedded_with_their_names() {
    let temp = workspace();
    let root = temp.path();
    declare(root, "dev", "images = \"by-allocator\"");
    let images = DeviceCrate::read(&root.join("dev"))
        .expect("crate")
        .images();
    assert_eq!(images.len(), ALLOCATORS.len() + 1);
    for image in &images {
        let text = format!("// {}\n", image.image_name());
        let folder = root.join("prebuilt");
        prebuilt::write(
            &folder,
            image,
            Format::Ptx,
            text.as_bytes(),
            None,
            "rustc x",
        )
        .expect("write");
    }
    let report = try_build(&options(root).mode(Mode::Prebuilt)).expect("prebuilt");
    assert_eq!(report.images.len(), images.len());
    let module = fs::read_to_string(root.join("out/warpheap_module.rs")).expect("module");
    assert!(module.starts_with("(\"dev\", &[(\"\", Some("), "{module}");
    for allocator in ALLOCATORS {
        assert!(
            module.contains(&format!("(\"{allocator}\", Some(")),
            "{module}"
        );
        let packed = fs::read(root.join(format!("out/dev.{allocator}.ptx.gz"))).expect("image");
        let text = format!("// dev.{allocator}\n");
        assert_eq!(unpack(&packed).expect("whole"), text.as_bytes());
    }
}

#[test]
fn a_source_of_some_allocators_makes_their_images_stale_and_no_others() {
    let temp = workspace();
    let root = temp.path();
    declare(root, "dev", "images = \"by-allocator\"");
    declare(root, "shared", "only-in.\"src/walk.rs\" = [\"RandomWalk\"]");
    put(root.join("shared/src/walk.rs"), "// one\n");
    let krate = || DeviceCrate::read(&root.join("dev")).expect("crate");
    let folder = root.join("prebuilt");
    for image in krate().images() {
        for format in Format::ALL {
            prebuilt::write(
                &folder,
                &image,
                format,
                &stored_image(format),
                None,
                "rustc x",
            )
            .expect("write");
        }
    }
    let stale = || -> Vec<String> {
        let images = krate().images().into_iter();
        let fresh = |image: &DeviceCrate| prebuilt::check(&folder, image).expect("check").is_ok();
        images
            .filter(|image| !fresh(image))
            .map(|image| image.image_name())
            .collect()
    };
    assert!(stale().is_empty());
    put(root.join("shared/src/walk.rs"), "// two\n");
    // The kernels that are no allocator's of the library may use it.
    assert_eq!(stale(), ["dev", "dev.RandomWalk"]);
    put(root.join("shared/src/lib.rs"), "// changed\n");
    assert_eq!(stale().len(), ALLOCATORS.len() + 1);
}

#[test]
fn images_with_alloc_have_what_no_allocator_uses() {
    let temp = workspace();
    let root = temp.path();
    declare(root, "dev", "images = \"by-allocator\"\nalloc = true");
    declare(root, "shared", "only-in.\"src/walk.rs\" = []");
    let hashes = |text| -> Vec<String> {
        put(root.join("shared/src/walk.rs"), text);
        let krate = DeviceCrate::read(&root.join("dev")).expect("crate");
        let images = krate.images().into_iter();
        images
            .map(|image| image.source_hash().expect("hash"))
            .collect()
    };
    let before = hashes("// one\n");
    let after = hashes("// two\n");
    assert!(
        before
            .iter()
            .zip(&after)
            .all(|(before, after)| before != after)
    );
}

#[test]
fn declarations_that_mean_nothing_are_refused() {
    for (text, word) in [
        ("images = \"many\"", "by-allocator"),
        ("alloc = \"yes\"", "`true` or `false`"),
        ("only-in.\"src/nothing.rs\" = [\"Bump\"]", "not there"),
        ("only-in.\"src/lib.rs\" = [\"Bumb\"]", "Bump, ScatterAlloc"),
    ] {
        let temp = workspace();
        declare(temp.path(), "dev", text);
        let error = DeviceCrate::read(&temp.path().join("dev"))
            .expect_err(text)
            .to_string();
        assert!(
            error.contains("Cargo.toml") && error.contains(word),
            "{error}"
        );
    }
}

#[test]
fn a_crate_with_alloc_has_ptx_alone() {
    let temp = workspace();
    let root = temp.path();
    let krate = || DeviceCrate::read(&root.join("dev")).expect("crate");
    assert!(!krate().uses_alloc() && krate().formats() == Format::ALL);
    declare(root, "dev", "alloc = true");
    assert!(krate().uses_alloc() && krate().formats() == [Format::Ptx]);

    let folder = root.join("prebuilt");
    prebuilt::write(
        &folder,
        &krate(),
        Format::Ptx,
        b"// text\n",
        None,
        "rustc x",
    )
    .expect("write");
    assert!(prebuilt::check(&folder, &krate()).expect("check").is_ok());
    let built = |formats: &[Format]| {
        let options = options(root).formats(formats.iter().copied());
        try_build(&options.mode(Mode::Prebuilt))
    };
    let report = built(&[Format::Ptx]).expect("prebuilt");
    assert_eq!(report.images.len(), 1);
    let error = built(&Format::ALL).expect_err("no SPIR-V").to_string();
    for part in ["`dev`", "alloc = true", "SPIR-V", "`vulkan`"] {
        assert!(error.contains(part), "`{part}` is not in: {error}");
    }
}

#[test]
fn an_allocators_folder_makes_its_images_stale_and_its_host_half_none() {
    let temp = workspace();
    let root = temp.path();
    declare(root, "dev", "images = \"by-allocator\"");
    declare(root, "shared", "allocators = \"src/alloc\"");
    let alloc = root.join("shared/src/alloc");
    let krate = || DeviceCrate::read(&root.join("dev"));
    let error = krate().expect_err("no folders").to_string();
    assert!(error.contains("src/alloc/bump"), "{error}");
    for row in ROWS {
        put(alloc.join(row.folder).join("mod.rs"), "// one\n");
        put(alloc.join(row.folder).join("host.rs"), "// one\n");
    }
    let hashes = || -> Vec<(String, String)> {
        let images = krate().expect("crate").images().into_iter();
        images
            .map(|image| (image.image_name(), image.source_hash().expect("hash")))
            .collect()
    };
    let before = hashes();
    put(alloc.join("lists/host.rs"), "// two\n");
    assert_eq!(before, hashes());
    put(alloc.join("lists/mod.rs"), "// two\n");
    let after = hashes();
    let changed = before
        .iter()
        .zip(&after)
        .filter(|(before, after)| before != after);
    let changed: Vec<&str> = changed.map(|((name, _), _)| name.as_str()).collect();
    assert_eq!(changed, ["dev", "dev.SizeList", "dev.MpList"]);
}
