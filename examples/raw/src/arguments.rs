//! The command line.

/// What `--help` prints.
pub const USAGE: &str = "\
raw-door --ptx FILE [options]: kernels with a heap, launched through cust

  --ptx FILE       the kernels: examples/raw/kernels compiled for nvptx64-nvidia-cuda
  --lanes N        lanes that allocate [default: 1048576]
  --heap-mib N     size of the heap in MiB [default: 8192]
  --repeats N      timed repeats, of which the median is shown [default: 21]
  --registers N    most registers of a lane, 16 to 255 [default: 32]
  --plain          load the PTX as it is, not as `warpheap_raw::host::ptx::tuned` makes it
  --help           this";

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
pub struct Arguments {
    /// Path of the PTX.
    pub ptx: String,
    /// Lanes that allocate.
    pub lanes: u32,
    /// Bytes of the heap.
    pub heap_bytes: u64,
    /// Timed repeats.
    pub repeats: u32,
    /// Most registers of a lane.
    pub registers: u32,
    /// Whether the PTX is loaded as it is.
    pub plain: bool,
}

impl Arguments {
    /// From the words of the command line; `None` if help is wanted.
    ///
    /// # Errors
    /// What is wrong, in one message.
    pub fn parse(given: impl IntoIterator<Item = String>) -> Result<Option<Self>, String> {
        let mut given = given.into_iter();
        let mut ptx = None;
        let (mut lanes, mut heap_mib, mut repeats, mut registers) = (1 << 20, 8192, 21, 32);
        let mut plain = false;
        while let Some(option) = given.next() {
            match &*option {
                "--help" | "-h" => return Ok(None),
                "--plain" => plain = true,
                "--ptx" => ptx = Some(given.next().ok_or("--ptx wants a file")?),
                "--lanes" => lanes = number(&option, given.next(), 1, 1 << 26)?,
                "--heap-mib" => heap_mib = number(&option, given.next(), 1, 65535)?,
                "--repeats" => repeats = number(&option, given.next(), 1, 10_000)?,
                "--registers" => registers = number(&option, given.next(), 16, 255)?,
                other => return Err(format!("unknown argument `{other}`")),
            }
        }
        Ok(Some(Arguments {
            ptx: ptx.ok_or("say where the kernels are: --ptx FILE")?,
            lanes,
            heap_bytes: u64::from(heap_mib) << 20,
            repeats,
            registers,
            plain,
        }))
    }
}

/// The number behind an option.
fn number(option: &str, given: Option<String>, least: u32, most: u32) -> Result<u32, String> {
    let given = given.ok_or_else(|| format!("{option} wants a number"))?;
    match given.parse() {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => Err(format!(
            "{option} {given} is not possible: give a number from {least} to {most}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(given: &str) -> Result<Option<Arguments>, String> {
        Arguments::parse(given.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn defaults_and_options() {
        let arguments = parse("--ptx a.ptx --heap-mib 64 --plain").expect("good");
        let arguments = arguments.expect("no help");
        assert_eq!((arguments.lanes, arguments.heap_bytes), (1 << 20, 64 << 20));
        assert!(arguments.plain && arguments.ptx == "a.ptx");
        assert_eq!(parse("--ptx a --help"), Ok(None));
    }

    #[test]
    fn what_is_wrong_is_told() {
        for (given, told) in [
            ("", "--ptx"),
            ("--ptx", "a file"),
            ("--ptx a --lanes", "a number"),
            ("--ptx a --lanes 0", "from 1"),
            ("--ptx a --registers many", "16 to 255"),
            ("--ptx a quickly", "`quickly`"),
        ] {
            let error = parse(given).expect_err("bad");
            assert!(error.contains(told), "{given}: {error}");
        }
    }
}
