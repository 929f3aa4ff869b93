//! Which images there are, which of them a command is about, and files that belong to none.

use crate::error::{Result, message};
use std::path::Path;
use warpheap_build::prebuilt::{self, Manifest, PrebuiltMiss};
use warpheap_build::{DeviceCrate, Format};

/// A device crate with the formats that it has features for.
pub(super) type Crate = (DeviceCrate, Vec<Format>);

/// A device crate as one of its images.
#[derive(Clone, Debug)]
pub(super) struct Image {
    pub(super) krate: DeviceCrate,
    pub(super) formats: Vec<Format>,
}

impl Image {
    /// The image in each of its formats.
    pub(super) fn in_formats(self) -> impl Iterator<Item = (DeviceCrate, Format)> {
        let krate = self.krate;
        let formats = self.formats.into_iter();
        formats.map(move |format| (krate.clone(), format))
    }

    /// The formats in which it is missing in the folder, stale or damaged.
    ///
    /// # Errors
    /// The manifest or a source cannot be read.
    pub(super) fn misses(&self, folder: &Path) -> Result<Vec<(Format, PrebuiltMiss)>> {
        let mut misses = match prebuilt::check(folder, &self.krate)? {
            Ok(()) => Vec::new(),
            Err(misses) => misses,
        };
        misses.retain(|(format, _)| self.formats.contains(format));
        Ok(misses)
    }
}

/// The images with these names; a crate's name stands for all of its images, no names for all.
///
/// # Errors
/// A name that is none of theirs.
pub(super) fn choose(all: &[Crate], names: &[String]) -> Result<Vec<Image>> {
    let of_crate = |(krate, formats): &Crate| {
        let image = |krate| Image {
            krate,
            formats: formats.clone(),
        };
        krate.images().into_iter().map(image).collect::<Vec<_>>()
    };
    let mut images: Vec<_> = all.iter().flat_map(of_crate).collect();
    let is =
        |image: &Image, name: &str| image.krate.name() == name || image.krate.image_name() == name;
    for name in names {
        if !images.iter().any(|image| is(image, name)) {
            let known: Vec<_> = all.iter().map(|(krate, _)| krate.name()).collect();
            return message(format!(
                "`{name}` is no crate with kernels of this project and no image of one; there are {}",
                known.join(", ")
            ));
        }
    }
    images.retain(|image| names.is_empty() || names.iter().any(|name| is(image, name)));
    Ok(images)
}

/// The images that a check compiles again when it compiles some, with their formats: one of the crates that are divided by allocator,
/// and, as PTX, one of those that are not, by the hashes of their sources. The hashes tell of stale images; this tells whether
/// the compiler still makes of the sources what was recorded. These suffice for that, and SPIR-V of all allocators takes minutes.
///
/// # Errors
/// A source file that cannot be read.
pub(super) fn sample(images: &[Image]) -> Result<Vec<(String, Format)>> {
    let images: Vec<_> = images.iter().map(|image| &image.krate).collect();
    let is_divided = |image: &&DeviceCrate| {
        let same_crate = |other: &&&DeviceCrate| other.name() == image.name();
        images.iter().filter(same_crate).count() > 1
    };
    let (divided, whole) = images.iter().copied().partition::<Vec<_>, _>(is_divided);
    let mut sample = Vec::new();
    for (images, formats) in [(divided, &Format::ALL[..]), (whole, &[Format::Ptx])] {
        if !images.is_empty() {
            let name = one_of(&images)?;
            sample.extend(formats.iter().map(|format| (name.clone(), *format)));
        }
    }
    Ok(sample)
}

/// The name of one of some images, not none, by what the first is made of.
fn one_of(images: &[&DeviceCrate]) -> Result<String> {
    let hash = images[0].source_hash()?;
    let number: usize = hash.bytes().map(usize::from).sum();
    Ok(images[number % images.len()].image_name())
}

fn has_image(crates: &[Crate], name: &str) -> bool {
    let mut images = crates.iter().flat_map(|(krate, _)| krate.images());
    images.any(|image| image.image_name() == name)
}

