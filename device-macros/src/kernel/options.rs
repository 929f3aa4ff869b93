//! What the attribute says: allocators, registers.

use proc_macro2::TokenStream;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{
    Error, GenericArgument, Ident, LitInt, PathArguments, Result, Token, Type, bracketed,
    parenthesized,
};

/// The arguments of the attribute.
#[derive(Default)]
pub struct Options {
    /// `allocators = …`, for the kernel's only type parameter.
    pub allocators: Option<Allocators>,
    /// `A = …`, for type parameters by their names.
    pub named: Vec<(Ident, Allocators)>,
    /// Most registers of a lane on CUDA.
    pub registers: Option<Registers>,
    /// `allocators = listed`: those of the crate's list …
    pub listed: bool,
    /// … which are these.
    list: Option<Punctuated<Type, Token![,]>>,
    /// `unsafe(slices)`: that no two lanes access one element of a `&mut [T]` of which one writes.
    pub slices: bool,
}

/// For which allocators a type parameter stands.
pub enum Allocators {
    /// The library's list, each wrapped in this adaptor if there is one.
    All {
        adaptor: Option<Ident>,
        /// Other types beside them.
        also: Vec<Type>,
    },
    /// These.
    These(Punctuated<Type, Token![,]>),
}

/// Most registers of a lane on CUDA.
pub enum Registers {
    Number(LitInt),
    /// What the kernel's allocator runs fastest with.
    Lean,
}

impl Parse for Options {
    fn parse(input: ParseStream) -> Result<Self> {
        let mut options = Options::default();
        while !input.is_empty() {
            if input.peek(Token![unsafe]) {
                promise(input)?;
                options.slices = true;
                if !input.is_empty() {
                    input.parse::<Token![,]>()?;
                }
                continue;
            }
            let key: Ident = input.parse()?;
            input.parse::<Token![=]>().map_err(|_| unknown(&key))?;
            if key == "allocators" && options.allocators.is_none() && !options.listed {
                options.listed = is_listed(input)?;
                if !options.listed {
                    options.allocators = Some(allocators(input)?);
                }
            } else if key == "__list" {
                options.list = Some(these(input)?);
            } else if key == "max_registers" && options.registers.is_none() {
                options.registers = Some(registers(input)?);
            } else if is_parameter(&key) && options.named.iter().all(|(name, _)| *name != key) {
                options.named.push((key, allocators(input)?));
            } else {
                return Err(unknown(&key));
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        if options.listed
            && let Some(list) = options.list.take()
        {
            options.allocators = Some(Allocators::These(list));
        }
        Ok(options)
    }
}

impl Options {
    /// Whether the kernel is for the crate's list, which it has not got yet.
    pub fn asks_for_the_list(&self) -> bool {
        self.listed && self.allocators.is_none()
    }
}

/// Takes the word `listed`, if it is there.
fn is_listed(input: ParseStream) -> Result<bool> {
    let word = input.fork().parse::<Ident>();
    let listed = word.is_ok_and(|word| word == "listed");
    if listed {
        input.parse::<Ident>()?;
    }
    Ok(listed)
}

/// `unsafe(slices)`.
fn promise(input: ParseStream) -> Result<()> {
    input.parse::<Token![unsafe]>()?;
    let what;
    parenthesized!(what in input);
    let word: Ident = what.parse()?;
    if word == "slices" && what.is_empty() {
        return Ok(());
    }
    Err(Error::new_spanned(
        word,
        "what a kernel promises is `unsafe(slices)`",
    ))
}

/// Whether a key names a type parameter: these begin with a capital letter.
fn is_parameter(key: &Ident) -> bool {
    key.to_string().starts_with(char::is_uppercase)
}

fn unknown(key: &Ident) -> Error {
    Error::new_spanned(
        key,
        "unknown setting, or given twice: `allocators = all`, `allocators = Counted<all>`, \
         `allocators = [A, B]`, `max_registers = 32` and `unsafe(slices)` is what there is, and for several heaps \
         `A = all, B = [Bump]` by the names of the type parameters",
    )
}

fn registers(input: ParseStream) -> Result<Registers> {
    if input.peek(Ident) {
        let word: Ident = input.parse()?;
        return match word == "lean" {
            true => Ok(Registers::Lean),
            false => Err(Error::new_spanned(word, "write a number or `lean`")),
        };
    }
    let number: LitInt = input.parse()?;
    match number.base10_parse::<u32>() {
        Ok(16..=255) => Ok(Registers::Number(number)),
        _ => Err(Error::new_spanned(number, "a lane has 16 to 255 registers")),
    }
}

fn these(input: ParseStream) -> Result<Punctuated<Type, Token![,]>> {
    let list;
    let bracket = bracketed!(list in input);
    let list = list.parse_terminated(Type::parse, Token![,])?;
    if list.is_empty() {
        return Err(Error::new(
            bracket.span.join(),
            "the list of allocators is empty: name one, or write `allocators = all`",
        ));
    }
    Ok(list)
}

fn allocators(input: ParseStream) -> Result<Allocators> {
    if input.peek(syn::token::Bracket) {
        return these(input).map(list);
    }
    let word: Ident = input.parse()?;
    let wrapped = input.peek(Token![<]);
    let all = if wrapped {
        input.parse::<Token![<]>()?;
        let all: Ident = input.parse()?;
        input.parse::<Token![>]>()?;
        all
    } else {
        word.clone()
    };
    if all != "all" {
        return Err(Error::new_spanned(
            all,
            "write `all`, `Counted<all>`, `listed`, or a list in brackets, `[ScatterAlloc, Bump]`",
        ));
    }
    Ok(Allocators::All {
        adaptor: wrapped.then_some(word),
        also: Vec::new(),
    })
}

/// The list in brackets, in which `all` or `Counted<all>` may be the first.
fn list(list: Punctuated<Type, Token![,]>) -> Allocators {
    match list.first().and_then(all_in) {
        Some(adaptor) => Allocators::All {
            adaptor,
            also: list.into_iter().skip(1).collect(),
        },
        None => Allocators::These(list),
    }
}

/// For `all` nothing, for `Counted<all>` the adaptor.
fn all_in(ty: &Type) -> Option<Option<Ident>> {
    let Type::Path(path) = ty else {
        return None;
    };
    if path.path.is_ident("all") {
        return Some(None);
    }
    let only = path.path.segments.first()?;
    let PathArguments::AngleBracketed(within) = &only.arguments else {
        return None;
    };
    match (path.path.segments.len(), within.args.first()?) {
        (1, GenericArgument::Type(Type::Path(all))) if all.path.is_ident("all") => {
            Some(Some(only.ident.clone()))
        }
        _ => None,
    }
}

/// An allocator that a type parameter stands for.
#[derive(Clone)]
pub struct Choice {
    /// Its type.
    pub ty: TokenStream,
    /// Its part of an entry's name.
    pub name: String,
    /// Whose image the entry lies in if a crate's images are divided: the library's allocator of that name, or none.
    pub image: Option<&'static str>,
}
