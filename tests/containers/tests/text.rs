//! Texts that lanes make, against Rust's own formatting.

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use warpheap_api::host::{BackendKind, DeviceVec, LaunchConfig, Pool};
use warpheap_container_kernels::text::{FreeTextsEntry, WriteWordsEntry};
use warpheap_container_tests::{Site, assert_empty};
use warpheap_rt::adaptor::Failing;
use warpheap_rt::alloc::RandomWalkMalloc;
use warpheap_rt::container::HeapString;
use warpheap_rt::host::container::read_strings;

type Walk = RandomWalkMalloc;

/// Strings of lanes, and what they should hold.
struct Texts<'s, A> {
    site: &'s Site,
    pool: &'s Pool<A>,
    strings: DeviceVec<HeapString>,
    model: Vec<String>,
}

impl<'s, A: FreeTextsEntry> Texts<'s, A> {
    fn new(site: &'s Site, pool: &'s Pool<A>, lanes: usize) -> Self {
        Texts {
            site,
            pool,
            strings: DeviceVec::zeroed(&site.device, lanes).expect("strings"),
            model: vec![String::new(); lanes],
        }
    }

    fn config(&self) -> LaunchConfig {
        LaunchConfig {
            grid_dim: self.model.len().div_ceil(40) as u32,
            block_dim: 40,
        }
    }

    fn vec<T: warpheap_api::HeapData + Copy>(&self, values: &[T]) -> DeviceVec<T> {
        DeviceVec::from_slice(&self.site.device, values).expect("values")
    }

    fn check(&self) {
        let read = read_strings(self.pool, &self.strings).expect("strings");
        for (read, model) in read.iter().zip(&self.model) {
            assert_eq!(String::from_utf8_lossy(read), *model);
        }
    }

    fn free(mut self) {
        let (kernels, config) = (&self.site.kernels, self.config());
        let freed = kernels.free_texts(self.pool, config, &mut self.strings);
        freed.expect("strings are freed");
        assert_empty(self.pool);
    }
}

impl<A: FreeTextsEntry + WriteWordsEntry> Texts<'_, A> {
    /// Every lane appends its word; whether all had room.
    fn words(&mut self, words: &[u32]) -> bool {
        let (mut given, config) = (self.vec(words), self.config());
        let kernels = &self.site.kernels;
        let launch = kernels.write_words(self.pool, config, &mut self.strings, &mut given);
        launch.is_ok()
    }
}

/// What `write_words` appends, in three steps.
fn of_word(word: u32) -> [String; 3] {
    let signed = word as i32;
    [
        format!("{word} {:5}|{signed:<+7}|{0:^9}|", word),
        format!("{word:05} {signed:+06} "),
        format!("{word:x} {word:#010X} {signed:b} {:*>#14o}\n", word),
    ]
}

/// A number of random length.
fn any_word(random: &mut SmallRng) -> u32 {
    let few = [0, 1, 9, 10, 99, 100, 1 << 31, u32::MAX, u32::MAX - 9];
    match random.random_range(0..8) {
        0 => few[random.random_range(0..few.len())],
        1 => (random.random::<u32>() >> random.random_range(0..32)).wrapping_neg(),
        _ => random.random::<u32>() >> random.random_range(0..32),
    }
}

fn words(site: &Site, lanes: usize, random: &mut SmallRng) {
    let pool = site.heap::<Walk>(4 << 20);
    let mut texts = Texts::new(site, &pool, lanes);
    // Twice, so that a text begins at each byte of a word.
    for _ in 0..2 {
        let words: Vec<u32> = (0..lanes).map(|_| any_word(random)).collect();
        assert!(texts.words(&words));
        for (model, word) in texts.model.iter_mut().zip(&words) {
            *model += &of_word(*word).concat();
        }
        texts.check();
    }
    texts.free();
}

fn wides(site: &Site, lanes: usize, random: &mut SmallRng) {
    let pool = site.heap::<Walk>(4 << 20);
    let mut texts = Texts::new(site, &pool, lanes);
    let few = [
        0,
        1,
        u64::MAX,
        1 << 63,
        99_999_999,
        100_000_000,
        u32::MAX as u64,
        1 << 32,
    ];
    let wides: Vec<u64> = (0..lanes)
        .map(|lane| match few.get(lane) {
            Some(wide) => *wide,
            None => random.random::<u64>() >> random.random_range(0..64),
        })
        .collect();
    let mut low = texts.vec(&wides.iter().map(|wide| *wide as u32).collect::<Vec<_>>());
    let mut high = texts.vec(
        &wides
            .iter()
            .map(|wide| (*wide >> 32) as u32)
            .collect::<Vec<_>>(),
    );
    let (kernels, config) = (&site.kernels, texts.config());
    let launch = kernels.write_wides(&pool, config, &mut texts.strings, &mut low, &mut high);
    launch.expect("room");
    for (model, wide) in texts.model.iter_mut().zip(wides) {
        let signed = wide as i64;
        *model = format!("{wide} {wide:022}|{signed}|{signed:>+24}|{wide:x} {signed:#o}|");
    }
    texts.check();
    texts.free();
}

/// Numbers that are hard to show.
const FLOATS: &[f32] = &[
    0.0,
    -0.0,
    1.0,
    0.1,
    0.5,
    1.5,
    2.5,
    -0.25,
    0.05,
    0.35,
    1e-9,
    9.999_999e-1,
    999.999_9,
    16_777_216.0,
    8_388_607.5,
    4_194_303.8,
    1e10,
    5e-10,
    f32::MAX,
    f32::MIN,
    f32::MIN_POSITIVE,
    1e-45,
    f32::EPSILON,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
];

