//! `__text!`: a format string and its arguments as one value, for `heap_write!` and `heap_print!`.

mod format;
mod spec;

use format::{Name, Piece};
use proc_macro2::{Ident, Literal, Span, TokenStream, TokenTree};
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Error, Expr, LitStr, Result, Token};

/// The path of the runtime crate, then what was written in the macro's parentheses.
pub struct Text {
    rt: TokenStream,
    format: LitStr,
    arguments: Vec<Argument>,
}

struct Argument {
    /// `name = …`
    name: Option<Ident>,
    value: Expr,
}

impl Parse for Text {
    fn parse(input: ParseStream) -> Result<Self> {
        let mut rt = TokenStream::new();
        while !input.peek(Token![;]) {
            rt.extend([input.parse::<TokenTree>()?]);
        }
        input.parse::<Token![;]>()?;
        let format = input.parse().map_err(|error| {
            let message = "the text begins with a format string, which is a literal: \"lane {}\"";
            Error::new(error.span(), message)
        })?;
        let mut arguments: Vec<Argument> = Vec::new();
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            let named =
                input.peek(syn::Ident) && input.peek2(Token![=]) && !input.peek2(Token![==]);
            let name = match named {
                true => {
                    let name = input.parse()?;
                    input.parse::<Token![=]>()?;
                    Some(name)
                }
                false => None,
            };
            let value = input.parse()?;
            if name.is_none() && arguments.last().is_some_and(|last| last.name.is_some()) {
                let message = "arguments with names stand behind those without";
                return Err(Error::new_spanned(value, message));
            }
            arguments.push(Argument { name, value });
        }
        Ok(Text {
            rt,
            format,
            arguments,
        })
    }
}

pub fn expand(text: Text) -> Result<TokenStream> {
    let Text {
        rt,
        format,
        mut arguments,
    } = text;
    let wrong = |message: String| Error::new(format.span(), message);
    let pieces = format::pieces(&format.value()).map_err(wrong)?;
    let mut used = vec![false; arguments.len()];
    let written = arguments.len();
    let mut next = 0;
    let mut all: Option<TokenStream> = None;
    for piece in pieces {
        let one = match piece {
            Piece::Literal(text) => literal(&text, &rt),
            Piece::Argument(name, spec) => {
                let at = match name {
                    Name::Next => {
                        next += 1;
                        next - 1
                    }
                    Name::Number(number) => number,
                    Name::Named(name) => {
                        let same = |a: &Argument| a.name.as_ref().is_some_and(|n| *n == name);
                        match arguments.iter().position(same) {
                            Some(at) => at,
                            // One that is in scope where the format string stands.
                            None => arguments.push_captured(&name, &format)?,
                        }
                    }
                };
                if at >= arguments.len() {
                    let message = format!(
                        "the format string asks for argument {at}, and there are {written} (the first is 0)"
                    );
                    return Err(wrong(message));
                }
                if let Some(used) = used.get_mut(at) {
                    *used = true;
                }
                spec.shown(&bound(at), &rt)
            }
        };
        all = Some(match all {
            None => one,
            Some(before) => quote!(#rt::text::Then(#before, #one)),
        });
    }
    if let Some(unused) = used.iter().position(|used| !used) {
        let message = "the format string does not use this argument";
        return Err(Error::new_spanned(&arguments[unused].value, message));
    }
    let names = (0..arguments.len()).map(bound);
    let values = arguments.iter().map(|argument| &argument.value);
    let all = all.unwrap_or_else(|| quote!(#rt::text::Empty));
    Ok(quote!({ #(let #names = &(#values);)* #all }))
}

/// The variable that an argument's value is kept in.
fn bound(at: usize) -> Ident {
    Ident::new(&format!("argument{at}"), Span::mixed_site())
}

trait PushCaptured {
    /// Adds a variable that the format string names, and says where.
    fn push_captured(&mut self, name: &str, format: &LitStr) -> Result<usize>;
}

impl PushCaptured for Vec<Argument> {
    fn push_captured(&mut self, name: &str, format: &LitStr) -> Result<usize> {
        let mut variable = format_ident!("{name}");
        variable.set_span(format.span());
        self.push(Argument {
            name: Some(variable.clone()),
            value: syn::parse2(quote!(#variable))?,
        });
        Ok(self.len() - 1)
    }
}

/// Bytes, four to a word, the first one lowest.
fn literal(text: &str, rt: &TokenStream) -> TokenStream {
    let words = text.as_bytes().chunks(4).map(|four| {
        let mut bytes = [0; 4];
        bytes[..four.len()].copy_from_slice(four);
        Literal::u32_suffixed(u32::from_le_bytes(bytes))
    });
    let bytes = text.len() as u32;
    quote!(#rt::text::Literal::new([#(#words),*], #bytes))
}
