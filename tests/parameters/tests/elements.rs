//! Elements that are no whole words, or more than one: as memory on every device, and in kernels where they can have them.

use std::fmt::Debug;
use warpheap_api::Element;
use warpheap_api::host::{BackendKind, DeviceBox, DeviceError, DeviceVec, LaunchConfig, Pool};
use warpheap_container_tests::{Site, assert_empty};
use warpheap_parameter_kernels::load;
use warpheap_rt::alloc::RandomWalkMalloc;

const BLOCK: u32 = 40;

fn config(lanes: u32) -> LaunchConfig {
    LaunchConfig {
        grid_dim: lanes.div_ceil(BLOCK),
        block_dim: BLOCK,
    }
}

/// A vector on a device and what has to be in it.
struct Twin<T> {
    device: DeviceVec<T>,
    host: Vec<T>,
}

impl<T: Element + Copy + PartialEq + Debug> Twin<T> {
    fn new(device: DeviceVec<T>, host: Vec<T>) -> Self {
        let twin = Twin { device, host };
        twin.check("as made");
        twin
    }

    fn check(&self, when: &str) {
        assert_eq!(self.device.to_vec().unwrap(), self.host, "{when}");
    }

    fn write(&mut self, first: usize, data: &[T]) {
        self.device.copy_range_from(first, data).expect("written");
        self.host[first..][..data.len()].copy_from_slice(data);
        self.check(&format!("{} from {first}", data.len()));
    }
}

/// Numbers of a type, each other than the ones before for some time.
trait Number: Element + Copy + PartialEq + Debug {
    fn of(value: u64) -> Self;
}

macro_rules! numbers {
    ($($type:ty),*) => {$(
        impl Number for $type {
            fn of(value: u64) -> Self {
                value.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_right(8) as $type
            }
        }
    )*};
}

numbers!(u8, i8, u16, i16, u32, u64, i64, f64);

fn numbers<T: Number>(from: u64, len: usize) -> Vec<T> {
    (from..from + len as u64).map(T::of).collect()
}

/// Every range of short vectors is written and read with nothing beside it changed.
fn memory<T: Number>(site: &Site) {
    let device = &site.device;
    for len in [0, 1, 2, 3, 5, 9] {
        let made = numbers::<T>(1, len);
        let mut twin = Twin::new(DeviceVec::from_slice(device, &made).unwrap(), made);
        for first in 0..=len {
            for count in 0..=len - first {
                twin.write(first, &numbers(100 + 10 * first as u64, count));
                let mut part = vec![T::of(0); count];
                twin.device.copy_range_to(first, &mut part).unwrap();
                assert_eq!(part, twin.host[first..][..count]);
            }
        }
        twin.host = numbers(50, len);
        twin.device.copy_from(&twin.host).expect("copied");
        twin.check("all");
        let mut all = vec![T::of(0); len];
        twin.device.copy_to(&mut all).unwrap();
        assert_eq!(all, twin.host);
        twin.device.fill_zero().expect("zeros");
        twin.host = DeviceVec::zeroed(device, len).unwrap().to_vec().unwrap();
        twin.check("zeros");
        let seven = T::of(7);
        Twin::new(
            DeviceVec::filled(device, len, seven).unwrap(),
            vec![seven; len],
        );
    }
    let beyond = DeviceVec::from_slice(device, &numbers::<T>(0, 5))
        .unwrap()
        .copy_range_from(3, &numbers(0, 3));
    assert!(matches!(
        beyond,
        Err(DeviceError::OutOfRange {
            got: 6,
            room: 5,
            ..
        })
    ));
    let mut one = DeviceBox::new(device, T::of(3)).unwrap();
    assert_eq!(one.get().unwrap(), T::of(3));
    one.set(T::of(4)).unwrap();
    assert_eq!(one.get().unwrap(), T::of(4));
}

