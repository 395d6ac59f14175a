//! The files of the page, embedded in the binary by `build.rs`.

use std::sync::LazyLock;

use http::header::{ACCEPT_ENCODING, IF_NONE_MATCH};
use http::{HeaderMap, HeaderValue};

/// A file of `gateway/ui`.
pub(crate) struct PageFile {
    /// Its path below `/ui/`.
    pub(crate) name: &'static str,
    pub(crate) content_type: &'static str,
    plain: &'static [u8],
    gzip: &'static [u8],
}

static FILES: &[PageFile] = include!(concat!(env!("OUT_DIR"), "/page_files.rs"));

/// The tags of [`FILES`], in the same order.
static TAGS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let tag = |file: &PageFile| blake3::hash(file.plain).to_hex()[..16].to_owned();
    FILES.iter().map(tag).collect()
});

/// The bytes of an answer with a file.
pub(crate) struct Representation {
    pub(crate) file: &'static PageFile,
    pub(crate) bytes: &'static [u8],
    pub(crate) is_compressed: bool,
    /// Differs between the compressed and the plain bytes.
    pub(crate) tag: HeaderValue,
    /// Whether the client has these bytes already.
    pub(crate) is_known: bool,
}

/// The file for a path below `/ui/`. Views have paths without a dot; the page itself interprets
/// them, so each is answered with `index.html`.
pub(crate) fn find(path: &str) -> Option<usize> {
    let name = if path.contains('.') {
        path
    } else {
        "index.html"
    };
    find_exactly(name)
}

/// The file of this path.
pub(crate) fn find_exactly(name: &str) -> Option<usize> {
    FILES.iter().position(|file| file.name == name)
}

/// The representation of a file that a client accepts.
pub(crate) fn represent(index: usize, headers: &HeaderMap) -> Representation {
    let file = &FILES[index];
    let is_compressed = accepts_gzip(headers);
    let (bytes, suffix) = if is_compressed {
        (file.gzip, "-gz")
    } else {
        (file.plain, "")
    };
    let tag = format!("\"{}{suffix}\"", TAGS[index]);
    Representation {
        file,
        bytes,
        is_compressed,
        is_known: has(headers, &tag),
        tag: HeaderValue::from_str(&tag).expect("hex digits"),
    }
}

/// Whether `Accept-Encoding` lists gzip, or everything, with a weight above 0.
fn accepts_gzip(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(ACCEPT_ENCODING).iter();
    let mut codings = lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(','));
    codings.any(|coding| {
        let (name, parameters) = coding.split_once(';').unwrap_or((coding, ""));
        let weight = parameters.trim().strip_prefix("q=").map(str::parse::<f32>);
        let is_wanted = weight.is_none_or(|weight| weight.is_ok_and(|weight| weight > 0.0));
        matches!(name.trim(), "gzip" | "*") && is_wanted
    })
}

/// Whether `If-None-Match` names the tag.
fn has(headers: &HeaderMap, tag: &str) -> bool {
    let lines = headers.get_all(IF_NONE_MATCH).iter();
    let mut tags = lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(','));
    tags.any(|known| {
        let known = known.trim();
        known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderName;

    fn headers(name: HeaderName, value: &'static str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(name, HeaderValue::from_static(value));
        headers
    }

    #[test]
    fn views_are_the_index_and_missing_files_are_missing() {
        let index = find("index.html").expect("the page has an index");
        for path in ["", "market/will-it-rain", "portfolio", "proof/0011-22"] {
            assert_eq!(find(path), Some(index), "{path}");
        }
        for path in ["missing.js", "../Cargo.toml", "index.html/", "market/a.b"] {
            assert_eq!(find(path), None, "{path}");
        }
    }

    #[test]
    fn a_client_gets_the_encoding_it_accepts() {
        for (value, expected) in [
            ("gzip", true),
            ("br, gzip;q=0.5", true),
            ("*", true),
            ("identity", false),
            ("gzip;q=0", false),
            ("gzip;q=0.0, br", false),
            ("gzipped", false),
        ] {
            assert_eq!(
                accepts_gzip(&headers(ACCEPT_ENCODING, value)),
                expected,
                "{value}"
            );
        }
        assert!(!accepts_gzip(&HeaderMap::new()));
    }

    #[test]
    fn compressed_and_plain_bytes_have_tags_of_their_own() {
        let index = find("").expect("the page has an index");
        let plain = represent(index, &HeaderMap::new());
        let compressed = represent(index, &headers(ACCEPT_ENCODING, "gzip"));
        assert_ne!(plain.tag, compressed.tag);
        assert_eq!(compressed.bytes[..2], [0x1f, 0x8b], "gzip's magic number");
        assert!(!plain.is_known);
        let tag = plain.tag.to_str().expect("ASCII").to_owned();
        for (known, expected) in [(tag.as_str(), true), ("\"other\"", false), ("*", true)] {
            assert!(!has(&HeaderMap::new(), known));
            let mut headers = HeaderMap::new();
            headers.insert(IF_NONE_MATCH, HeaderValue::from_str(known).expect("ASCII"));
            assert_eq!(represent(index, &headers).is_known, expected, "{known}");
        }
    }
}
