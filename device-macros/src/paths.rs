//! How the expansion names the runtime crate.

use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

/// The path of the device runtime: through `warpheap-rt` where the crate depends on it, otherwise
/// through the facade `warpheap`.
pub fn runtime() -> TokenStream {
    match (crate_name("warpheap-rt"), crate_name("warpheap")) {
        (Ok(FoundCrate::Itself), _) => quote!(crate),
        (Ok(FoundCrate::Name(name)), _) => absolute(&name, quote!()),
        (Err(_), Ok(FoundCrate::Itself)) => quote!(crate::rt),
        (Err(_), Ok(FoundCrate::Name(name))) => absolute(&name, quote!(::rt)),
        // The compiler then says that the crate is missing, at the place of the macro.
        (Err(_), Err(_)) => quote!(::warpheap::rt),
    }
}

fn absolute(name: &str, rest: TokenStream) -> TokenStream {
    let name = Ident::new(name, Span::call_site());
    quote!(::#name #rest)
}