/// Ranges of one vector over those of another, at all places of a word.
fn copies<T: Number>(site: &Site) {
    let from = numbers::<T>(1, 17);
    let source = DeviceVec::from_slice(&site.device, &from).unwrap();
    let made = numbers::<T>(100, 19);
    for first in [0, 1, 2, 3, 5] {
        for start in [0, 1, 2, 3, 6] {
            for count in [0, 1, 2, 4, 7, 11] {
                let device = DeviceVec::from_slice(&site.device, &made).unwrap();
                let mut twin = Twin::new(device, made.clone());
                let range = start..start + count;
                twin.host[first..][..count].copy_from_slice(&from[range.clone()]);
                let copied = twin.device.copy_range_from_vec(first, &source, range);
                copied.expect("copied");
                twin.check(&format!("{count} from {start} to {first}"));
            }
        }
    }
}

/// What streams do with vectors that end in the midst of a word.
fn streams<T: Number>(site: &Site) {
    let (left, right) = (site.device.stream().unwrap(), site.device.stream().unwrap());
    for len in [0, 1, 3, 6, 7] {
        let data = numbers::<T>(1, len);
        let mut first = DeviceVec::zeroed(&site.device, len).unwrap();
        let mut second = DeviceVec::zeroed(&site.device, len).unwrap();
        left.write(&mut first, &data).unwrap();
        right.copy(&first, &mut second).unwrap();
        let reading = left.read(&second).unwrap();
        assert_eq!(reading.wait().unwrap(), data);
        let mut read = vec![T::of(9); len];
        let scoped = site.device.scope(|scope| {
            let stream = scope.stream()?;
            stream.read_into(&second, &mut read)
        });
        scoped.expect("read");
        assert_eq!(read, data);
        left.fill_zero(&mut first).unwrap();
        // A call of the host comes behind what streams do.
        first.copy_range_from(len / 2, &data[len / 2..]).unwrap();
        let mut expected = DeviceVec::zeroed(&site.device, len)
            .unwrap()
            .to_vec()
            .unwrap();
        expected[len / 2..].copy_from_slice(&data[len / 2..]);
        assert_eq!(first.to_vec().unwrap(), expected);
    }
}

/// Vectors in a heap have the rest of their last word for themselves.
fn in_heaps(site: &Site) {
    let pool: Pool<RandomWalkMalloc> = site.heap(1 << 20);
    let made: Vec<Vec<u8>> = (0..20).map(|len| numbers(len, len as usize)).collect();
    let vectors: Vec<_> = made
        .iter()
        .map(|bytes| DeviceVec::from_slice_in(&pool, bytes).unwrap())
        .collect();
    for (vector, bytes) in vectors.iter().zip(&made) {
        assert_eq!(&vector.to_vec().unwrap(), bytes);
    }
    drop(vectors);
    assert_empty(&pool);
}

fn as_memory(site: &Site) {
    macro_rules! all {
        ($($type:ty),*) => {$(
            memory::<$type>(site);
            copies::<$type>(site);
            streams::<$type>(site);
        )*};
    }
    all!(u8, i8, u16, i16, u32, u64, i64, f64);
    in_heaps(site);
}

/// Slices that are read, of several widths and lengths.
fn read_by_all(site: &Site) {
    let kernels = load(&site.device).expect("the kernels load");
    let vec = |site: &Site| DeviceVec::zeroed(&site.device, 90).unwrap();
    let (bytes, halves) = (numbers::<u8>(1, 85), numbers::<i16>(2, 71));
    let wides: Vec<u64> = (0..61).map(|i| i << 33 | 5).collect();
    let reals: Vec<f64> = (0..90).map(|i| i as f64 * -1.5).collect();
    let mut sums = vec(site);
    let device = &site.device;
    for _ in 0..2 {
        let launch = kernels.add_widths(
            config(90),
            &DeviceVec::from_slice(device, &bytes).unwrap(),
            &DeviceVec::from_slice(device, &halves).unwrap(),
            &DeviceVec::from_slice(device, &wides).unwrap(),
            &DeviceVec::from_slice(device, &reals).unwrap(),
            &mut sums,
        );
        launch.expect("added");
    }
    let expected: Vec<i64> = (0..90)
        .map(|i| {
            let byte = bytes.get(i).map_or(0, |&b| b as i64);
            let half = halves.get(i).map_or(0, |&h| h as i64);
            let wide = wides.get(i).map_or(0, |&w| w as i64);
            2 * (byte + half + wide - 3 * i as i64)
        })
        .collect();
    assert_eq!(sums.to_vec().unwrap(), expected);
}

