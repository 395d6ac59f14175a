//! How deep a body nests, found out without recursion before any parser sees it.

/// Levels of arrays and objects a body may have. The deepest of ours has four.
pub(crate) const MAX_DEPTH: usize = 32;

/// Whether `body` opens more than [`MAX_DEPTH`] arrays and objects inside each other. Of what is
/// not JSON the answer means nothing.
pub(crate) fn is_too_deep(body: &[u8]) -> bool {
    let opening = memchr::memchr2_iter(b'[', b'{', body).count();
    // The usual body has few brackets in all, and counting them is much cheaper than following them.
    opening > MAX_DEPTH && deepest(body) > MAX_DEPTH
}

fn deepest(body: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let mut in_text = false;
    let mut bytes = body.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => in_text = !in_text,
            // The next byte is escaped, whatever it is.
            b'\\' if in_text => {
                bytes.next();
            }
            b'[' | b'{' if !in_text => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_counted_outside_of_texts_only() {
        let nested = |levels| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(!is_too_deep(nested(MAX_DEPTH).as_bytes()));
        assert!(is_too_deep(nested(MAX_DEPTH + 1).as_bytes()));
        assert!(is_too_deep("[".repeat(100_000).as_bytes()));
        let in_text = format!(r#"["\"{}"]"#, "[".repeat(100));
        assert!(!is_too_deep(in_text.as_bytes()));
        let wide = format!("[{}[]]", "[],".repeat(1_000));
        assert!(!is_too_deep(wide.as_bytes()));
    }
}
