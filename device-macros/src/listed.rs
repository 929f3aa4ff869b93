//! A crate's own list of allocators, named once.

use crate::paths;
use proc_macro2::TokenStream;
use quote::quote;
use syn::punctuated::Punctuated;
use syn::{Token, Type};

/// What `device_module!(allocators = […])` makes of the list: the trait of its allocators, and the macro by which
/// kernels with `allocators = listed` find it.
pub fn expand(list: &Punctuated<Type, Token![,]>) -> TokenStream {
    let rt = paths::runtime();
    let types: Vec<&Type> = list.iter().collect();
    let numbers = 0..types.len();
    quote! {
        #rt::__on_host! {
            /// The allocators that this crate's kernels are compiled for: the bound of whoever launches them.
            #[diagnostic::on_unimplemented(
                message = "the kernels of this crate are not compiled for the allocator `{Self}`",
                note = "name it in the crate's list: device_module!(allocators = [...])",
            )]
            pub trait Allocator: #rt::api::host::HostAlloc {
                /// Its number in the list.
                const NUMBER: usize;
            }

            #(
                impl Allocator for #types {
                    const NUMBER: usize = #numbers;
                }
            )*
        }

        #[doc(hidden)]
        #[allow(unused_macros)]
        macro_rules! __warpheap_listed {
            ([$($options:tt)*] $($kernel:tt)*) => {
                #[#rt::kernel(__list = [#(#types),*], $($options)*)]
                $($kernel)*
            };
        }
    }
}

/// A kernel that finds the list first.
pub fn ask(options: &TokenStream, kernel: &TokenStream) -> TokenStream {
    quote!(__warpheap_listed! { [#options] #kernel })
}
