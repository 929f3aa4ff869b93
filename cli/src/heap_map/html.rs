//! All snapshots on one page that needs nothing else: the data as JSON, and a script that draws them.

use super::frame::Frame;
use crate::error::CliError;
use warpheap_bench::report::html::{STYLE, escaped};

/// Cells of a map at most.
pub const CELLS: u64 = 4096;

/// The looks of what the lab's pages do not have.
const MAP_STYLE: &str = include_str!("page.css");
/// What is on the page.
const BODY: &str = include_str!("page.html");
/// What draws it.
const SCRIPT: &str = include_str!("page.js");

/// The page.
///
/// # Errors
/// [`CliError::Write`] for what JSON cannot hold.
pub fn page(frames: &[Frame]) -> Result<String, CliError> {
    let title = match frames {
        [first, ..] => format!("Heap map: {}", first.allocator),
        [] => "Heap map".to_owned(),
    };
    let data = serde_json::to_string(frames).map_err(std::io::Error::from)?;
    // A label may hold anything: the data must not end the script that they stand in.
    let data = data.replace('<', "\\u003c");
    Ok(format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{0}</title>\n<style>\n{STYLE}{MAP_STYLE}</style>\n</head>\n<body>\n<h1>{0}</h1>\n{BODY}\
         <script id=\"data\" type=\"application/json\">{data}</script>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        escaped(&title)
    ))
}

#[cfg(test)]
mod tests {
    use super::super::frame::tests::{frame, pinned};
    use super::*;

    /// The frames of a page.
    fn data(page: &str) -> Vec<Frame> {
        let begin = "<script id=\"data\" type=\"application/json\">";
        let data = page
            .split(begin)
            .nth(1)
            .and_then(|rest| rest.split("</script>").next());
        serde_json::from_str(data.expect("the page has data")).expect("it is JSON")
    }

    #[test]
    fn a_page_has_its_data_and_nothing_from_elsewhere() {
        let frames = [frame("a </script> & \"b\""), pinned("later")];
        let page = page(&frames).expect("a page");
        assert_eq!(data(&page), frames, "what was written comes back");
        assert_eq!(
            page.matches("</script>").count(),
            2,
            "no label ends the script"
        );
        for elsewhere in ["http://", "https://", "src=", "href=", "@import"] {
            let page = page.replace("http://www.w3.org/2000/svg", "");
            assert!(!page.contains(elsewhere), "{elsewhere}");
        }
        for open in [
            "html", "head", "body", "style", "main", "figure", "table", "select",
        ] {
            let tag = |text: &str| page.matches(text).count();
            let begun = tag(&format!("<{open}>")) + tag(&format!("<{open} "));
            assert_eq!(begun, tag(&format!("</{open}>")), "{open}");
        }
    }
}
