//! Rust's global allocator in a crate with an image for each allocator.

use crate::paths;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use warpheap_allocators::ALL;

/// One declaration for each image, of which the builder's cfg leaves one.
pub fn expand() -> TokenStream {
    let rt = paths::runtime();
    let own = ALL.iter().map(|name| {
        let allocator = format_ident!("{name}");
        quote! {
            #[cfg(warpheap_image = #name)]
            #rt::__global_allocator! { #rt::alloc::#allocator }
        }
    });
    quote! {
        #(#own)*
        #[cfg(any(warpheap_image = "all", warpheap_image = "rest"))]
        #rt::__global_allocator! {}
    }
}
