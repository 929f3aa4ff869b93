//! Which GPU is opened, and how long its kernels may take.

use std::time::Duration;
use warpheap_api::host::DeviceError;

/// Which GPU is opened, and how long its kernels may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CudaConfig {
    /// Index of the GPU, in the driver's order ([`enumerate`](crate::enumerate) lists them).
    pub device: usize,
    /// How long one launch may run before the device counts as lost.
    pub timeout: Duration,
    /// Bytes of the heap that the allocator `CudaMalloc` takes from; `None` for the driver's own choice, 8 MiB.
    /// It is the context's: the first device that is opened in a process sets it.
    pub malloc_heap_bytes: Option<usize>,
    /// Least bytes of a lane's stack once kernels that use Rust's own collections or formatting are loaded. The driver keeps
    /// as much for every lane that the GPU can run at a time.
    pub stack_bytes: usize,
    /// Kernels get fences that acquire and release in one, as GPUs before compute capability 9.0 have them, also
    /// where cheaper ones are there: to find out what they cost.
    pub fences_both_ways: bool,
    /// Kernels get no fences that release. They are wrong then: for litmus tests, which have to see it.
    pub without_release: bool,
    /// The same for fences that acquire.
    pub without_acquire: bool,
}

impl Default for CudaConfig {
    /// The first GPU; 300 seconds; stacks of 8 KiB, of which sorting takes 5.
    fn default() -> Self {
        CudaConfig {
            device: 0,
            timeout: Duration::from_secs(300),
            malloc_heap_bytes: None,
            stack_bytes: 8 << 10,
            fences_both_ways: false,
            without_release: false,
            without_acquire: false,
        }
    }
}

impl CudaConfig {
    /// The default, changed by the environment: `WARPHEAP_CUDA_DEVICE` is the index of the GPU,
    /// `WARPHEAP_TIMEOUT_S` a number of seconds, `WARPHEAP_CUDA_MALLOC_BYTES` the size of CUDA's own heap,
    /// `WARPHEAP_CUDA_STACK_BYTES` that of stacks; `WARPHEAP_CUDA_FENCES=both` asks for fences that acquire and
    /// release in one.
    ///
    /// # Errors
    /// [`DeviceError::BadConfig`] for a value that is none of these.
    pub fn from_env() -> Result<Self, DeviceError> {
        Self::from_values(|name| std::env::var_os(name).map(|v| v.to_string_lossy().into_owned()))
    }

    fn from_values(value: impl Fn(&str) -> Option<String>) -> Result<Self, DeviceError> {
        let mut config = CudaConfig::default();
        if let Some(text) = value(DEVICE) {
            config.device = text.trim().parse().map_err(|_| {
                bad(
                    DEVICE,
                    &text,
                    "the number of a GPU, as `nvidia-smi -L` counts them from 0",
                )
            })?;
        }
        if let Some(text) = value(TIMEOUT) {
            let seconds = text.trim().parse().ok().filter(|&s: &f64| s > 0.0);
            config.timeout = seconds
                .and_then(|s| Duration::try_from_secs_f64(s).ok())
                .ok_or_else(|| bad(TIMEOUT, &text, "a number of seconds above 0"))?;
        }
        if let Some(text) = value(MALLOC_HEAP) {
            let bytes = text
                .trim()
                .parse()
                .map_err(|_| bad(MALLOC_HEAP, &text, "a number of bytes"))?;
            config.malloc_heap_bytes = Some(bytes);
        }
        if let Some(text) = value(STACK) {
            config.stack_bytes = text
                .trim()
                .parse()
                .map_err(|_| bad(STACK, &text, "a number of bytes"))?;
        }
        if let Some(text) = value(FENCES) {
            config.fences_both_ways = match text.trim() {
                "both" => true,
                "best" => false,
                _ => {
                    return Err(bad(FENCES, &text, "`best` or `both`"));
                }
            };
        }
        Ok(config)
    }
}

fn bad(variable: &str, value: &str, allowed: &str) -> DeviceError {
    DeviceError::BadConfig {
        setting: variable.to_owned(),
        value: value.to_owned(),
        allowed: format!("{allowed}, or unset it"),
    }
}

const DEVICE: &str = "WARPHEAP_CUDA_DEVICE";
const TIMEOUT: &str = "WARPHEAP_TIMEOUT_S";
const MALLOC_HEAP: &str = "WARPHEAP_CUDA_MALLOC_BYTES";
const STACK: &str = "WARPHEAP_CUDA_STACK_BYTES";
const FENCES: &str = "WARPHEAP_CUDA_FENCES";

#[cfg(test)]
mod tests {
    use super::*;

    fn read(device: Option<&str>, timeout: Option<&str>) -> Result<CudaConfig, DeviceError> {
        CudaConfig::from_values(|name| match name {
            DEVICE => device.map(String::from),
            TIMEOUT => timeout.map(String::from),
            _ => None,
        })
    }

    #[test]
    fn the_environment_changes_the_default() {
        assert_eq!(read(None, None).unwrap(), CudaConfig::default());
        let config = read(Some(" 3"), Some("0.5")).unwrap();
        assert_eq!(config.device, 3);
        assert_eq!(config.timeout, Duration::from_millis(500));
    }

    #[test]
    fn values_that_are_no_numbers_are_refused_by_name() {
        for bad in ["", "-1", "first", "1.5"] {
            let text = read(Some(bad), None).unwrap_err().to_string();
            let start = format!("WARPHEAP_CUDA_DEVICE={bad} is not possible: give the number");
            assert!(text.starts_with(&start), "{text}");
        }
        for bad in ["", "0", "-2", "soon", "inf", "nan"] {
            let text = read(None, Some(bad)).unwrap_err().to_string();
            let start =
                format!("WARPHEAP_TIMEOUT_S={bad} is not possible: give a number of seconds");
            assert!(text.starts_with(&start), "{text}");
        }
    }
}
