//! The derive `HeapData`.

use crate::paths;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, Error, Fields, Index, Member, Result};

pub fn expand(input: DeriveInput) -> Result<TokenStream> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(
            &input.ident,
            "HeapData can be derived for structs only: an enum has bit patterns that are no value of it",
        ));
    };
    if !has_fixed_layout(&input)? {
        return Err(Error::new_spanned(
            &input.ident,
            "HeapData needs a fixed layout: add #[repr(C)] to this struct",
        ));
    }
    let rt = paths::runtime();
    let api = quote!(#rt::api);
    let name = &input.ident;
    let types: Vec<_> = data.fields.iter().map(|field| &field.ty).collect();
    let members: Vec<Member> = data
        .fields
        .iter()
        .enumerate()
        .map(|(i, field)| match &field.ident {
            Some(ident) => Member::Named(ident.clone()),
            None => Member::Unnamed(Index::from(i)),
        })
        .collect();
    let values: Vec<_> = (0..types.len())
        .map(|i| format_ident!("field{i}"))
        .collect();
    let build = match &data.fields {
        Fields::Unit => quote!(#name),
        _ => quote!(#name { #(#members: #values),* }),
    };
    // Offset of each field: the words of those before it.
    let offsets: Vec<TokenStream> = (0..types.len())
        .map(|i| {
            let before = &types[..i];
            quote!((0 #(+ <#before as #api::HeapData>::WORDS as usize)*))
        })
        .collect();

    let mut generics = input.generics.clone();
    for parameter in generics.type_params_mut() {
        parameter.bounds.push(syn::parse_quote!(#api::HeapData));
    }
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();

    Ok(quote! {
        // SAFETY: repr(C) over fields of whole words without padding, so there is none here.
        unsafe impl #impl_generics #api::HeapData for #name #type_generics #where_clause {
            const WORDS: u32 = {
                let words = 0 #(+ <#types as #api::HeapData>::WORDS)*;
                words
            };
            const OF_HEAP: bool = false #(| <#types as #api::HeapData>::OF_HEAP)*;
            const HOLDS_SHARED: bool = false #(| <#types as #api::HeapData>::HOLDS_SHARED)*;
            fn zero_word(index: u32) -> u32 {
                // That of the field in which the word lies.
                let index = index as usize;
                #(if index >= #offsets && index < #offsets + <#types as #api::HeapData>::WORDS as usize {
                    return <#types as #api::HeapData>::zero_word((index - #offsets) as u32);
                })*
                0
            }
            #[inline(always)]
            fn get<M: #api::HeapMemory>(memory: M, word: usize) -> Self {
                #(let #values = <#types as #api::HeapData>::get(memory, word + #offsets);)*
                #build
            }
            #[inline(always)]
            fn put<M: #api::HeapMemory>(self, memory: M, word: usize) {
                #(<#types as #api::HeapData>::put(self.#members, memory, word + #offsets);)*
            }
            #[inline(always)]
            unsafe fn from_args(args: &#api::abi::ArgBlock, at: usize) -> Self {
                // SAFETY: the caller's promise, of each field.
                #(let #values = unsafe { <#types as #api::HeapData>::from_args(args, at + #offsets) };)*
                #build
            }
            #[inline(always)]
            fn word_at(self, index: u32) -> u32 {
                // Of all fields but one it is 0.
                0 #(| <#types as #api::HeapData>::word_at(
                    self.#members,
                    index.wrapping_sub(#offsets as u32),
                ))*
            }
        }
    })
}

fn has_fixed_layout(input: &DeriveInput) -> Result<bool> {
    let mut fixed = false;
    for attribute in input.attrs.iter().filter(|a| a.path().is_ident("repr")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("C") || meta.path.is_ident("transparent") {
                fixed = true;
                Ok(())
            } else {
                Err(meta.error("HeapData allows repr(C) and repr(transparent) only"))
            }
        })?;
    }
    Ok(fixed)
}
