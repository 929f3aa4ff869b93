//! The files of a new project: those of `cli/template` with its names.

use std::path::PathBuf;

/// The name that the template has.
const NAME: &str = "my-project";
/// The name of its library.
const LIBRARY: &str = "my_project";
/// How its manifest names the library, and the builder.
const REGISTRY: [&str; 2] = [r#"version = "0.1""#, r#"warpheap-build = "0.1""#];

const TEMPLATE: [(&str, &str); 8] = [
    ("Cargo.toml", include_str!("../../template/manifest.toml")),
    ("build.rs", include_str!("../../template/build.rs")),
    ("src/lib.rs", include_str!("../../template/kernels.rs")),
    ("src/main.rs", include_str!("../../template/program.rs")),
    ("tests/lists.rs", include_str!("../../template/test.rs")),
    (
        ".github/workflows/ci.yml",
        include_str!("../../template/ci.yml"),
    ),
    (".gitignore", include_str!("../../template/gitignore")),
    ("README.md", include_str!("../../template/README.md")),
];

/// Where the project has the library from.
pub enum Source {
    /// The registry.
    Registry,
    /// A checkout in this folder.
    Checkout(PathBuf),
}

/// Paths in the project's folder and what the files hold.
pub fn files(name: &str, source: &Source) -> Vec<(&'static str, String)> {
    let library = name.replace('-', "_");
    let file = |(path, text): (&'static str, &str)| {
        let text = text.replace(NAME, name).replace(LIBRARY, &library);
        (path, text)
    };
    let mut files: Vec<_> = TEMPLATE.into_iter().map(file).collect();
    if let Source::Checkout(checkout) = source {
        let place = |path: PathBuf| format!("path = {:?}", path.display().to_string());
        let builder = place(checkout.join("device-build"));
        let (_, manifest) = &mut files[0];
        *manifest = manifest
            .replace(REGISTRY[1], &format!("warpheap-build = {{ {builder} }}"))
            .replacen(REGISTRY[0], &place(checkout.clone()), 1);
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_asks_for_this_version() {
        let (_, manifest) = &files("x", &Source::Registry)[0];
        let version = concat!(
            env!("CARGO_PKG_VERSION_MAJOR"),
            ".",
            env!("CARGO_PKG_VERSION_MINOR")
        );
        assert!(
            manifest.contains(&format!("warpheap-build = \"{version}\"")),
            "{manifest}"
        );
        assert!(
            manifest.contains(&format!("warpheap = {{ version = \"{version}\"")),
            "{manifest}"
        );
    }

    #[test]
    fn no_name_of_the_template_is_left() {
        for (path, text) in files("other-one", &Source::Checkout("/warpheap".into())) {
            assert!(
                !text.contains(NAME) && !text.contains(LIBRARY),
                "{path}: {text}"
            );
            assert!(!text.contains("version = \"0.1\""), "{path}: {text}");
        }
    }
}
