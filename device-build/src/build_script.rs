//! What the build script of a device crate does: every image that the cargo features ask for, in the output folder.

use std::fs;
use std::path::PathBuf;
use std::thread::{self, Builder, ScopedJoinHandle};

use crate::device_crate::{self, CHECK, DeviceCrate};
use crate::error::BuildError;
use crate::format::Format;
use crate::image::{Image, ImageSource, image};
use crate::options::Options;
use crate::prebuilt;
use crate::toolchain;

/// The file in `OUT_DIR` that [`build`] writes and `device_module!()` includes.
pub const MODULE_FILE: &str = "warpheap_module.rs";

/// What [`try_build`] did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// It was called in the compilation for a device, where there is nothing to do.
    pub nested: bool,
    /// The images that were made, by [`DeviceCrate::image_name`].
    pub images: Vec<(String, Format, ImageSource)>,
    /// Files and folders whose change means that the build script must run again.
    pub watch: Vec<PathBuf>,
}

/// Makes the images that the cargo features ask for. This is all that a device crate's `build.rs` does.
///
/// Talks to cargo on standard output. On failure it prints one error and ends the process with exit
/// status 1.
pub fn build() {
    for name in
        toolchain::ENVIRONMENT
            .iter()
            .chain(&["WARPHEAP_KERNELS", CHECK, "CARGO_TARGET_DIR"])
    {
        // Of the variables that only lead to the toolchain, cargo's own path changes too easily.
        if *name != "CARGO" {
            println!("cargo::rerun-if-env-changed={name}");
        }
    }
    println!("cargo::rerun-if-changed=build.rs");
    match Options::from_env().and_then(|options| try_build(&options)) {
        Ok(report) => {
            for path in report.watch {
                println!("cargo::rerun-if-changed={}", path.display());
            }
        }
        Err(error) => {
            for line in error.to_string().lines() {
                println!("cargo::error={line}");
            }
            std::process::exit(1);
        }
    }
}

/// Does the work of [`build`] without printing. PTX and SPIR-V are made at the same time.
///
/// Writes the wanted images, packed, and [`MODULE_FILE`] into the output folder. The latter is one
/// expression of type `(&str, &[(&str, Option<&[u8]>, Option<&[u8]>)])`: the crate's name and its images.
/// Of each: which allocator's it is (empty for the image of an undivided crate and for that of the
/// remaining kernels, if there are any), PTX, SPIR-V; [`unpack`](crate::unpack) gives their bytes.
///
/// # Errors
/// An image can neither be taken from prebuilt code nor be compiled.
pub fn try_build(options: &Options) -> Result<Report, BuildError> {
    let mut report = Report {
        nested: options.nested,
        ..Report::default()
    };
    if options.nested {
        return Ok(report);
    }
    let name = device_crate::package_name(&options.manifest_dir)?;
    let mut parts = String::new();
    // Without formats nothing else is read: a host-only build must not fail on anything here.
    if !options.formats.is_empty() {
        parts = embed(options, &options.device_crate()?, &mut report)?;
    }
    let path = options.out_dir.join(MODULE_FILE);
    let module = format!("({name:?}, &[{}])\n", parts.trim_end_matches(", "));
    fs::write(&path, module).map_err(BuildError::io("write", &path))?;
    Ok(report)
}

/// Makes all images and gives the elements of the list that embeds them.
fn embed(
    options: &Options,
    krate: &DeviceCrate,
    report: &mut Report,
) -> Result<String, BuildError> {
    let folder = options
        .prebuilt
        .clone()
        .or_else(|| match krate.is_packaged() {
            // What lies above it belongs to somebody else.
            true => prebuilt::own(krate.dir()),
            false => prebuilt::locate(krate.dir()),
        });
    report.watch = krate.watch();
    for &format in &options.formats {
        if !krate.formats().contains(&format) {
            return Err(BuildError::NoAlloc {
                krate: krate.image_name(),
                format,
            });
        }
    }
    let mut images = Vec::new();
    for krate in krate.images() {
        let source = krate.source_hash()?;
        images.push((krate, source));
    }
    if let Some(folder) = &folder {
        report.watch.push(folder.join("manifest.json"));
        for (krate, _) in &images {
            let file = |&format| folder.join(prebuilt::file_name(krate, format));
            report.watch.extend(options.formats.iter().map(file));
        }
    }
    let mut columns = in_formats(options, Builder::new, |format| {
        let make = |(krate, source): &(DeviceCrate, String)| {
            image(options, krate, format, source, folder.as_ref())
        };
        images.iter().map(make).collect()
    })?;
    let mut parts = String::new();
    for (krate, _) in &images {
        let mut texts = Vec::new();
        for (format, column) in &mut columns {
            texts.push(match column.next().flatten() {
                None => "None".to_owned(),
                Some(Image { packed, from }) => {
                    report.images.push((krate.image_name(), *format, from));
                    store(options, krate, *format, &packed)?
                }
            });
        }
        if texts.iter().any(|text| text != "None") {
            let (name, texts) = (krate.part_name(), texts.join(", "));
            parts.push_str(&format!("({name:?}, {texts}), "));
        }
    }
    for &format in &options.formats {
        if !report.images.iter().any(|(_, made, _)| *made == format) {
            return Err(BuildError::NoKernels {
                krate: krate.image_name(),
                format,
            });
        }
    }
    // cargo takes a watched file that is not there for a changed one.
    report.watch.retain(|path| path.exists());
    Ok(parts)
}

