//! Nesting depth of a body, computed without recursion before any parser reads the body.

use crate::limits::MAX_DEPTH;

/// Whether `body` nests more than [`MAX_DEPTH`] arrays and objects. For a body that is not JSON the
/// result is meaningless.
pub(crate) fn is_too_deep(body: &[u8]) -> bool {
    let opening = memchr::memchr2_iter(b'[', b'{', body).count();
    // Most bodies have few brackets in total, and counting is much cheaper than tracking the depth.
    opening > MAX_DEPTH && deepest(body) > MAX_DEPTH
}

fn deepest(body: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let mut in_text = false;
    let mut bytes = body.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => in_text = !in_text,
            // Skip the escaped byte.
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
