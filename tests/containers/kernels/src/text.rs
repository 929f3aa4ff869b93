//! Texts that lanes make of numbers, and lines that they leave for the host.

use warpheap_rt::device::*;

/// Each lane appends its words to its string, as numbers with and without a sign.
#[kernel(allocators = [RandomWalkMalloc, Failing<RandomWalkMalloc>])]
pub fn write_words<A: DeviceAlloc>(
    heap: Heap<A>,
    string: &mut HeapString,
    word: &mut u32,
) -> Result<(), AllocError> {
    let (word, signed) = (*word, *word as i32);
    heap_write!(string, heap, "{word} {:5}|{signed:<+7}|{0:^9}|", word)?;
    heap_write!(string, heap, "{word:05} {signed:+06} ")?;
    heap_write!(
        string,
        heap,
        "{word:x} {word:#010X} {signed:b} {:*>#14o}\n",
        word
    )
}

/// Each lane appends its number of two words.
#[kernel(allocators = [RandomWalkMalloc])]
pub fn write_wides<A: DeviceAlloc>(
    heap: Heap<A>,
    string: &mut HeapString,
    low: &mut u32,
    high: &mut u32,
) -> Result<(), AllocError> {
    let (low, high) = (*low, *high);
    let wide = U64Words { low, high };
    let signed = I64Words { low, high };
    heap_write!(
        string,
        heap,
        "{wide} {wide:022}|{signed}|{signed:>+24}|{wide:x} {signed:#o}|"
    )
}

/// Each lane appends its number, with the fewest digits and with some behind the point.
#[kernel(allocators = [RandomWalkMalloc])]
pub fn write_floats<A: DeviceAlloc>(
    heap: Heap<A>,
    string: &mut HeapString,
    number: &mut f32,
) -> Result<(), AllocError> {
    // By reference, as lanes have their elements.
    heap_write!(string, heap, "{number} {number:+} {number:012}|")?;
    let x = *number;
    heap_write!(
        string,
        heap,
        "{number:.0} {x:.3} {:^+15.2}|{:09.1}|{:.9}\n",
        x,
        &x,
        x
    )
}

/// Each lane appends a character, whether it is even, and another string.
#[kernel(allocators = [RandomWalkMalloc])]
pub fn write_others<A: DeviceAlloc>(
    heap: Heap<A>,
    string: &mut HeapString,
    code: &mut u32,
) -> Result<(), AllocError> {
    let mut other = HeapString::new();
    let letter = char::from_u32(*code).unwrap_or('?');
    let result = match heap_write!(other, heap, "{{{letter}}}ä{}", *code % 2 == 0) {
        Ok(()) => heap_write!(
            string,
            heap,
            "{0}, {0:7}, {0:_^9}, {letter:→>3};",
            other.text(heap)
        ),
        Err(error) => Err(error),
    };
    other.free(heap);
    result
}

/// Frees the lane's string.
#[kernel(allocators = [RandomWalkMalloc, Failing<RandomWalkMalloc>])]
pub fn free_texts<A: DeviceAlloc>(heap: Heap<A>, string: &mut HeapString) {
    string.free(heap);
}

/// Each lane leaves so many lines, and counts those for which there was room.
#[kernel]
pub fn print_lines(log: Log, lines: u32, kept: &mut u32) {
    let lane = thread::index();
    let mut line = 0;
    while line < lines {
        *kept += heap_print!(
            log,
            "lane {lane:04}, line {line}: {:x}",
            lane * line * 0x1_0001
        ) as u32;
        line += 1;
    }
}

/// Each lane leaves a string of so many letters, and then an empty line.
#[kernel(allocators = [RandomWalkMalloc])]
pub fn print_strings<A: DeviceAlloc>(
    heap: Heap<A>,
    log: Log,
    len: &mut u32,
) -> Result<(), AllocError> {
    let mut string = HeapString::new();
    while string.len() < *len {
        string.push_byte(heap, 'a' as u32 + string.len() % 26)?;
    }
    heap_print!(log, "{}", string.text(heap));
    heap_print!(log, "");
    string.free(heap);
    Ok(())
}

/// Each lane appends its number in the types that Vulkan has not.
#[cfg(not(target_arch = "spirv"))]
#[kernel(allocators = [RandomWalkMalloc])]
pub fn write_all_of_rust<A: DeviceAlloc>(
    heap: Heap<A>,
    string: &mut HeapString,
    number: u64,
) -> Result<(), AllocError> {
    let (byte, half, text) = (number as u8, number as i16, "grün");
    heap_write!(
        string,
        heap,
        "{number} {:x} {byte:02x} {half:+} {text:>6}",
        number as i64
    )?;
    heap_write!(
        string,
        heap,
        "{} {:#b} {:o}",
        text,
        number as i8,
        number as u16
    )
}