/// Complaints about what lies in the folder and belongs to no device crate.
///
/// # Errors
/// A manifest that cannot be read.
pub(super) fn strays(folder: &Path, crates: &[Crate]) -> Result<Vec<String>> {
    let mut manifest = Manifest::read(folder)?;
    let files = manifest.retain(|name| has_image(crates, name));
    let stray = |file| format!("{file} belongs to no crate with kernels of this project");
    Ok(files.into_iter().map(stray).collect())
}

/// Removes what belongs to no device crate any more.
///
/// # Errors
/// Files that cannot be changed.
pub(super) fn prune(folder: &Path, crates: &[Crate]) -> Result {
    let mut manifest = Manifest::read(folder)?;
    let files = manifest.retain(|name| has_image(crates, name));
    if files.is_empty() {
        return Ok(());
    }
    for file in files {
        println!("removing {file}");
        crate::sh::remove(&folder.join(file))?;
    }
    Ok(manifest.write(folder)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A crate of the library's workspace.
    fn krate(name: &str) -> Crate {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let krate = DeviceCrate::read(&root.join(name)).unwrap();
        (krate, Format::ALL.to_vec())
    }

    fn images(names: &[&str]) -> Vec<Image> {
        let crates: Vec<_> = names.iter().map(|name| krate(name)).collect();
        choose(&crates, &[]).unwrap()
    }

    #[test]
    fn images_are_chosen_by_name_and_an_unknown_name_is_answered_with_the_crates() {
        let all = [krate("kernels")];
        let count = |names: &[&str]| {
            let names: Vec<_> = names.iter().map(|name| name.to_string()).collect();
            choose(&all, &names).unwrap().len()
        };
        assert_eq!(count(&[]), warpheap_build::ALLOCATORS.len() + 1);
        assert_eq!(count(&["warpheap-kernels"]), count(&[]));
        assert_eq!(count(&["warpheap-kernels.Bump"]), 1);
        let text = choose(&all, &["kernel".into()]).unwrap_err().to_string();
        assert!(
            text.contains("`kernel`") && text.contains("warpheap-kernels"),
            "{text}"
        );
    }

    #[test]
    fn a_check_compiles_one_image_of_the_divided_crates() {
        let sample = sample(&images(&["kernels", "bench/kernels"])).unwrap();
        let formats: Vec<_> = sample.iter().map(|(_, format)| *format).collect();
        assert_eq!(formats, Format::ALL, "{sample:?}");
        assert_eq!(sample[0].0, sample[1].0);
        let both = ["warpheap-kernels", "warpheap-bench-kernels"];
        let one = both.iter().any(|name| sample[0].0.starts_with(name));
        assert!(one, "{sample:?}");
    }

    #[test]
    fn a_check_compiles_one_of_the_crates_that_are_not_divided() {
        let sample = sample(&images(&["examples/kmer", "examples/particles", "kernels"])).unwrap();
        let (name, format) = sample.last().unwrap();
        let examples = ["warpheap-kmer", "warpheap-particles"];
        assert!(examples.contains(&name.as_str()), "{sample:?}");
        assert_eq!(*format, Format::Ptx);
    }

    #[test]
    fn images_of_crates_that_are_gone_are_complained_about_and_removed() {
        let folder = std::env::temp_dir().join(format!("warpheap-strays-{}", std::process::id()));
        let krate = krate("kernels");
        prebuilt::write(&folder, &krate.0, Format::Ptx, b"ptx", None, "rustc").unwrap();
        let file = folder.join("warpheap-kernels.ptx");
        let mine = [krate];

        assert!(strays(&folder, &mine).unwrap().is_empty());
        prune(&folder, &mine).unwrap();
        assert!(file.is_file());
        assert_eq!(
            strays(&folder, &[]).unwrap(),
            ["warpheap-kernels.ptx belongs to no crate with kernels of this project"]
        );
        prune(&folder, &[]).unwrap();
        assert!(!file.exists() && strays(&folder, &[]).unwrap().is_empty());
        crate::sh::remove(&folder).unwrap();
    }
}
