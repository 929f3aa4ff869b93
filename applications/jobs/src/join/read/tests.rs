use super::*;

fn rows(text: &str) -> Vec<(u32, u32)> {
    let rows = parse("t.csv", text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"));
    rows.iter().map(|row| (row.key, row.payload)).collect()
}

#[track_caller]
fn refused(bytes: impl AsRef<[u8]>, parts: &[&str]) {
    let message = match parse("t.csv", bytes.as_ref()) {
        Ok(rows) => panic!("read as {rows:?}"),
        Err(error) => error.to_string(),
    };
    for part in parts {
        assert!(message.contains(part), "no `{part}` in: {message}");
    }
    assert_eq!(message.lines().count(), 1, "{message}");
}

#[test]
fn two_columns_with_and_without_a_head() {
    let expected = [(1, 10), (4_294_967_295, 0)];
    assert_eq!(rows("1,10\n4294967295,0\n"), expected);
    assert_eq!(rows("key,payload\n1,10\n4294967295,0"), expected);
    assert_eq!(
        rows("\u{FEFF}k, p\r\n 1 , 10\r\n\r\n4294967295,\"0\"\r\n  \n"),
        expected
    );
}

#[test]
fn files_that_are_no_tables() {
    refused("", &["t.csv is empty"]);
    refused(" \n\n", &["t.csv is empty"]);
    refused("key,payload\n", &["no rows"]);
    refused([0x1F, 0x8B, 8, 0], &["compressed", "gunzip"]);
}

#[test]
fn bad_lines_are_named() {
    refused(
        "1,2\n3\n",
        &["t.csv:2: ", "two columns, `key,payload`, and found 1"],
    );
    refused(
        "1,2,3\n",
        &["t.csv:1: ", "two columns, `key,payload`, and found 3"],
    );
    refused(
        "1,2\n\n \n3,x\n",
        &["t.csv:4: ", "payload `x` is no number"],
    );
    refused(
        "1,2\nkey,payload\n",
        &["t.csv:2: ", "key `key` is no number"],
    );
    refused("key,7\n", &["t.csv:1: ", "key `key` is no number"]);
    refused("-1,2\n", &["t.csv:1: ", "key `-1` is no number"]);
    refused("1,\n", &["t.csv:1: ", "payload `` is no number"]);
    refused("4294967296,2\n", &["t.csv:1: ", "4294967296 is too large"]);
    refused(b"1,2\n\xFF,3\n", &["t.csv:2: ", "UTF-8"]);
    refused("1,2\n\n1,\"3\n\"\n", &["t.csv:3: ", "a quote is opened"]);
    refused("1,\"3", &["t.csv:1: ", "a quote is opened"]);
    // As many quotes as it takes, of which one is a letter.
    refused("k\",\"p\r\n1,2\n", &["t.csv:1: ", "a quote is opened"]);
    refused("1,2\"\n", &["t.csv:1: ", "payload `2\"` is no number"]);
    refused("1,\"a\rb\"\n", &["t.csv:1: ", "`a\\rb`"]);
    refused("1,2\n\u{FEFF}3,4\n", &["t.csv:2: ", "is no number"]);
}

#[test]
fn parts_have_all_rows_in_their_order_however_short_the_file_is() {
    let folder = std::env::temp_dir().join(format!("warpheap-tables-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("t.csv");
    for text in [
        "\u{FEFF}k,p\n1,2\n",
        "\u{FEFF}\n \n\r\n\nkey,payload\n1,2\n3,4\n\n5,6",
        "1,2\n\n\"3\",4\n",
    ] {
        std::fs::write(&path, text).unwrap();
        let whole = parse("t.csv", text.as_bytes()).unwrap();
        for parts in [1, 2, 3, 5, 9, 60] {
            let of = |number| part(&path, number, parts).unwrap();
            let rows: Vec<Tuple> = (0..parts).flat_map(of).collect();
            assert_eq!(rows, whole, "{parts} parts of {text:?}");
        }
    }
    // What is no row in the whole file is none of a part that begins with it.
    for text in ["1,2\n\u{FEFF}3,4\n", "1,\"2\n\",3\n4,5\n"] {
        std::fs::write(&path, text).unwrap();
        let whole = parse(&path.display().to_string(), text.as_bytes()).unwrap_err();
        for parts in [1, 2, 3, 60] {
            let error = (0..parts).find_map(|number| part(&path, number, parts).err());
            let error = error.map(|error| error.to_string());
            assert_eq!(error, Some(whole.to_string()), "{parts} parts");
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn pieces_do_not_matter() {
    let many = "1,2\r\n\n 3 ,\"4\"\n".repeat(30);
    for text in [
        format!("\n\n \nkey,payload\n{many}"),
        many.clone(),
        format!("{many}key,payload\n{many}"),
        format!("{many}1,\"2\n\",3\n"),
        format!("\n\n1,2\n3,4,5\n{many}6,x\n"),
        // With as many pieces as lines one begins with what is no head.
        format!("1,2\n3,4\nk,p\n{}", "5,6\n".repeat(7)),
    ] {
        let read = |pieces| format!("{:?}", in_pieces("t.csv", text.as_bytes(), true, pieces));
        let whole = read(1);
        for pieces in 2..30 {
            assert_eq!(read(pieces), whole, "{pieces} pieces of {text}");
        }
    }
}

#[test]
fn plain_lines_are_what_the_reader_of_csv_makes_of_them() {
    let tokens = [
        "1,2\n",
        "1,2\r\n",
        "40,4294967295\n",
        "007,8\n",
        "key,payload\n",
        " 3 , 4\n",
        "\"5\",6\n",
        "\n",
        " \n",
        "7,8\r9,10\n",
        "\r",
        "\u{FEFF}1,2\n",
        "1,",
        "11,12",
        "4294967296,1\n",
        "00000000001,1\n",
        "1,2,3\n",
        "\"1\n",
    ];
    let mut seed = 7u32;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as usize % below
    };
    let (mut fine, mut wrong) = (0, 0);
    for case in 0..3000 {
        // Mostly plain, some of it longer than what the reader of CSV gets at a time, and mostly right.
        let length = if case % 100 == 0 { 30_000 } else { 20 };
        let most = if case % 2 == 0 { 8 } else { tokens.len() };
        let token = |random: &mut dyn FnMut(usize) -> usize| match random(length) {
            0..4 => tokens[random(most)],
            _ => tokens[random(4)],
        };
        let text: String = (0..length).map(|_| token(&mut random)).collect();
        let text = text.as_bytes();
        for head in [false, true] {
            let (mut first, mut rows) = (head, Vec::new());
            let want = csv_lines(text, &mut first, &mut rows).map(|()| rows);
            let got = lines(text, head);
            assert_eq!(got, want, "{head} {}", text.escape_ascii());
            match want {
                Ok(_) => fine += 1,
                Err(_) => wrong += 1,
            }
        }
    }
    assert!(fine > 1000 && wrong > 1000, "{fine} {wrong}");
}
