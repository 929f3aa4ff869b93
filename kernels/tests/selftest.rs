//! The self-test on the emulator, and on devices that lie.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use warpheap_host::{HostConfig, open};
use warpheap_kernels::selftest::check;
use warpheap_rt::api::host::{
    Backend, BufferId, Device, DeviceError, DeviceInfo, KernelImage, Launch, LaunchReport, ModuleId,
};

fn emulator(warp_width: u32) -> Device {
    open(HostConfig {
        warp_width,
        threads: 2,
        ..HostConfig::default()
    })
    .unwrap()
}

#[test]
fn a_right_device_of_any_width_passes() {
    for width in [1, 4, 8, 32, 64] {
        check(&emulator(width)).unwrap_or_else(|error| panic!("width {width}: {error}"));
    }
}

/// What a [`Liar`] changes.
#[derive(Clone, Copy, Debug)]
enum Lie {
    /// A bit in the middle of the read with this number.
    Read(usize),
    /// A count in the reports of the submission with this number.
    Report(usize),
}

/// A device that works, but for one lie.
#[derive(Debug)]
struct Liar {
    honest: Arc<dyn Backend>,
    lie: Lie,
    reads: AtomicUsize,
    submissions: AtomicUsize,
}

impl Backend for Liar {
    fn info(&self) -> &DeviceInfo {
        self.honest.info()
    }
    fn alloc(&self, bytes: u64) -> Result<BufferId, DeviceError> {
        self.honest.alloc(bytes)
    }
    fn dealloc(&self, buffer: BufferId) {
        self.honest.dealloc(buffer)
    }
    fn write(&self, buffer: BufferId, offset: u64, data: &[u8]) -> Result<(), DeviceError> {
        self.honest.write(buffer, offset, data)
    }
    fn read(&self, buffer: BufferId, offset: u64, data: &mut [u8]) -> Result<(), DeviceError> {
        self.honest.read(buffer, offset, data)?;
        let number = self.reads.fetch_add(1, Ordering::Relaxed);
        if matches!(self.lie, Lie::Read(lie) if lie == number) {
            data[data.len() / 2] ^= 1;
        }
        Ok(())
    }
    fn fill(
        &self,
        buffer: BufferId,
        offset: u64,
        words: u64,
        value: u32,
    ) -> Result<(), DeviceError> {
        self.honest.fill(buffer, offset, words, value)
    }
    fn copy(
        &self,
        from: (BufferId, u64),
        to: (BufferId, u64),
        bytes: u64,
    ) -> Result<(), DeviceError> {
        self.honest.copy(from, to, bytes)
    }
    fn load(&self, image: &KernelImage<'_>) -> Result<ModuleId, DeviceError> {
        self.honest.load(image)
    }
    fn submit(&self, launches: &[Launch<'_>]) -> Result<Vec<LaunchReport>, DeviceError> {
        let mut reports = self.honest.submit(launches)?;
        let number = self.submissions.fetch_add(1, Ordering::Relaxed);
        if matches!(self.lie, Lie::Report(lie) if lie == number) {
            reports[0].words[0] += 1;
        }
        Ok(reports)
    }
}

/// Checks a device that lies, and says how much was asked of it.
fn check_liar(lie: Lie) -> (Result<(), DeviceError>, usize, usize) {
    let liar = Arc::new(Liar {
        honest: emulator(8).backend().clone(),
        lie,
        reads: AtomicUsize::new(0),
        submissions: AtomicUsize::new(0),
    });
    let verdict = check(&Device::new(liar.clone()));
    let asked = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
    (verdict, asked(&liar.reads), asked(&liar.submissions))
}

#[test]
fn one_wrong_bit_in_anything_that_is_read_is_found() {
    let (verdict, reads, submissions) = check_liar(Lie::Read(usize::MAX));
    verdict.unwrap();
    assert!(reads >= 10 && submissions >= 6);
    for lie in 0..reads {
        let error = check_liar(Lie::Read(lie))
            .0
            .expect_err("a lie went unnoticed");
        assert!(
            matches!(error, DeviceError::SelfTest { .. }),
            "read {lie}: {error}"
        );
    }
}

#[test]
fn a_wrong_report_is_found() {
    let (_, _, submissions) = check_liar(Lie::Read(usize::MAX));
    let refused = (0..submissions).filter(|&lie| check_liar(Lie::Report(lie)).0.is_err());
    // Of the launches that fail by intent, and of all others that are checked for failures: all but
    // the two launches that only add.
    assert!(refused.count() + 2 >= submissions);
}
