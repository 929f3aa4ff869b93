//! The attribute `#[kernel]`.

mod device;
mod launch;
mod options;
mod parameter;
mod parse;
mod shared;
mod spirv;

pub use options::Options;

use crate::paths;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{ItemFn, Result};

/// Version of the layout that entry names carry; the expansion checks that the contract crate has
/// the same.
const LAYOUT_VERSION: u32 = 1;

pub fn expand(options: Options, function: ItemFn) -> Result<TokenStream> {
    let kernel = parse::Kernel::new(options, function)?;
    let rt = paths::runtime();
    let original = kernel.function_without_docs_changed();
    let entries = kernel.entries(&rt);
    let device = device::expand(&kernel, &entries, &rt);
    let launch = launch::expand(&kernel, &entries, &rt);
    Ok(quote! {
        #original
        #device
        #launch
    })
}
