//! The derive `KernelError`.

use crate::paths;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, Result};

pub fn expand(input: DeriveInput) -> Result<TokenStream> {
    let Data::Enum(data) = &input.data else {
        return Err(Error::new_spanned(
            &input.ident,
            "KernelError can be derived for enums only",
        ));
    };
    if let Some(variant) = data
        .variants
        .iter()
        .find(|variant| !matches!(variant.fields, Fields::Unit))
    {
        return Err(Error::new_spanned(
            variant,
            "a kernel's error is one word: its variants have no fields",
        ));
    }
    if !is_word(&input)? {
        return Err(Error::new_spanned(
            &input.ident,
            "a kernel's error is one word: add #[repr(u32)] to this enum",
        ));
    }
    let rt = paths::runtime();
    let name = &input.ident;
    let variants: Vec<_> = data.variants.iter().map(|variant| &variant.ident).collect();
    Ok(quote! {
        #(const _: () = assert!(
            (#name::#variants as u32) < 1 << 31,
            "the number of a kernel's error must be below 2^31",
        );)*

        impl #rt::api::KernelError for #name {
            #[inline(always)]
            fn number(self) -> u32 {
                self as u32
            }

            fn from_number(number: u32) -> ::core::option::Option<Self> {
                #(if number == #name::#variants as u32 {
                    return ::core::option::Option::Some(#name::#variants);
                })*
                ::core::option::Option::None
            }
        }
    })
}

fn is_word(input: &DeriveInput) -> Result<bool> {
    let mut word = false;
    for attribute in input.attrs.iter().filter(|a| a.path().is_ident("repr")) {
        attribute.parse_nested_meta(|meta| {
            word |= meta.path.is_ident("u32");
            Ok(())
        })?;
    }
    Ok(word)
}
