//! The entry points: one function for each target, of which one is kept.
//!
//! The runtime's `__on_…!` macros decide which, because a `cfg` in the expansion would be the user's own:
//! it would warn of `target_arch = "spirv"`, which their compiler has not heard of.

use super::options::Registers;
use super::parameter::Kind;
use super::parse::{Entry, Kernel};
use super::{LAYOUT_VERSION, shared, spirv};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote};

pub fn expand(kernel: &Kernel, entries: &[Entry], rt: &TokenStream) -> TokenStream {
    let offsets = offsets(kernel, rt);
    let entries = entries.iter().map(|entry| {
        let nvptx = nvptx(kernel, entry, rt, &offsets);
        let spirv = spirv::entry(kernel, entry, rt, &offsets);
        let host = host(kernel, entry, rt, &offsets);
        quote!(#nvptx #spirv #host)
    });
    quote! {
        const _: () = assert!(
            #rt::api::LAYOUT_VERSION == #LAYOUT_VERSION,
            "warpheap-macros and warpheap-api are of different versions",
        );
        #(#entries)*
    }
}

/// A variable of an entry point, which no name of the user's is: a kernel may be called `report`.
pub(super) fn local(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

/// The name of the constant that says where a parameter's words begin.
pub(super) fn offset_name(i: usize) -> Ident {
    format_ident!("AT{i}")
}

/// Constants: where each parameter's words begin in the block.
fn offsets(kernel: &Kernel, rt: &TokenStream) -> TokenStream {
    let mut next = quote!(#rt::api::abi::ARG_FIRST);
    let mut constants = TokenStream::new();
    for (i, parameter) in kernel.parameters.iter().enumerate() {
        let name = offset_name(i);
        constants.extend(quote!(const #name: usize = #next;));
        let words = match &parameter.kind {
            Kind::Heap(_) | Kind::HeapOf(_) => quote!(#rt::api::abi::HEAP_WORDS),
            Kind::Slice { .. }
            | Kind::One(_)
            | Kind::Own(_)
            | Kind::PerLane(_)
            | Kind::Scatter(_)
            | Kind::Log => {
                quote!(#rt::api::abi::SLICE_WORDS)
            }
            Kind::Scalar(ty) => quote!(<#ty as #rt::api::Argument>::WORDS),
            Kind::Shared(_) => quote!(0),
        };
        next = quote!(#name + #words);
    }
    constants.extend(shared::limit(kernel));
    constants.extend(quote! {
        const _: () = assert!(
            #next <= #rt::api::abi::ARG_WORDS,
            "the kernel's arguments take more than 28 words: make values fields of a struct, and take it as `x: &T`",
        );
    });
    constants
}

/// The allocator of a heap of this kind.
pub(super) fn allocator(kind: &Kind, entry: &Entry) -> TokenStream {
    match kind {
        Kind::Heap(number) => entry.allocators[*number].clone(),
        Kind::HeapOf(ty) => quote!(#ty),
        _ => TokenStream::new(),
    }
}

/// Code that makes the arguments from the block in `args` and calls the kernel, on targets whose
/// memory has addresses. `words` is code that finds the words of parameter number so many that a block shares.
fn addressed_body(
    kernel: &Kernel,
    entry: &Entry,
    rt: &TokenStream,
    offsets: &TokenStream,
    words: impl Fn(usize, &TokenStream) -> TokenStream,
) -> TokenStream {
    let (args, report) = (local("args"), local("report"));
    let elements = |ty: &TokenStream, at: &Ident| quote!(#rt::arch::elements::<#ty>(#args, #at));
    let mut own = Vec::new();
    let mut arguments = Vec::new();
    for (i, parameter) in kernel.parameters.iter().enumerate() {
        let at = offset_name(i);
        arguments.push(match &parameter.kind {
            kind @ (Kind::Heap(_) | Kind::HeapOf(_)) => {
                let allocator = allocator(kind, entry);
                // SAFETY: as `addressed_body` says in the expansion.
                quote!(unsafe {
                    #rt::entry::heap::<#allocator>(#rt::arch::heap_words(#args, #at), #args, #at)
                })
            }
            Kind::Slice {
                element,
                mutable: false,
            } => {
                // SAFETY: the same.
                quote!(unsafe { #rt::arch::slice::<#element>(#args, #at) })
            }
            Kind::Slice {
                element,
                mutable: true,
            } => {
                // SAFETY: the same.
                quote!(unsafe { #rt::arch::slice_mut::<#element>(#args, #at) })
            }
            Kind::One(ty) => {
                // SAFETY: the same.
                quote!(unsafe { &#rt::arch::slice::<#ty>(#args, #at)[0] })
            }
            Kind::Own(ty) => {
                let one = Own::new(i, elements(&quote!(#ty), &at));
                let argument = one.argument(rt);
                own.push(one);
                argument
            }
            Kind::PerLane(ty) => attached(rt, "PerLane", &elements(&quote!(#ty), &at)),
            Kind::Scatter(ty) => attached(rt, "Scatter", &elements(&quote!(#ty), &at)),
            Kind::Log => {
                // SAFETY: the same.
                let words = quote!(unsafe { #rt::arch::slice_words(#args, #at) });
                log(rt, &words)
            }
            Kind::Scalar(ty) => scalar(rt, ty, &at),
            Kind::Shared(number) => {
                let words = words(i, number);
                shared::attached(rt, number, &words)
            }
        });
    }
    let call = run(kernel, entry, rt, &own, &arguments);
    quote! {
        #offsets
        // SAFETY: the host made the arguments to match these parameters, and keeps their memory for the launch; so it
        // is for the arguments below.
        let #report = unsafe { #rt::arch::report(#args) };
        #call
    }
}

/// A parameter by value.
pub(super) fn scalar(rt: &TokenStream, ty: &syn::Type, at: &Ident) -> TokenStream {
    let args = local("args");
    // SAFETY: the host made the arguments to match the parameters.
    quote!(unsafe { <#ty as #rt::api::Argument>::from_args(#args, #at) })
}

/// A parameter `PerLane<T>` or `Scatter<T>` of these elements.
pub(super) fn attached(rt: &TokenStream, what: &str, elements: &TokenStream) -> TokenStream {
    let (what, args) = (format_ident!("{what}"), local("args"));
    // SAFETY: the host gives each argument memory of its own, which no kernel of another launch changes meanwhile.
    quote!(unsafe { #rt::params::#what::attach(#args, #elements) })
}

/// A parameter `Log` of these words.
pub(super) fn log(rt: &TokenStream, words: &TokenStream) -> TokenStream {
    let args = local("args");
    // SAFETY: the host gives the memory of a log.
    quote!(unsafe { #rt::log::Log::attach(#args, #words) })
}

/// A parameter `&mut T`: the elements, and what the lane has of them while it runs.
pub(super) struct Own {
    elements: Ident,
    pub(super) copy: Ident,
    made_of: TokenStream,
}

impl Own {
    pub(super) fn new(i: usize, made_of: TokenStream) -> Own {
        Own {
            elements: local(&format!("elements{i}")),
            copy: local(&format!("copy{i}")),
            made_of,
        }
    }

    /// What the kernel gets: a copy, or the element itself where a lane that panics must not leave it behind.
    fn argument(&self, rt: &TokenStream) -> TokenStream {
        let Own { elements, copy, .. } = self;
        let lane = local("lane");
        // SAFETY: the index is below their number, and no other lane has it.
        quote!(if #rt::entry::IN_PLACE { unsafe { #elements.at(#lane) } } else { &mut #copy })
    }
}

/// The call of the kernel, and its end: for lanes that have an element in each of `own`.
pub(super) fn run(
    kernel: &Kernel,
    entry: &Entry,
    rt: &TokenStream,
    own: &[Own],
    arguments: &[TokenStream],
) -> TokenStream {
    let call = call(kernel, entry, arguments);
    let [report, lane, outcome] = ["report", "lane", "outcome"].map(local);
    if own.is_empty() {
        return quote!(#rt::entry::finish(#report, #call););
    }
    let makes = own.iter().map(
        |Own {
             elements, made_of, ..
         }| {
            let attached = attached(rt, "Scatter", made_of);
            quote!(let #elements = #attached;)
        },
    );
    let inside = own.iter().map(|one| &one.elements);
    let takes = own.iter().map(|Own { elements, copy, .. }| {
        // SAFETY: as in `Own::argument`.
        quote!(let mut #copy = unsafe { #elements.read(#lane) };)
    });
    let gives = own.iter().map(|Own { elements, copy, .. }| {
        // SAFETY: as in `Own::argument`.
        quote!(unsafe { #elements.write(#lane, #copy) };)
    });
    quote! {
        #(#makes)*
        let #lane = #rt::thread::index();
        if true #(& (#lane < #inside.len()))* {
            #(#takes)*
            let #outcome = #call;
            if !#rt::entry::IN_PLACE {
                #(#gives)*
            }
            #rt::entry::finish(#report, #outcome);
        }
    }
}

fn call(kernel: &Kernel, entry: &Entry, arguments: &[TokenStream]) -> TokenStream {
    let name = kernel.name();
    let allocators = &entry.allocators;
    let call = match allocators.is_empty() {
        true => quote!(#name(#(#arguments),*)),
        false => quote!(#name::<#(#allocators),*>(#(#arguments),*)),
    };
    match kernel.is_unsafe() {
        // SAFETY: who launched it promised what the kernel asks for.
        true => quote!(unsafe { #call }),
        false => call,
    }
}

/// Keeps an entry in the images that it belongs to; the builder says which one is being compiled.
pub(super) fn in_image(entry: &Entry) -> TokenStream {
    let image = match entry.image {
        "" => "rest",
        allocator => allocator,
    };
    quote!(#[cfg(any(warpheap_image = "all", warpheap_image = #image))])
}

fn nvptx(kernel: &Kernel, entry: &Entry, rt: &TokenStream, offsets: &TokenStream) -> TokenStream {
    let function = &entry.function;
    let name = Literal::string(&entry.name);
    let body = addressed_body(kernel, entry, rt, offsets, |i, number| {
        shared::at_symbol(rt, entry, i, number)
    });
    let shared = shared::symbols(kernel, entry, &in_image(entry));
    // PTX has a directive for it, which no Rust attribute makes: the builder puts it where this line of
    // assembly, a comment, stands in the kernel's body.
    let registers = match (&kernel.registers, &entry.allocators[..]) {
        (Some(Registers::Number(number)), _) => Some(quote!(#number)),
        (Some(Registers::Lean), [allocator, ..]) => {
            Some(quote!(<#allocator as #rt::api::DeviceAlloc>::LEAN_REGISTERS))
        }
        _ => None,
    };
    let (in_image, args) = (in_image(entry), local("args"));
    let registers = registers.map(|number| {
        quote! {
            // SAFETY: a comment does nothing.
            unsafe { ::core::arch::asm!("// warpheap: max_registers {}", const #number) };
        }
    });
    quote! {
        #rt::__on_cuda! {
            #shared
            #in_image
            #[doc(hidden)]
            #[allow(non_snake_case, unused_unsafe, clippy::undocumented_unsafe_blocks)]
            #[unsafe(export_name = #name)]
            pub unsafe extern "ptx-kernel" fn #function(#args: #rt::api::abi::ArgBlock) {
                let #args = &#args;
                #registers
                #body
            }
        }
    }
}

fn host(kernel: &Kernel, entry: &Entry, rt: &TokenStream, offsets: &TokenStream) -> TokenStream {
    let (function, args) = (&entry.function, local("args"));
    let body = addressed_body(kernel, entry, rt, offsets, |i, number| {
        shared::of_emulator(rt, i, number)
    });
    quote! {
        #rt::__on_host! {
            #[allow(non_snake_case, unused_unsafe, clippy::undocumented_unsafe_blocks)]
            unsafe fn #function(#args: &#rt::api::abi::ArgBlock) {
                #body
            }
        }
    }
}
