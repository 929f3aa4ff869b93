//! `HeapString` against strings of the host.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::cmp::Ordering;
use std::collections::HashMap;
use warpheap_api::host::{DeviceVec, HostAlloc, LaunchConfig, Pool};
use warpheap_container_kernels::string::{
    BYTE, DECIMAL, EditStringsEntry, FREE, ReadStringsEntry, StringFacts, StringOp, TEXT, TRUNCATE,
    TWICE,
};
use warpheap_container_tests::{Site, assert_empty};
use warpheap_rt::adaptor::Failing;
use warpheap_rt::alloc::RandomWalkMalloc;
use warpheap_rt::container::HeapString;

/// An allocator that the kernels are compiled for.
trait Subject: HostAlloc + EditStringsEntry + ReadStringsEntry {}
impl<A: HostAlloc + EditStringsEntry + ReadStringsEntry> Subject for A {}

const TEXT_BYTES: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789\x00\xff\x80zzzzz";
/// Bytes that a test reads of a string.
const ROOM: usize = 80;

struct Strings<'s, A> {
    site: &'s Site,
    pool: &'s Pool<A>,
    strings: DeviceVec<HeapString>,
    text: DeviceVec<u32>,
    model: Vec<Vec<u8>>,
}

impl<'s, A: Subject> Strings<'s, A> {
    fn new(site: &'s Site, pool: &'s Pool<A>, lanes: usize) -> Self {
        let words = TEXT_BYTES
            .chunks_exact(4)
            .map(|four| u32::from_le_bytes(four.try_into().unwrap()));
        let text: Vec<u32> = words.collect();
        Strings {
            site,
            pool,
            strings: DeviceVec::zeroed(&site.device, lanes).expect("strings"),
            text: DeviceVec::from_slice(&site.device, &text).expect("text"),
            model: vec![Vec::new(); lanes],
        }
    }

    fn config(&self) -> LaunchConfig {
        let lanes = self.model.len() as u32;
        LaunchConfig {
            grid_dim: lanes.div_ceil(40),
            block_dim: 40,
        }
    }

    /// One action of every lane; the codes.
    fn edit(&mut self, ops: &[StringOp]) -> Vec<u32> {
        let given = DeviceVec::from_slice(&self.site.device, ops).expect("ops");
        let codes = DeviceVec::<u32>::zeroed(&self.site.device, ops.len()).expect("codes");
        let config = self.config();
        let kernels = &self.site.kernels;
        let launch =
            kernels.edit_strings(self.pool, config, &self.strings, &given, &self.text, &codes);
        launch.unwrap_or_else(|error| panic!("{}: {error}", A::NAME));
        let codes = codes.to_vec().expect("codes");
        for ((op, code), model) in ops.iter().zip(&codes).zip(&mut self.model) {
            if *code == 0 {
                follow(model, *op);
            }
        }
        codes
    }

    /// Reads all strings and compares each with another one.
    fn check(&self) {
        let device = &self.site.device;
        let lanes = self.model.len();
        let others: Vec<u32> = (0..lanes as u32).map(|i| i * 7 % lanes as u32).collect();
        let given = DeviceVec::from_slice(device, &others).expect("others");
        let facts = DeviceVec::<StringFacts>::zeroed(device, lanes).expect("facts");
        let bytes = DeviceVec::<u32>::zeroed(device, lanes * ROOM).expect("bytes");
        let (kernels, config) = (&self.site.kernels, self.config());
        let launch = kernels.read_strings(
            self.pool,
            config,
            &self.strings,
            &given,
            &facts,
            &bytes,
            ROOM as u32,
        );
        launch.unwrap_or_else(|error| panic!("{}: {error}", A::NAME));
        let (facts, bytes) = (facts.to_vec().unwrap(), bytes.to_vec().unwrap());
        let mut hashes = HashMap::new();
        for (lane, model) in self.model.iter().enumerate() {
            let other = &self.model[others[lane] as usize];
            let order = match model.cmp(other) {
                Ordering::Less => -1,
                Ordering::Equal => 0,
                Ordering::Greater => 1,
            };
            let found = facts[lane];
            let expected = (model.len() as u32, order, (model == other) as u32);
            assert_eq!(
                (found.len, found.cmp, found.eq),
                expected,
                "{model:?} and {other:?}"
            );
            assert_eq!(*hashes.entry(model).or_insert(found.hash), found.hash);
            let mut read: Vec<u32> = model.iter().map(|byte| *byte as u32).collect();
            read.resize(ROOM.max(model.len()), u32::MAX);
            assert_eq!(bytes[lane * ROOM..][..ROOM], read[..ROOM], "{model:?}");
        }
        let different: std::collections::HashSet<_> = hashes.values().collect();
        assert_eq!(
            different.len(),
            hashes.len(),
            "two of so few strings have the same hash"
        );
    }

