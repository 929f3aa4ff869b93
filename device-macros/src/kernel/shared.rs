//! Parameters `SharedWords<N>`: what the lanes of a block share, on each target.

use super::device::local;
use super::parameter::Kind;
use super::parse::{Entry, Kernel};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

/// Most bytes that a kernel may share. More than 48 KiB fail with all kernels of an image when CUDA loads it; the library has a
/// word of its own there.
const MOST_BYTES: usize = (48 << 10) - 4;

/// The numbers of words that a kernel's parameters share, and which parameters they are.
fn numbers(kernel: &Kernel) -> impl Iterator<Item = (usize, &TokenStream)> {
    let parameters = kernel.parameters.iter().enumerate();
    parameters.filter_map(|(i, parameter)| match &parameter.kind {
        Kind::Shared(number) => Some((i, number)),
        _ => None,
    })
}

/// An assertion that they are not too many.
pub fn limit(kernel: &Kernel) -> TokenStream {
    let numbers: Vec<_> = numbers(kernel).map(|(_, number)| number).collect();
    if numbers.is_empty() {
        return TokenStream::new();
    }
    quote! {
        const _: () = assert!(
            4 * (0usize #(+ #numbers)*) <= #MOST_BYTES,
            "the `SharedWords` of a kernel take more than 48 KiB less a word, the most that CUDA has",
        );
    }
}

/// The parameter, of these words.
pub fn attached(rt: &TokenStream, number: &TokenStream, words: &TokenStream) -> TokenStream {
    let args = local("args");
    // SAFETY: the words are there while the block runs, and are no other parameter's.
    quote!(unsafe { #rt::shared::SharedWords::<'_, #number>::attach(#args, #words) })
}

/// The name of an array in PTX.
fn symbol(entry: &Entry, i: usize) -> String {
    format!("__warpheap_shared_{}_{i}", entry.name)
}

/// Declares the arrays of an entry in PTX: Rust has no word for them.
pub fn symbols(kernel: &Kernel, entry: &Entry, in_image: &TokenStream) -> TokenStream {
    let arrays = numbers(kernel).map(|(i, number)| {
        let text = format!(".shared .align 4 .b8 {}[{{}}];", symbol(entry, i));
        quote! {
            #in_image
            ::core::arch::global_asm!(#text, const 4 * #number);
        }
    });
    quote!(#(#arrays)*)
}

/// The words of such an array.
pub fn at_symbol(rt: &TokenStream, entry: &Entry, i: usize, number: &TokenStream) -> TokenStream {
    let text = format!("mov.u32 {{}}, {};", symbol(entry, i));
    // SAFETY: it takes the address of an array that is declared with so many words for this parameter alone.
    quote! {{
        let address: u32;
        unsafe {
            ::core::arch::asm!(#text, out(reg32) address, options(pure, nomem, nostack));
            #rt::arch::BlockWords::<#number>::from_address(address)
        }
    }}
}

/// The words that the emulator keeps for a parameter.
pub fn of_emulator(rt: &TokenStream, i: usize, number: &TokenStream) -> TokenStream {
    let i = Literal::u32_suffixed(i as u32);
    // SAFETY: the block runs, and no other parameter has this number.
    quote!(unsafe { #rt::arch::BlockWords::<#number>::of_block(#i) })
}

/// The variable of an entry in SPIR-V.
pub fn variable(rt: &TokenStream, name: &Ident, number: &TokenStream) -> TokenStream {
    quote! {
        #[rust_gpu::spirv_v0_10(workgroup)]
        #name: &mut [#rt::arch::AtomicWord; #number]
    }
}

/// The words of such a variable.
pub fn of_variable(rt: &TokenStream, name: &Ident, number: &TokenStream) -> TokenStream {
    // SAFETY: it is a workgroup variable of this parameter alone.
    quote!(unsafe { #rt::arch::BlockWords::<#number>::from_array(#name) })
}
