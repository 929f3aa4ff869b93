//! Files of TOML.

use std::fs;
use std::path::Path;

use toml_span::Value;

use crate::error::BuildError;

/// What a file of text holds.
pub(super) fn read_text(path: &Path) -> Result<String, BuildError> {
    fs::read_to_string(path).map_err(BuildError::io("read", path))
}

/// Hands the parsed form of a TOML file to `use_it`.
pub(crate) fn with_toml<T>(
    path: &Path,
    use_it: impl FnOnce(&Value<'_>) -> Result<T, BuildError>,
) -> Result<T, BuildError> {
    let text = read_text(path)?;
    let value = toml_span::parse(&text)
        .map_err(|e| BuildError::malformed(path, format!("not valid TOML: {e}")))?;
    use_it(&value)
}