/// A random number: mostly any bits, otherwise one with few digits, or a power of two, whose neighbours are unevenly far away.
fn any_float(random: &mut SmallRng) -> f32 {
    let sign = random.random::<u32>() & 1 << 31;
    match random.random_range(0..8) {
        0 => random.random_range(-100_000..100_000) as f32 / 8.0,
        1 => random.random_range(-100_000..100_000) as f32 / 1000.0,
        2 => f32::from_bits(random.random_range(0..255) << 23 | sign),
        3 => f32::from_bits(random.random_range(0..1 << 12) | sign),
        4 => {
            f32::from_bits(random.random_range(100..155) << 23 | random.random::<u32>() >> 9 | sign)
        }
        _ => f32::from_bits(random.random()),
    }
}

fn floats(site: &Site, lanes: usize, random: &mut SmallRng) {
    let pool = site.heap::<Walk>(64 << 20);
    let mut texts = Texts::new(site, &pool, lanes);
    let numbers: Vec<f32> = (0..lanes)
        .map(|lane| match FLOATS.get(lane) {
            Some(number) => *number,
            None => any_float(random),
        })
        .collect();
    let mut given = texts.vec(&numbers);
    let (kernels, config) = (&site.kernels, texts.config());
    let launch = kernels.write_floats(&pool, config, &mut texts.strings, &mut given);
    launch.expect("room");
    for (model, x) in texts.model.iter_mut().zip(numbers) {
        *model = format!("{x} {x:+} {x:012}|");
        *model += &format!("{x:.0} {x:.3} {:^+15.2}|{:09.1}|{:.9}\n", x, x, x);
    }
    texts.check();
    texts.free();
}

fn others(site: &Site, lanes: usize, random: &mut SmallRng) {
    let pool = site.heap::<Walk>(4 << 20);
    let mut texts = Texts::new(site, &pool, lanes);
    for _ in 0..2 {
        let letters: Vec<char> = (0..lanes)
            .map(|_| match random.random_range(0..4) {
                0 => random.random_range('\0'..'\u{80}'),
                1 => random.random_range('\u{80}'..'\u{800}'),
                2 => random.random_range('\u{800}'..'\u{1_0000}'),
                _ => random.random_range('\u{1_0000}'..=char::MAX),
            })
            .collect();
        let mut codes = texts.vec(&letters.iter().map(|c| *c as u32).collect::<Vec<_>>());
        let (kernels, config) = (&site.kernels, texts.config());
        let launch = kernels.write_others(&pool, config, &mut texts.strings, &mut codes);
        launch.expect("room");
        for (model, letter) in texts.model.iter_mut().zip(letters) {
            let other = format!("{{{letter}}}ä{}", letter as u32 % 2 == 0);
            *model += &format!("{0}, {0:7}, {0:_^9}, {letter:→>3};", other);
        }
        texts.check();
    }
    texts.free();
}

/// A text for which there is no room leaves the string as it was, and those before it in it.
fn runs_out(site: &Site) {
    let pool = site.heap::<Failing<Walk>>(4 << 20);
    let mut some_refused = false;
    for refused in 1.. {
        let mut texts = Texts::new(site, &pool, 1);
        Failing::refuse(&pool, refused).expect("refuses");
        let all = texts.words(&[4_000_000_000]);
        let steps = of_word(4_000_000_000);
        // Each step is one malloc at most, and the first one is always one.
        let read = read_strings(&pool, &texts.strings).expect("strings");
        let done = (0..=3).find(|done| steps[..*done].concat().as_bytes() == read[0]);
        assert_eq!(done == Some(3), all, "{read:?}");
        texts.model[0] = steps[..done.expect("whole steps")].concat();
        // It goes on from there.
        Failing::refuse(&pool, u32::MAX).expect("refuses none");
        assert!(texts.words(&[7]));
        texts.model[0] += &of_word(7).concat();
        texts.check();
        texts.free();
        if all {
            break;
        }
        some_refused = true;
    }
    assert!(some_refused);
}

/// Types that Vulkan has not.
fn all_of_rust(site: &Site) {
    if site.device.info().backend == BackendKind::Vulkan {
        return;
    }
    let pool = site.heap::<Walk>(4 << 20);
    for number in [0, 300, 70_000, u64::MAX, 0xffff_8000_0000_8080] {
        let mut texts = Texts::new(site, &pool, 2);
        let (kernels, config) = (&site.kernels, texts.config());
        let launch = kernels.write_all_of_rust(&pool, config, &mut texts.strings, number);
        launch.expect("room");
        let (byte, half, text) = (number as u8, number as i16, "grün");
        let mut model = format!("{number} {:x} {byte:02x} {half:+} {text:>6}", number as i64);
        model += &format!("{} {:#b} {:o}", text, number as i8, number as u16);
        texts.model.fill(model);
        texts.check();
        texts.free();
    }
}

fn everything(site: &Site) {
    let mut random = SmallRng::seed_from_u64(0x7e47);
    let lanes = if site.device.info().backend == BackendKind::Host {
        400
    } else {
        1000
    };
    words(site, lanes, &mut random);
    wides(site, lanes, &mut random);
    floats(site, lanes, &mut random);
    others(site, lanes, &mut random);
    runs_out(site);
    all_of_rust(site);
}

#[test]
fn host() {
    for width in [1, 4, 8, 32, 64] {
        everything(&Site::host(width));
    }
}

/// Many numbers in the emulator.
#[test]
fn many_floats() {
    let mut random = SmallRng::seed_from_u64(0xf10a);
    floats(&Site::host(32), 20_000, &mut random);
}

fn few(site: &Site) {
    let mut random = SmallRng::seed_from_u64(0x7e47);
    words(site, 12, &mut random);
    others(site, 12, &mut random);
}

warpheap_container_tests::explored_few!(few);
warpheap_container_tests::on_gpus!(everything);