/// The images of a crate in one format, of those that have kernels.
type Column = std::vec::IntoIter<Option<Image>>;

/// Makes the images in each format that is wanted, one format beside the other on threads that are begun with what `thread` gives, or one
/// after the other where the system gives none; of the other formats there are none.
fn in_formats(
    options: &Options,
    thread: impl Fn() -> Builder,
    make: impl Fn(Format) -> Result<Vec<Option<Image>>, BuildError> + Sync,
) -> Result<Vec<(Format, Column)>, BuildError> {
    let make = &make;
    thread::scope(|scope| {
        let started = Format::ALL.map(|format| {
            let wanted = options.formats.contains(&format);
            let make = move || make(format);
            let start = || thread().spawn_scoped(scope, make).map_err(|_| make());
            (format, wanted.then(start))
        });
        let ended = started.map(|(format, started)| {
            let column = match started.map(|thread| thread.map(ScopedJoinHandle::join)) {
                None => Ok(Vec::new()),
                Some(Ok(Ok(made)) | Err(made)) => made,
                Some(Ok(Err(panic))) => std::panic::resume_unwind(panic),
            };
            column.map(|column| (format, column.into_iter()))
        });
        ended.into_iter().collect()
    })
}

/// Writes an image into the output folder and gives the expression that embeds it.
fn store(
    options: &Options,
    krate: &DeviceCrate,
    format: Format,
    packed: &[u8],
) -> Result<String, BuildError> {
    let file = format!("{}.{}.gz", krate.image_name(), format.extension());
    let path = options.out_dir.join(file);
    fs::write(&path, packed).map_err(BuildError::io("write", &path))?;
    // Debug form: a Rust string literal, whatever the path holds.
    let path = path.display().to_string();
    Ok(format!("Some(include_bytes!({path:?}) as &[u8])"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    #[test]
    fn formats_are_made_at_the_same_time_and_come_in_their_order() {
        let options = Options::new("", "").formats(Format::ALL);
        // Whoever comes first waits for the other: one after the other, this would not end.
        let together = Barrier::new(Format::ALL.len());
        let columns = in_formats(&options, Builder::new, |_| {
            together.wait();
            Ok(vec![None])
        });
        let columns = columns.expect("nothing fails");
        assert!(columns.iter().map(|(format, _)| *format).eq(Format::ALL));
        assert!(columns.iter().all(|(_, column)| column.len() == 1));
    }

    #[test]
    fn a_format_that_is_not_wanted_is_not_made() {
        let options = Options::new("", "").formats([Format::Spirv]);
        let made = in_formats(&options, Builder::new, |format| {
            assert_eq!(format, Format::Spirv);
            Ok(vec![None])
        });
        let lengths: Vec<_> = made
            .expect("nothing fails")
            .into_iter()
            .map(|(_, column)| column.len())
            .collect();
        assert_eq!(lengths, [0, 1]);
    }

    #[test]
    fn without_threads_one_format_is_made_after_the_other() {
        let options = Options::new("", "").formats(Format::ALL);
        // None can have so large a stack.
        let none = || Builder::new().stack_size(usize::MAX / 4);
        let here = thread::current().id();
        let columns = in_formats(&options, none, |_| {
            assert_eq!(thread::current().id(), here);
            Ok(vec![None])
        });
        let columns = columns.expect("nothing fails");
        assert!(columns.iter().map(|(format, _)| *format).eq(Format::ALL));
        assert!(columns.iter().all(|(_, column)| column.len() == 1));
    }
}