/// Each lane changes its own element, whose neighbours in the word are those of other lanes.
fn own(site: &Site) {
    let kernels = load(&site.device).expect("the kernels load");
    let device = &site.device;
    let made: (Vec<u8>, Vec<i16>, Vec<u64>) =
        (numbers(1, 99), numbers::<i16>(2, 97), numbers(3, 98));
    let halves: Vec<i16> = made.1.iter().map(|half| half / 2).collect();
    let reals: Vec<f64> = (0..120).map(f64::from).collect();
    let mut bytes = DeviceVec::from_slice(device, &made.0).unwrap();
    let mut half = DeviceVec::from_slice(device, &halves).unwrap();
    let mut wides = DeviceVec::from_slice(device, &made.2).unwrap();
    let mut real = DeviceVec::from_slice(device, &reals).unwrap();
    let launch = kernels.step_widths(config(120), &mut bytes, &mut half, &mut wides, &mut real);
    launch.expect("stepped");
    // Lanes beyond the shortest do not run.
    let stepped = |i: usize| i < 97;
    let expected = made.0.iter().enumerate();
    let expected = expected.map(|(i, b)| if stepped(i) { b.wrapping_mul(3) } else { *b });
    assert_eq!(bytes.to_vec().unwrap(), expected.collect::<Vec<_>>());
    let expected: Vec<i16> = halves.iter().map(|half| half - 7).collect();
    assert_eq!(half.to_vec().unwrap(), expected);
    let expected = made.2.iter().enumerate();
    let expected = expected.map(|(i, w)| if stepped(i) { w.rotate_left(8) } else { *w });
    assert_eq!(wides.to_vec().unwrap(), expected.collect::<Vec<_>>());
    let expected = reals.iter().enumerate();
    let expected = expected.map(|(i, r)| if stepped(i) { r / 2.0 } else { *r });
    assert_eq!(real.to_vec().unwrap(), expected.collect::<Vec<_>>());
}

/// The same through an index.
fn by_index(site: &Site) {
    let kernels = load(&site.device).expect("the kernels load");
    let device = &site.device;
    let made: Vec<i8> = (0..103).map(|i| i as i8).collect();
    let halves = numbers::<u16>(5, 50);
    let mut bytes = DeviceVec::from_slice(device, &made).unwrap();
    let mut half = DeviceVec::from_slice(device, &halves).unwrap();
    let mut wides = DeviceVec::filled(device, 120, -(3i64 << 40)).unwrap();
    let launch = kernels.negate(config(120), &mut bytes, &mut half, &mut wides);
    launch.expect("negated");
    let expected: Vec<i8> = made.iter().map(|byte| -byte).collect();
    assert_eq!(bytes.to_vec().unwrap(), expected);
    let expected: Vec<u16> = halves.iter().map(|half| !half).collect();
    assert_eq!(half.to_vec().unwrap(), expected);
    assert_eq!(wides.to_vec().unwrap(), [3i64 << 40; 120]);
}

/// Lanes write neighbouring bytes and halves of words, in any order.
fn neighbours(site: &Site) {
    let kernels = load(&site.device).expect("the kernels load");
    let device = &site.device;
    let (bytes, halves) = (numbers::<u8>(1, 201), numbers::<u16>(7, 201));
    let places: Vec<u16> = (0..201).map(|i| i * 77 % 201).collect();
    let mut to_bytes = DeviceVec::zeroed(device, 201).unwrap();
    let mut to_halves = DeviceVec::zeroed(device, 201).unwrap();
    // SAFETY: 77 and 201 have no common divisor, so no two places are the same.
    let launch = unsafe {
        kernels.permute_widths(
            config(210),
            &DeviceVec::from_slice(device, &places).unwrap(),
            &DeviceVec::from_slice(device, &bytes).unwrap(),
            &mut to_bytes,
            &DeviceVec::from_slice(device, &halves).unwrap(),
            &mut to_halves,
        )
    };
    launch.expect("permuted");
    let (there, halves_there) = (to_bytes.to_vec().unwrap(), to_halves.to_vec().unwrap());
    for (i, &place) in places.iter().enumerate() {
        let found = (there[place as usize], halves_there[place as usize]);
        assert_eq!(found, (bytes[i], halves[i]));
    }
}

