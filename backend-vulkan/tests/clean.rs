//! The validation layer has nothing to say, also not about how a device ends. One test, since it
//! listens to everything that its process logs.

mod common;

use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
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
    drop(device);
    let said = listener.0.lock().unwrap();
    assert!(said.is_empty(), "{said}");
}
