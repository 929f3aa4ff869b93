//! What a page of Markdown links to, and what can be linked to in it.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A link or a picture.
#[derive(Debug, PartialEq, Eq)]
pub struct Link {
    /// Where it leads, as it is written.
    pub to: String,
    /// All of it in the page's text.
    pub range: Range<usize>,
    /// The line that it begins in, from 1.
    pub line: usize,
}

/// Links and anchors of a page.
#[derive(Debug, Default)]
pub struct Page {
    pub links: Vec<Link>,
    pub anchors: BTreeSet<String>,
}

impl Page {
    /// Parses a page.
    pub fn parse(text: &str) -> Self {
        let mut page = Page::default();
        let mut seen = BTreeMap::new();
        // The text of the heading that is open.
        let mut heading: Option<String> = None;
        let options =
            Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_STRIKETHROUGH;
        for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
            match event {
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    page.links.push(Link {
                        to: dest_url.into_string(),
                        line: 1 + text[..range.start].matches('\n').count(),
                        range,
                    })
                }
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => {
                    let text = heading.take().unwrap_or_default();
                    page.anchors.insert(distinct(anchor(&text), &mut seen));
                }
                Event::Text(part) | Event::Code(part) => {
                    if let Some(heading) = &mut heading {
                        heading.push_str(&part);
                    }
                }
                _ => {}
            }
        }
        page
    }
}

/// The anchor of a heading, as GitHub and mdBook make it: letters in lower case, digits, `_` and `-`, a `-` for each space.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter_map(|c| match c {
        c if c.is_alphanumeric() || c == '_' || c == '-' => Some(c),
        c if c.is_whitespace() => Some('-'),
        _ => None,
    });
    kept.flat_map(char::to_lowercase).collect()
}

/// The second heading of a text has a number behind it, and so on.
fn distinct(anchor: String, seen: &mut BTreeMap<String, usize>) -> String {
    let times = seen.entry(anchor.clone()).or_insert(0);
    *times += 1;
    match *times {
        1 => anchor,
        again => format!("{anchor}-{}", again - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_anchors() {
        let page = Page::parse(
            "# One malloc\n## `Vec` and *Box*\n### What's (not) here: x_y-z\n## One malloc\n",
        );
        let expected = [
            "one-malloc",
            "one-malloc-1",
            "vec-and-box",
            "whats-not-here-x_y-z",
        ];
        assert!(page.anchors.iter().eq(expected), "{:?}", page.anchors);
    }

    #[test]
    fn links_have_their_lines_and_code_has_none() {
        let text = "[a](x.md)\n\n![b](y.svg) `[c](z.md)`\n\n```text\n[d](w.md)\n```\n| t |\n|---|\n| [e](v.md#h) |\n";
        let page = Page::parse(text);
        let found: Vec<_> = page
            .links
            .iter()
            .map(|link| (link.to.as_str(), link.line))
            .collect();
        assert_eq!(found, [("x.md", 1), ("y.svg", 3), ("v.md#h", 10)]);
        assert_eq!(&text[page.links[1].range.clone()], "![b](y.svg)");
    }
}