/// Slices that all lanes have.
fn slices(site: &Site) {
    let kernels = load(&site.device).expect("the kernels load");
    let device = &site.device;
    let wides = DeviceVec::<u64>::zeroed(device, 100).unwrap();
    let bytes = DeviceVec::<i8>::zeroed(device, 101).unwrap();
    let reals = DeviceVec::<f64>::zeroed(device, 102).unwrap();
    let launch = kernels.number_widths(config(120), &wides, &bytes, &reals);
    launch.expect("numbered");
    let expected: Vec<u64> = (0..100)
        .map(|i| (i as u64) << 32 | !(i as u32) as u64)
        .collect();
    assert_eq!(wides.to_vec().unwrap(), expected);
    let bytes = bytes.to_vec().unwrap();
    assert!((0..100).all(|i| bytes[i] == i as i8) && bytes[100] == 0);
    let reals = reals.to_vec().unwrap();
    assert!((0..100).all(|i| reals[i] == i as f64 / 8.0) && reals[101] == 0.0);
    // What a kernel changes is nobody else's, to the byte.
    let twice = kernels.number_widths(config(120), &wides, &bytes_of(&wides), &reals_of(site));
    let text = twice.expect_err("one memory").to_string();
    assert!(
        text.contains("arguments 1 and 2 are the same memory"),
        "{text}"
    );
}

/// The memory of a vector as another one.
fn bytes_of(wides: &DeviceVec<u64>) -> DeviceVec<i8> {
    let Some((buffer, len)) = buffer_of(wides) else {
        panic!("it lies in a buffer");
    };
    // SAFETY: the launch is refused, so nobody uses both.
    unsafe { DeviceVec::from_raw_parts(buffer, 0, len) }.unwrap()
}

fn buffer_of(wides: &DeviceVec<u64>) -> Option<(warpheap_api::host::RawBuffer, u32)> {
    match wides.arg() {
        warpheap_api::host::Arg::Slice(slice) => Some((slice.buffer, slice.len)),
        _ => None,
    }
}

fn reals_of(site: &Site) -> DeviceVec<f64> {
    DeviceVec::zeroed(&site.device, 102).unwrap()
}

/// A device that has no such kernels says which one is missing.
fn refused(site: &Site) {
    let kernels = load(&site.device).expect("the kernels load");
    let wides = DeviceVec::<u64>::zeroed(&site.device, 9).unwrap();
    let bytes = DeviceVec::<i8>::zeroed(&site.device, 9).unwrap();
    let refused = kernels.number_widths(config(9), &wides, &bytes, &reals_of(site));
    match refused {
        Err(error @ DeviceError::LayoutMismatch { .. }) => {
            let text = error.to_string();
            assert!(text.contains("no entry `number_widths_l"), "{text}");
            assert!(text.contains("keeps the kernel from Vulkan"), "{text}");
        }
        other => panic!("{other:?}"),
    }
}

fn all(site: &Site) {
    as_memory(site);
    if site.device.info().backend == BackendKind::Vulkan {
        return refused(site);
    }
    read_by_all(site);
    own(site);
    by_index(site);
    neighbours(site);
    slices(site);
}

#[test]
fn host() {
    for width in [1, 4, 8, 32, 64] {
        all(&Site::host(width));
    }
    for seed in 0..3 {
        all(&Site::explored(4, seed));
    }
}

warpheap_container_tests::on_gpus!(all);
