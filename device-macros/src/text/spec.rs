//! What stands in a placeholder behind the colon: `[[fill]align][+][#][0][width][.precision][letter]`, as in Rust.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

/// Most digits behind the point.
const MOST_PRECISION: u32 = 9;

/// How an argument is shown.
#[derive(Debug, Default, PartialEq)]
pub struct Spec {
    fill: Option<char>,
    align: Option<&'static str>,
    plus: bool,
    prefix: bool,
    zero: bool,
    width: u32,
    precision: Option<u32>,
    base: Option<&'static str>,
}

/// The name of an alignment in the runtime.
fn alignment(sign: char) -> Option<&'static str> {
    match sign {
        '<' => Some("Left"),
        '^' => Some("Center"),
        '>' => Some("Right"),
        _ => None,
    }
}

impl Spec {
    /// Of this text; or what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut spec = Spec::default();
        let mut rest = text;
        let mut chars = text.chars();
        if let (Some(first), second) = (chars.next(), chars.next()) {
            if let Some(align) = second.and_then(alignment) {
                (spec.fill, spec.align) = (Some(first), Some(align));
                rest = &text[first.len_utf8() + 1..];
            } else if let Some(align) = alignment(first) {
                spec.align = Some(align);
                rest = &text[1..];
            }
        }
        spec.plus = taken(&mut rest, "+");
        spec.prefix = taken(&mut rest, "#");
        spec.zero = taken(&mut rest, "0");
        if let Some(width) = number(&mut rest)? {
            spec.width = width;
        }
        if taken(&mut rest, ".") {
            let precision = number(&mut rest)?.ok_or("there is no number behind the point")?;
            if precision > MOST_PRECISION {
                return Err(format!(
                    "{MOST_PRECISION} digits behind the point are the most"
                ));
            }
            spec.precision = Some(precision);
        }
        spec.base = match rest {
            "" => None,
            "x" => Some("LOWER_HEX"),
            "X" => Some("UPPER_HEX"),
            "o" => Some("OCTAL"),
            "b" => Some("BINARY"),
            other => {
                return Err(format!(
                    "`{other}` is not known here: there are `{{}}`, `{{:x}}`, `{{:X}}`, `{{:o}}` and `{{:b}}`, with fill, `<^>`, \
                     `+`, `#`, `0` and width as numbers, and `{{:.3}}` for `f32`"
                ));
            }
        };
        if spec.precision.is_some() && spec.base.is_some() {
            return Err("digits behind the point are shown in decimal".into());
        }
        Ok(spec)
    }

    /// Code that shows `value` this way.
    pub fn shown(&self, value: &Ident, rt: &TokenStream) -> TokenStream {
        let spec = self.made(rt);
        match (self.base, self.precision) {
            (Some(base), _) => {
                let base = format_ident!("{base}");
                quote!(#rt::text::ShowBits::show_bits(#value, #rt::text::Base::#base, #spec))
            }
            (None, Some(_)) => quote!(#rt::text::ShowFixed::show_fixed(#value, #spec)),
            (None, None) => quote!(#rt::text::Show::show(#value, #spec)),
        }
    }

    /// Code that makes the runtime's.
    fn made(&self, rt: &TokenStream) -> TokenStream {
        let plain = quote!(#rt::text::Spec::PLAIN);
        if *self == Spec::default() {
            return plain;
        }
        let fill = self.fill.unwrap_or(' ');
        let mut bytes = [0; 4];
        let fill_bytes = fill.encode_utf8(&mut bytes).len() as u32;
        let fill = u32::from_le_bytes(bytes);
        let align = format_ident!("{}", self.align.unwrap_or("Usual"));
        let Spec {
            plus,
            prefix,
            zero,
            width,
            ..
        } = self;
        let precision = self.precision.unwrap_or(0);
        quote! {
            #rt::text::Spec {
                fill: #fill,
                fill_bytes: #fill_bytes,
                align: #rt::text::Align::#align,
                width: #width,
                plus: #plus,
                prefix: #prefix,
                zero: #zero,
                precision: #precision,
            }
        }
    }
}

/// Whether the text begins with this, which is taken from it then.
fn taken(text: &mut &str, what: &str) -> bool {
    let rest = text.strip_prefix(what);
    *text = rest.unwrap_or(text);
    rest.is_some()
}

/// The number that the text begins with, if it does.
fn number(text: &mut &str) -> Result<Option<u32>, String> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    if digits.is_empty() {
        return Ok(None);
    }
    if rest.starts_with('$') {
        return Err("widths and precisions are numbers: `$` is not known here".into());
    }
    *text = rest;
    match digits.parse::<u16>() {
        Ok(number) => Ok(Some(number.into())),
        Err(_) => Err(format!("{} is the most", u16::MAX)),
    }
}

#[cfg(test)]
mod tests {
    use super::Spec;

    #[test]
    fn parts() {
        let all = Spec::parse("*^+#08x").unwrap();
        let expected = Spec {
            fill: Some('*'),
            align: Some("Center"),
            plus: true,
            prefix: true,
            zero: true,
            width: 8,
            precision: None,
            base: Some("LOWER_HEX"),
        };
        assert_eq!(all, expected);
        let right = Spec::parse(">5.2").unwrap();
        assert_eq!(
            (right.align, right.width, right.precision),
            (Some("Right"), 5, Some(2))
        );
        // A fill that is an alignment's sign itself.
        assert_eq!(Spec::parse("<<3").unwrap().fill, Some('<'));
        assert_eq!(Spec::parse("0").unwrap().width, 0);
    }
}
