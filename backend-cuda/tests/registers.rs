//! How many registers kernels get, and which blocks they can have.

mod common;

use common::launch;
use std::fmt::Write;
use warpheap_api::host::{Device, DeviceError, DeviceVec, KernelImage, KernelResources, Module};
use warpheap_cuda::CudaConfig;

/// Words that a lane has in registers at the same time.
const WORDS: u32 = 100;

const HEAD: &str = "
.version 6.3
.target sm_70
.address_size 64
.func add(.param .b64 to, .param .b32 number)
{
    .reg .b32 %r;
    .reg .b64 %rd;
    ld.param.b64 %rd, [to];
    ld.param.b32 %r, [number];
    red.global.add.u32 [%rd], %r;
    ret;
}
";

const CALL: &str = "{
    .param .b64 to;
    .param .b32 number;
    st.param.b64 [to], %rd1;
    st.param.b32 [number], %sum;
    call.uni add, (to, number);
}";

/// By its address, so that the function is compiled by itself.
const CALL_SUM: &str = "{
    .reg .b64 %function;
    .param .b64 of;
    mov.u64 %function, sum;
    st.param.b64 [of], %rd1;
    takes: .callprototype _ (.param .b64 of);
    call %function, (of), takes;
}";

/// The steps of a lane that loads the words behind the first of a slice at `%rd1`, of which none is used before all are there, and adds what
/// becomes of them to `%sum`.
fn sum() -> String {
    let mut text = String::from("mov.u32 %sum, 0;\n");
    for word in 0..WORDS {
        let at = 4 + 4 * word;
        writeln!(text, "ld.volatile.global.u32 %r{word}, [%rd1+{at}];").unwrap();
    }
    for word in (0..WORDS).rev() {
        writeln!(text, "mad.lo.u32 %sum, %sum, 31, %r{word};").unwrap();
    }
    text
}

/// A function of these steps, which adds the sum to the first word.
fn function() -> String {
    format!(
        ".func sum(.param .b64 of)
{{
    .reg .b32 %sum, %r<{WORDS}>;
    .reg .b64 %rd1;
    ld.param.b64 %rd1, [of];
    {}
    red.global.add.u32 [%rd1], %sum;
    ret;
}}
",
        sum()
    )
}

/// A kernel whose lanes take these `steps` with the slice at `%rd1`.
fn kernel(name: &str, directive: &str, steps: &str) -> String {
    format!(
        ".visible .entry {name}(.param .align 4 .b8 args[128])
{directive}
{{
    .reg .b32 %sum, %low, %high, %r<{WORDS}>;
    .reg .b64 %rd1;
    ld.param.u32 %low, [args+16];
    ld.param.u32 %high, [args+20];
    mov.b64 %rd1, {{%low, %high}};
    {steps}
    ret;
}}
"
    )
}

fn open() -> Option<(Device, Module)> {
    let device = common::open(&CudaConfig::default())?;
    let plain = sum() + "red.global.add.u32 [%rd1], %sum;";
    let text = [
        HEAD,
        &function(),
        &kernel("calls_l1", "", &(sum() + CALL)),
        &kernel("plain_l1", "", &plain),
        &kernel("own_l1", ".maxnreg 128", &plain),
        &kernel("lean_l1", ".maxnreg 32", CALL_SUM),
    ];
    let text = text.concat();
    let image = KernelImage {
        name: "registers",
        ptx: Some(&text),
        spirv: None,
    };
    let module = device.load(&image).unwrap();
    Some((device, module))
}

/// Runs a kernel in one block of so many lanes, and checks the sum.
fn run(module: &Module, entry: &'static str, lanes: u32) -> Result<(), DeviceError> {
    let words: Vec<u32> = (0..=WORDS).map(|word| word * word).collect();
    let one = words[1..]
        .iter()
        .rev()
        .fold(0u32, |sum, word| sum.wrapping_mul(31).wrapping_add(*word));
    let slice = DeviceVec::from_slice(module.device(), &words)?;
    launch(module, entry, 1, lanes, vec![slice.arg()]).run()?;
    assert_eq!(slice.to_vec()?[0], one.wrapping_mul(lanes), "{entry}");
    Ok(())
}

/// What the driver's compiler made of a kernel.
fn resources(module: &Module, entry: &str) -> KernelResources {
    let backend = module.device().backend();
    let known = backend.kernel_resources(module.id().unwrap(), entry);
    known.unwrap().expect("the driver tells")
}

#[test]
fn a_kernel_that_calls_has_more_registers_and_is_compiled_again_for_large_blocks() {
    let Some((device, module)) = open() else {
        return;
    };
    let registers = |entry| resources(&module, entry).registers;
    run(&module, "plain_l1", 1024).unwrap();
    assert!(registers("plain_l1") <= 64);
    run(&module, "calls_l1", 256).unwrap();
    assert!((65..=80).contains(&registers("calls_l1")));
    let once = device.load_time();
    run(&module, "calls_l1", 768).unwrap();
    assert_eq!(device.load_time(), once);
    for lanes in [1024, 32, 1024] {
        run(&module, "calls_l1", lanes).unwrap();
    }
    let twice = device.load_time();
    assert!(twice > once);
    // Where small blocks are launched the first one is used.
    assert!(registers("calls_l1") > 64);
    launch(&module, "calls_l1", 1, 1024, Vec::new())
        .load()
        .unwrap();
    assert_eq!(device.load_time(), twice);
}

#[test]
fn a_kernel_with_a_number_of_its_own_keeps_it() {
    let Some((_device, module)) = open() else {
        return;
    };
    run(&module, "own_l1", 512).unwrap();
    let refused = run(&module, "own_l1", 1024).unwrap_err();
    assert!(
        matches!(&refused, DeviceError::BadLaunch { why, .. } if why.contains("registers a lane at most")),
        "{refused:?}"
    );
    run(&module, "own_l1", 512).unwrap();
}

#[test]
fn the_size_of_a_kernel_counts_what_it_calls() {
    let Some((_device, module)) = open() else {
        return;
    };
    let bytes = |entry| resources(&module, entry).code_bytes.expect("a size");
    run(&module, "lean_l1", 1024).unwrap();
    // Each loads all words: eight bytes of code at least for each of them.
    for entry in ["plain_l1", "own_l1", "lean_l1", "calls_l1"] {
        assert!(bytes(entry) > u64::from(8 * WORDS), "{entry}");
    }
}
