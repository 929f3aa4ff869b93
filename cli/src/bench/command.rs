//! The command line as it was given, for whoever wants to do the same again.

/// The arguments of this process behind the program's name.
pub fn line() -> String {
    let arguments = std::env::args_os().skip(1);
    let arguments: Vec<String> = arguments
        .map(|a| a.to_string_lossy().into_owned())
        .collect();
    of(&arguments)
}

/// These arguments behind the program's name, with quotes where a shell needs them.
fn of(arguments: &[String]) -> String {
    let mut line = String::from("warpheap");
    for argument in arguments {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+.,:/%@".contains(c);
        line.push(' ');
        match !argument.is_empty() && argument.chars().all(plain) {
            true => line += argument,
            false => line += &format!("'{}'", argument.replace('\'', "'\\''")),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_would_take_apart_is_quoted() {
        let arguments = ["bench", "--sizes", "16,64", "--out", "my dir", "it's", ""];
        assert_eq!(
            of(&arguments.map(String::from)),
            r"warpheap bench --sizes 16,64 --out 'my dir' 'it'\''s' ''"
        );
    }
}
