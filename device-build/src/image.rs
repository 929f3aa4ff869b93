//! One image, from where it can be had.

use std::path::PathBuf;

use crate::compile::compile;
use crate::device_crate::DeviceCrate;
use crate::error::BuildError;
use crate::format::Format;
use crate::miss::PrebuiltMiss;
use crate::options::{Mode, Options};
use crate::packed::pack;
use crate::prebuilt;

/// Where an image came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImageSource {
    /// Copied from this folder of prebuilt code.
    Prebuilt(PathBuf),
    /// Compiled by the toolchain in this sysroot.
    Compiled(PathBuf),
}

/// An image.
pub(crate) struct Image {
    /// Its bytes, packed.
    pub packed: Vec<u8>,
    /// Where it came from.
    pub from: ImageSource,
}

/// One image, whose sources have the hash `source`: prebuilt in `folder` if it may be and can, else compiled. None if it is one of
/// several and has no kernels.
///
/// # Errors
/// It can neither be taken nor be compiled.
pub(crate) fn image(
    options: &Options,
    krate: &DeviceCrate,
    format: Format,
    source: &str,
    folder: Option<&PathBuf>,
) -> Result<Option<Image>, BuildError> {
    let miss = match (options.mode, folder) {
        (Mode::Build, _) => PrebuiltMiss::NotAllowed,
        _ if krate.differs_by_checks() => PrebuiltMiss::Unchecked,
        (_, None) => PrebuiltMiss::NoFolder(krate.dir().to_path_buf()),
        (_, Some(folder)) => {
            let name = krate.image_name();
            let taken = match krate.is_packaged() {
                true => prebuilt::take_packaged(folder, &name, format)?,
                false => prebuilt::take(folder, &name, format, source)?,
            };
            match taken {
                Ok(image) => {
                    return Ok(Some(Image {
                        packed: pack(&image),
                        from: ImageSource::Prebuilt(folder.clone()),
                    }));
                }
                Err(miss) => miss,
            }
        }
    };
    let name = || krate.image_name();
    if options.mode == Mode::Prebuilt {
        return Err(BuildError::PrebuiltOnly {
            krate: name(),
            format,
            miss,
        });
    }
    let toolchain = options
        .search
        .find(format)
        .map_err(|error| BuildError::NoImage {
            krate: name(),
            format,
            miss,
            toolchain: Box::new(error),
        })?;
    match compile(krate, format, &toolchain) {
        Err(BuildError::NoKernels { .. }) if krate.may_be_empty() => Ok(None),
        Err(error) => Err(error),
        Ok(image) => Ok(Some(Image {
            packed: pack(&image),
            from: ImageSource::Compiled(toolchain.sysroot),
        })),
    }
}
