//! A project to start from. That it builds and passes is tested where the packages are (`cargo xtask package --try`).

use super::{Outcome, program};
use std::path::{Path, PathBuf};
use std::process::Command;

/// An empty folder that goes at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder =
            std::env::temp_dir().join(format!("warpheap-new-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a temporary folder");
        Folder(folder)
    }

    fn make(&self, args: &[&str]) -> Outcome {
        let mut command = Command::new(program());
        let output = command.arg("new").args(args).current_dir(&self.0).output();
        let output = output.expect("the program runs");
        Outcome {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).expect("output is text"),
            err: String::from_utf8(output.stderr).expect("errors are text"),
        }
    }

    fn text(&self, file: &str) -> String {
        std::fs::read_to_string(self.0.join(file)).expect(file)
    }

    fn is_empty(&self) -> bool {
        std::fs::read_dir(&self.0)
            .expect("the folder")
            .next()
            .is_none()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_project_has_its_name_everywhere() {
    let folder = Folder::new("named");
    let outcome = folder.make(&["bright-idea"]);
    assert_eq!((outcome.code, &*outcome.err), (Some(0), ""));
    assert!(outcome.out.contains("cd bright-idea"), "{}", outcome.out);
    assert!(
        folder
            .text("bright-idea/Cargo.toml")
            .contains("name = \"bright-idea\"")
    );
    for file in ["src/main.rs", "tests/lists.rs"] {
        let text = folder.text(&format!("bright-idea/{file}"));
        assert!(text.contains("bright_idea::load"), "{text}");
    }
    for file in [
        "build.rs",
        "src/lib.rs",
        ".github/workflows/ci.yml",
        ".gitignore",
        "README.md",
    ] {
        assert!(
            !folder.text(&format!("bright-idea/{file}")).is_empty(),
            "{file}"
        );
    }
}

#[test]
fn a_checkout_stands_for_the_registry() {
    let folder = Folder::new("checkout");
    let checkout = folder.0.join("warpheap");
    std::fs::create_dir_all(checkout.join("device-build")).expect("a folder");
    std::fs::write(checkout.join("device-build/Cargo.toml"), "").expect("a file");
    assert_eq!(folder.make(&["mine", "--path", "warpheap"]).code, Some(0));
    let manifest = folder.text("mine/Cargo.toml");
    let path = |of: &Path| format!("path = {:?}", of.canonicalize().expect("it is there"));
    assert!(manifest.contains(&path(&checkout)), "{manifest}");
    assert!(
        manifest.contains(&path(&checkout.join("device-build"))),
        "{manifest}"
    );
}

#[test]
fn what_cannot_be_made_leaves_nothing() {
    let folder = Folder::new("refused");
    folder
        .make(&["2d"])
        .failed(2, &["`2d`", "begins with a letter"]);
    folder.make(&["fn"]).failed(2, &["`fn`"]);
    folder.make(&["../up"]).failed(2, &["`../up`"]);
    folder
        .make(&["mine", "--path", "nowhere"])
        .failed(2, &["nowhere", "device-build"]);
    folder.make(&[]).failed(2, &[]);
    assert!(folder.is_empty());
}

#[test]
fn a_folder_that_is_there_stays_as_it_is() {
    let folder = Folder::new("there");
    std::fs::create_dir(folder.0.join("mine")).expect("a folder");
    folder.make(&["mine"]).failed(2, &["`mine`"]);
    assert_eq!(
        std::fs::read_dir(folder.0.join("mine"))
            .expect("it is there")
            .count(),
        0
    );
}