    fn free(mut self) {
        self.edit(&vec![
            StringOp {
                kind: FREE,
                value: 0
            };
            self.model.len()
        ]);
        assert_empty(self.pool);
    }
}

/// Does to bytes of the host what an action does.
fn follow(bytes: &mut Vec<u8>, op: StringOp) {
    let value = op.value as usize;
    match op.kind {
        BYTE => bytes.push(op.value as u8),
        TEXT => bytes.extend(&TEXT_BYTES[..value.min(TEXT_BYTES.len() / 4 * 4)]),
        TWICE => bytes.extend(bytes.clone()),
        DECIMAL => bytes.extend(op.value.to_string().bytes()),
        TRUNCATE => bytes.truncate(value),
        _ => bytes.clear(),
    }
}

fn op() -> impl Strategy<Value = StringOp> {
    let made = |kind| move |value| StringOp { kind, value };
    prop_oneof![
        4 => any::<u32>().prop_map(made(BYTE)),
        4 => (0..60u32).prop_map(made(TEXT)),
        1 => Just(StringOp { kind: TWICE, value: 0 }),
        3 => any::<u32>().prop_map(made(DECIMAL)),
        1 => prop_oneof![Just(0), Just(9), Just(10), Just(u32::MAX)].prop_map(made(DECIMAL)),
        3 => (0..50u32).prop_map(made(TRUNCATE)),
        1 => Just(StringOp { kind: FREE, value: 0 }),
    ]
}

/// Random actions give what they give on strings of the host.
fn like_strings<A: Subject>(site: &Site, cases: u32) {
    let lanes = 24;
    let programs = proptest::collection::vec(proptest::collection::vec(op(), lanes), 1..12);
    let mut runner = TestRunner::new(Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    });
    let run = |program: Vec<Vec<StringOp>>| {
        let pool = site.heap::<A>(1 << 20);
        let mut strings = Strings::new(site, &pool, lanes);
        for ops in program {
            let codes = strings.edit(&ops);
            prop_assert!(codes.iter().all(|code| *code == 0), "{:?}", codes);
        }
        strings.check();
        strings.free();
        Ok(())
    };
    runner
        .run(&programs, run)
        .unwrap_or_else(|error| panic!("{}: {error}", A::NAME));
}

/// A string that cannot grow is as it was, whatever was to be appended.
fn runs_out(site: &Site) {
    let pool = site.heap::<Failing<RandomWalkMalloc>>(4 << 20);
    for kind in [BYTE, TEXT, TWICE, DECIMAL] {
        let mut strings = Strings::new(site, &pool, 1);
        // 15 bytes of 16, to which all but one byte need more room; then one of the byte's.
        strings.edit(&[StringOp {
            kind: TEXT,
            value: 16 - (kind != BYTE) as u32,
        }]);
        Failing::refuse(&pool, 1).expect("refuses");
        let op = StringOp { kind, value: 40 };
        assert_eq!(strings.edit(&[op]), [1]);
        strings.check();
        assert_eq!(strings.edit(&[op]), [0]);
        strings.check();
        strings.free();
    }
}

fn everything(site: &Site) {
    let cases = if site.device.info().backend == warpheap_api::host::BackendKind::Host {
        40
    } else {
        10
    };
    like_strings::<RandomWalkMalloc>(site, cases);
    runs_out(site);
}

#[test]
fn host() {
    for width in [1, 4, 8, 32, 64] {
        everything(&Site::host(width));
    }
}

fn few(site: &Site) {
    like_strings::<RandomWalkMalloc>(site, 1);
}

warpheap_container_tests::explored!(everything);
warpheap_container_tests::explored_few!(few);
warpheap_container_tests::on_gpus!(everything);
