//! The validation layer has nothing to say, also not about how a device ends. One test, since it
//! listens to everything that its process logs.

mod common;

use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use warpheap_api::host::{Device, DeviceVec, LaunchConfig, Mark, Work};
use warpheap_vulkan::{VulkanConfig, open_unchecked};

/// Keeps what was logged as a warning or an error.
#[derive(Clone, Default)]
struct Listener(Arc<Mutex<String>>);

struct Text<'a>(&'a mut String);

impl Visit for Text<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = writeln!(self.0, "{field}: {value:?}");
    }
}

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::WARN
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        event.record(&mut Text(&mut self.0.lock().unwrap()));
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// Work of every kind on two streams that wait for one another, more of it than a stream has under way.
fn work_on_streams(device: &Device) {
    let kernels = warpheap_kernels::load(device).unwrap();
    let numbers = DeviceVec::<u32>::zeroed(device, 64).unwrap();
    let add = kernels.selftest_index_launch(LaunchConfig::for_num_elems(64), &numbers);
    let add = [add.launch().unwrap()];
    let [copy, all] = [256, 1024].map(|bytes| device.alloc(bytes).unwrap());
    let streams = device.backend().streams().unwrap();
    let [one, two] = [(); 2].map(|()| streams.open().unwrap());
    let queue = |stream, after: &[Mark], work: Work<'_>| {
        // SAFETY: the buffers stay until the streams have been waited for.
        let at = unsafe { streams.queue(stream, after, work) }.unwrap();
        Mark { stream, at }
    };
    let mut last = Mark { stream: two, at: 0 };
    for round in 0..50 {
        let added = queue(one, &[last], Work::Launches(&add));
        let (from, to) = ((copy.id(), 0), (all.id(), 256));
        let write = Work::Write {
            buffer: copy.id(),
            offset: 128,
            data: &[round; 64],
        };
        queue(two, &[added], write);
        queue(
            two,
            &[],
            Work::Copy {
                from,
                to,
                bytes: 256,
            },
        );
        let stamp = queue(two, &[added], Work::Stamp);
        let fill = Work::Fill {
            buffer: all.id(),
            offset: 512,
            words: 64,
            value: round.into(),
        };
        queue(two, &[], fill);
        let read = Work::Read {
            buffer: all.id(),
            offset: 256,
            bytes: 512,
        };
        last = queue(two, &[], read);
        if round % 10 == 0 {
            streams.wait(last).unwrap();
            let mut read = [0; 512];
            streams.take(last, &mut read).unwrap();
            assert_eq!(read[128..192], [round; 64]);
            assert!(streams.elapsed(stamp, stamp).unwrap().is_zero());
        } else {
            streams.forget(last);
        }
        streams.forget(stamp);
    }
    let batch = vec![add[0].clone(); 300];
    let end = queue(one, &[last], Work::Launches(&batch));
    streams.wait(end).unwrap();
    assert!(streams.failure(one).is_none());
    streams.close(one);
    streams.close(two);
}

#[test]
fn a_device_opens_works_and_ends_without_complaints() {
    let listener = Listener::default();
    tracing::subscriber::set_global_default(listener.clone()).unwrap();
    let config = VulkanConfig {
        validation: true,
        ..common::config()
    };
    let device = match open_unchecked(&config) {
        // A machine may have a driver and no layer.
        Err(error) if error.to_string().contains("vulkan-validationlayers") => {
            eprintln!("SKIPPED, nothing was validated: {error}");
            return;
        }
        opened => common::unless_absent(opened),
    };
    let Some(device) = device else { return };
    warpheap_kernels::selftest::check(&device).unwrap();
    work_on_streams(&device);
    drop(device);
    let said = listener.0.lock().unwrap();
    assert!(said.is_empty(), "{said}");
}
