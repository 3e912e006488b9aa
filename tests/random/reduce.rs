//! Makes a failing kernel smaller, on its text: a candidate stands if it still compiles, is valid
//! and fails.

/// The smallest text that `fails` that was found. Lines and blocks go first, then operands.
pub(crate) fn reduce(text: &str, fails: &mut dyn FnMut(&str) -> bool) -> String {
    let mut best = text.to_owned();
    loop {
        let before = best.len();
        best = drop_lines(&best, fails);
        best = shrink_expressions(&best, fails);
        if best.len() == before {
            return best;
        }
    }
}

/// How a line changes the depth of braces.
fn depth(line: &str) -> i64 {
    line.chars().map(|c| i64::from(c == '{') - i64::from(c == '}')).sum()
}

/// The line behind a block that `start` opens, or behind the line.
fn end_of(lines: &[String], start: usize) -> usize {
    let mut open = 0;
    for (at, line) in lines.iter().enumerate().skip(start) {
        open += depth(line);
        if open <= 0 {
            return at + 1;
        }
    }
    lines.len()
}

fn drop_lines(text: &str, fails: &mut dyn FnMut(&str) -> bool) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for size in [16, 4, 1] {
        let mut at = lines.len();
        while at > 0 {
            at -= 1;
            let line = lines[at].trim();
            if line.starts_with("#version") || line.is_empty() {
                continue;
            }
            let mut end = at;
            for _ in 0..size {
                end = end_of(&lines, end.min(lines.len() - 1)).max(end);
                if end >= lines.len() {
                    break;
                }
            }
            let mut without = lines.clone();
            without.drain(at..end);
            if fails(&without.join("\n")) {
                lines = without;
                at = at.min(lines.len());
                continue;
            }
            // The block's content without its head and end.
            if size == 1 && end > at + 1 {
                let mut unwrapped = lines.clone();
                unwrapped.remove(end - 1);
                unwrapped.remove(at);
                if fails(&unwrapped.join("\n")) {
                    lines = unwrapped;
                }
            }
        }
    }
    lines.join("\n")
}

/// Ends of the balanced group that opens at `start`, and its parts at its own depth.
fn group(text: &str, start: usize) -> Option<(usize, Vec<String>)> {
    let (mut open, mut parts, mut part) = (0, Vec::new(), start + 1);
    for (at, c) in text.char_indices().skip_while(|(at, _)| *at < start) {
        match c {
            '(' | '[' => open += 1,
            ')' | ']' => {
                open -= 1;
                if open == 0 {
                    parts.push(text[part..at].trim().to_owned());
                    return Some((at + 1, parts));
                }
            }
            ' ' | ',' | '?' | ':' if open == 1 => {
                parts.push(text[part..at].trim().to_owned());
                part = at + 1;
            }
            _ => {}
        }
    }
    None
}

fn shrink_expressions(text: &str, fails: &mut dyn FnMut(&str) -> bool) -> String {
    let mut best = text.to_owned();
    let mut at = best.find("void main").unwrap_or(0).min(best.find(" f0(").unwrap_or(usize::MAX));
    while let Some(next) = best[at..].find('(') {
        at += next;
        let Some((end, parts)) = group(&best, at) else { break };
        let head = best[..at]
            .rfind(|c: char| !c.is_alphanumeric() && c != '_')
            .map_or(0, |found| found + 1);
        let mut candidates: Vec<(usize, String)> = Vec::new();
        for part in
            parts.iter().filter(|part| part.len() > 1 || part.chars().all(char::is_alphanumeric))
        {
            candidates.push((head, part.clone()));
            candidates.push((at, format!("({part})")));
        }
        candidates.extend(["(0)", "(1)", "(true)"].map(|text| (at, text.to_owned())));
        candidates.extend(["0", "1", "1u", "true"].map(|text| (head, text.to_owned())));
        for (from, replacement) in candidates {
            if replacement.len() >= end - from || replacement.is_empty() {
                continue;
            }
            let shorter = format!("{}{replacement}{}", &best[..from], &best[end..]);
            if fails(&shorter) {
                best = shorter;
                at = from;
                break;
            }
        }
        at += 1;
        if at >= best.len() {
            break;
        }
        while !best.is_char_boundary(at) {
            at += 1;
        }
    }
    best
}
