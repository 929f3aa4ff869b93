//! How many bytes of machine code each kernel and function of a PTX text becomes.

use crate::link::link;
use std::collections::HashMap;
use std::ffi::CString;

/// Compiles `ptx` for the current context's device with at most so many registers for a lane, and returns the sizes of its kernels' code and of
/// the functions that they call; `None` if the driver refuses or the result is not the ELF file that it used to be.
///
/// The limit is that of the kernel which is asked for. Without one, functions would get more registers than a kernel with a limit of its own
/// has, and the linker refuses to put them together.
pub(crate) fn code_sizes(ptx: &str, registers: u32) -> Option<HashMap<String, u64>> {
    match link(&CString::new(ptx).ok()?, Some(registers)) {
        Ok(cubin) => code_sections(&cubin),
        Err(status) => {
            tracing::debug!(%status, "no code sizes");
            None
        }
    }
}

/// Sizes of the sections `.text.<name>` of a 64-bit little-endian ELF file.
fn code_sections(elf: &[u8]) -> Option<HashMap<String, u64>> {
    if elf.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let table = usize::try_from(number(elf, 0x28, 8)?).ok()?;
    let entry_bytes = number(elf, 0x3a, 2)? as usize;
    let count = number(elf, 0x3c, 2)? as usize;
    let names_index = number(elf, 0x3e, 2)? as usize;
    let section = |index: usize| {
        let start = table.checked_add(index.checked_mul(entry_bytes)?)?;
        elf.get(start..start.checked_add(0x40)?)
    };
    let names = section(names_index)?;
    let names = elf.get(usize::try_from(number(names, 0x18, 8)?).ok()?..)?;
    let mut sizes = HashMap::new();
    for index in 0..count {
        let header = section(index)?;
        let name = names.get(number(header, 0, 4)? as usize..)?;
        let name = name.split(|&b| b == 0).next()?;
        let name = std::str::from_utf8(name).ok()?;
        if let Some(code) = name.strip_prefix(".text.") {
            sizes.insert(code.to_string(), number(header, 0x20, 8)?);
        }
    }
    Some(sizes)
}

/// The little-endian number of `bytes` bytes at `at`.
fn number(data: &[u8], at: usize, bytes: usize) -> Option<u64> {
    let field = data.get(at..at.checked_add(bytes)?)?;
    Some(field.iter().rev().fold(0, |n, &b| n << 8 | b as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ELF file with one section per (name, size), the section names last.
    fn elf(sections: &[(&str, u64)]) -> Vec<u8> {
        let mut names = vec![0u8];
        let mut headers = Vec::new();
        let mut header = |name: u32, offset: u64, size: u64| {
            let mut one = vec![0u8; 0x40];
            one[..4].copy_from_slice(&name.to_le_bytes());
            one[0x18..0x20].copy_from_slice(&offset.to_le_bytes());
            one[0x20..0x28].copy_from_slice(&size.to_le_bytes());
            headers.extend(one);
        };
        for (name, size) in sections {
            header(names.len() as u32, 0, *size);
            names.extend(name.bytes());
            names.push(0);
        }
        let names_at = 0x40 + 0x40 * (sections.len() as u64 + 1);
        header(0, names_at, names.len() as u64);
        let mut file = vec![0u8; 0x40];
        file[..6].copy_from_slice(b"\x7fELF\x02\x01");
        file[0x28..0x30].copy_from_slice(&0x40u64.to_le_bytes());
        file[0x3a..0x3c].copy_from_slice(&0x40u16.to_le_bytes());
        file[0x3c..0x3e].copy_from_slice(&(sections.len() as u16 + 1).to_le_bytes());
        file[0x3e..0x40].copy_from_slice(&(sections.len() as u16).to_le_bytes());
        file.extend(headers);
        file.extend(names);
        file
    }

    #[test]
    fn kernels_are_the_text_sections() {
        let file = elf(&[
            (".text.a_l1", 640),
            (".nv.info", 12),
            (".text.b_l1", 1 << 33),
        ]);
        let sizes = code_sections(&file).unwrap();
        assert_eq!(sizes.len(), 2);
        assert_eq!(sizes["a_l1"], 640);
        assert_eq!(sizes["b_l1"], 1 << 33);
    }

    #[test]
    fn broken_files_are_refused() {
        let file = elf(&[(".text.a_l1", 640)]);
        assert!(code_sections(&[]).is_none());
        assert!(code_sections(b"PK\x03\x04 is no such file").is_none());
        for cut in [5, 0x27, 0x3f, 0x41, file.len() - 12] {
            assert!(code_sections(&file[..cut]).is_none(), "{cut}");
        }
    }
}
