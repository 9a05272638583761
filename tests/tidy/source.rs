//! Rust as the checks read it: words and marks with their lines, no comments, no strings; the paths
//! in it, with groups spread out; its functions and their lengths.

/// A word, `::`, or any other single mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub text: String,
    pub line: usize,
}

/// The tokens of `text`. A string or a character is the token `"`, whatever it says.
pub fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let (mut at, mut line) = (0, 1);
    while at < chars.len() {
        let end = end_of_token(&chars, at);
        let piece: String = chars[at..end].iter().collect();
        let silent = piece.starts_with("//") || piece.starts_with("/*");
        if !silent && !piece.trim().is_empty() {
            let quoted = piece.ends_with(['"', '\'', '#']) && piece.len() > 1;
            let text = if quoted { "\"".to_owned() } else { piece.clone() };
            found.push(Token { text, line });
        }
        line += piece.matches('\n').count();
        at = end;
    }
    found
}

fn end_of_token(chars: &[char], at: usize) -> usize {
    let starts = |text: &str| text.chars().enumerate().all(|(n, c)| chars.get(at + n) == Some(&c));
    if starts("//") {
        return until(chars, at, |rest| rest[0] == '\n');
    }
    if starts("/*") {
        return end_of_comment(chars, at);
    }
    if let Some(end) = end_of_string(chars, at) {
        return end;
    }
    if chars[at] == '\'' {
        // A lifetime has no quote after its first letter.
        let escaped = chars.get(at + 1) == Some(&'\\');
        if escaped || chars.get(at + 2) == Some(&'\'') {
            let from = at + if escaped { 3 } else { 2 };
            return until(chars, from, |rest| rest[0] == '\'') + 1;
        }
    }
    if is_word(chars[at]) {
        return until(chars, at, |rest| !is_word(rest[0]));
    }
    at + if starts("::") { 2 } else { 1 }
}

/// The end of a string of any kind that begins here, with its quotes.
fn end_of_string(chars: &[char], at: usize) -> Option<usize> {
    let mut from = at;
    while matches!(chars.get(from), Some('b' | 'c' | 'r')) && from < at + 2 {
        from += 1;
    }
    let raw = from > at && chars[from - 1] == 'r';
    let hashes = if raw { chars[from..].iter().take_while(|c| **c == '#').count() } else { 0 };
    if chars.get(from + hashes) != Some(&'"') {
        return None;
    }
    from += hashes + 1;
    while from < chars.len() {
        match chars[from] {
            '\\' if !raw => from += 1,
            '"' if chars[from + 1..].iter().take(hashes).filter(|c| **c == '#').count()
                == hashes =>
            {
                return Some(from + 1 + hashes);
            }
            _ => {}
        }
        from += 1;
    }
    Some(chars.len())
}

fn end_of_comment(chars: &[char], at: usize) -> usize {
    let mut depth = 0;
    let mut from = at;
    while from + 1 < chars.len() {
        match (chars[from], chars[from + 1]) {
            ('/', '*') => (depth, from) = (depth + 1, from + 1),
            ('*', '/') => (depth, from) = (depth - 1, from + 1),
            _ => {}
        }
        from += 1;
        if depth == 0 {
            return from;
        }
    }
    chars.len()
}

fn until(chars: &[char], from: usize, is_end: impl Fn(&[char]) -> bool) -> usize {
    (from..chars.len()).find(|at| is_end(&chars[*at..])).unwrap_or(chars.len())
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Where a file's own tests begin, which stand last in it.
pub fn before_tests(tokens: &[Token]) -> usize {
    let mark = ["#", "[", "cfg", "(", "test", ")", "]", "mod", "tests", "{"];
    let is_mark = |window: &[Token]| window.iter().map(|token| &token.text).eq(mark);
    tokens.windows(mark.len()).position(is_mark).unwrap_or(tokens.len())
}

/// Every path with its line: `use a::{b, c::d}` gives `a::b` and `a::c::d`, `use a` gives `a`.
pub fn paths(tokens: &[Token]) -> Vec<(usize, String)> {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let imported = at > 0 && text(at - 1) == "use";
        let of_a_type = at > 1 && text(at - 1) == "::" && text(at - 2) == ">";
        if text(at).starts_with(is_word) && !of_a_type && (imported || text(at + 1) == "::") {
            at = spread(tokens, at, "", &mut found);
        } else {
            at += 1;
        }
    }
    found
}

/// The paths that begin at `at`, each after `prefix`; and where they end.
fn spread(tokens: &[Token], at: usize, prefix: &str, found: &mut Vec<(usize, String)>) -> usize {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    let mut path = prefix.to_owned();
    let mut end = at;
    loop {
        if text(end) == "{" && path.ends_with("::") {
            end += 1;
            while end < tokens.len() && text(end) != "}" {
                end = if text(end) == "," { end + 1 } else { spread(tokens, end, &path, found) };
            }
            return end + 1;
        }
        path.push_str(text(end));
        end += 1;
        let goes_on = text(end) == "::" || path.ends_with("::") && text(end) != "<";
        if !goes_on {
            // A turbofish ends a path as far as names go.
            path.truncate(path.trim_end_matches("::").len());
            found.push((tokens[at].line, path));
            // `a::b as c`: the new name is no path.
            return if text(end) == "as" { end + 2 } else { end };
        }
    }
}

/// Each function with its line and its length in lines.
pub fn functions(tokens: &[Token]) -> Vec<(String, usize, usize)> {
    let mut found = Vec::new();
    for (at, pair) in tokens.windows(2).enumerate() {
        if pair[0].text == "fn"
            && pair[1].text.starts_with(is_word)
            && let Some(end) = end_of_body(&tokens[at..])
        {
            found.push((pair[1].text.clone(), pair[0].line, end - pair[0].line + 1));
        }
    }
    found
}

/// The line of the brace that closes the body; none for a signature alone.
fn end_of_body(tokens: &[Token]) -> Option<usize> {
    let mut depth = 0;
    for token in tokens {
        match token.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" => depth -= 1,
            "}" => {
                depth -= 1;
                if depth == 0 {
                    return Some(token.line);
                }
            }
            ";" if depth == 0 => return None,
            _ => {}
        }
    }
    None
}
