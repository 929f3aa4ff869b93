//! The findings for people.

use super::{Backend, Report, SelfTest, Tested};
use crate::size;
use std::fmt::Write;

impl Report {
    /// The findings for people: backends with their devices, toolchains, and what to do.
    pub fn text(&self) -> String {
        let mut text = format!("warpheap {}\n\nbackends\n", self.version);
        for backend in &self.backends {
            backend.write(&mut text);
        }
        text += "\ntoolchains for kernels of your own (those of warpheap come compiled)\n";
        for place in &self.toolchains {
            line(&mut text, 2, &format!("{}: {}", place.place, place.found));
        }
        if self.advice.is_empty() {
            text += "\nnothing is missing\n";
            return text;
        }
        text += "\nwhat to do about what is missing\n";
        for advice in &self.advice {
            line(&mut text, 2, &format!("- {advice}"));
        }
        text
    }
}

impl Backend {
    fn write(&self, text: &mut String) {
        let state = match (self.compiled_in, self.devices.len()) {
            (false, _) => "not compiled in".to_owned(),
            (true, 0) => "compiled in, no device".to_owned(),
            (true, 1) => "compiled in, 1 device".to_owned(),
            (true, several) => format!("compiled in, {several} devices"),
        };
        line(text, 2, &format!("{}: {state}", self.name));
        for device in &self.devices {
            device.write(text);
        }
    }
}

impl Tested {
    fn write(&self, text: &mut String) {
        let mut facts = vec![self.kind.clone(), self.driver.clone()];
        facts.extend(self.warp_width.map(|width| format!("warps of {width}")));
        if self.memory_bytes != 0 {
            facts.push(size::display(self.memory_bytes));
        }
        let head = format!("{} {}: {}", self.index, self.name, facts.join(", "));
        line(text, 4, &head);
        let verdict = match self.self_test {
            SelfTest::Ok => "self-test ok",
            SelfTest::Failed => "refused, self-test failed",
            SelfTest::NotRun => "refused, self-test not run",
        };
        match &self.problem {
            Some(problem) => line(text, 6, &format!("{verdict}: {problem}")),
            None => line(text, 6, verdict),
        }
        if let Some(remark) = &self.remark {
            line(text, 6, remark);
        }
    }
}

fn line(text: &mut String, indent: usize, what: &str) {
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{:indent$}{what}", "");
}

#[cfg(test)]
mod tests {
    use super::super::tests::report;

    #[test]
    fn each_device_has_its_verdict_and_reason() {
        let text = report().text();
        for part in [
            "  host: compiled in, 1 device\n    0 GPU 0: discrete GPU, driver 1, warps of 32, 1.00 GiB\n      \
             self-test ok\n",
            "      refused, self-test failed: store lost\n",
            "      refused, self-test not run: lacks X\n      lanes are alone\n",
            "  cuda: not compiled in\n",
            "  other: compiled in, no device\n",
            "  - for cuda: ",
        ] {
            assert!(text.contains(part), "no {part:?} in:\n{text}");
        }
    }
}
