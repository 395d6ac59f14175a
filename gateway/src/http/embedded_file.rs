//! A file that `build.rs` puts into the binary, plain and compressed, and an answer with it.

use bytes::Bytes;
use http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY,
};
use http::{HeaderMap, HeaderValue, StatusCode};

use crate::http::answer::Answer;

/// Clients ask each time whether a file changed; most answers are then a 304.
pub(crate) const REVALIDATE: HeaderValue = HeaderValue::from_static("no-cache");

/// A file in the binary.
pub(crate) struct EmbeddedFile {
    /// Its path below the folder that is embedded.
    pub(crate) name: &'static str,
    content_type: &'static str,
    plain: &'static [u8],
    gzip: &'static [u8],
    /// Differs when the content does; of the plain bytes.
    tag: String,
}

impl EmbeddedFile {
    /// For the tables of `build.rs`.
    pub(crate) fn new(
        name: &'static str,
        content_type: &'static str,
        plain: &'static [u8],
        gzip: &'static [u8],
    ) -> Self {
        Self {
            name,
            content_type,
            plain,
            gzip,
            tag: blake3::hash(plain).to_hex()[..16].to_owned(),
        }
    }

    /// The file as the client accepts it, or that the client has it.
    pub(crate) fn answer(&self, headers: &HeaderMap) -> Answer {
        let is_compressed = accepts_gzip(headers);
        let tag = self.tag(is_compressed);
        let answer = match has(headers, &tag) {
            true => Answer::without_body(StatusCode::NOT_MODIFIED),
            false => self.whole(is_compressed),
        };
        answer
            .header(ETAG, HeaderValue::from_str(&tag).expect("hex digits"))
            .header(CACHE_CONTROL, REVALIDATE)
            .header(VARY, HeaderValue::from_static("accept-encoding"))
    }

    fn whole(&self, is_compressed: bool) -> Answer {
        let content_type = HeaderValue::from_static(self.content_type);
        let bytes = if is_compressed { self.gzip } else { self.plain };
        let answer = Answer::json(Bytes::from_static(bytes)).header(CONTENT_TYPE, content_type);
        match is_compressed {
            true => answer.header(CONTENT_ENCODING, HeaderValue::from_static("gzip")),
            false => answer,
        }
    }

    /// Differs between the compressed and the plain bytes, too.
    fn tag(&self, is_compressed: bool) -> String {
        let suffix = if is_compressed { "-gz" } else { "" };
        format!("\"{}{suffix}\"", self.tag)
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

    fn file() -> EmbeddedFile {
        EmbeddedFile::new("a.txt", "text/plain", b"plain", b"\x1f\x8b compressed")
    }

    fn headers(name: HeaderName, value: &str) -> HeaderMap {
        let value = HeaderValue::from_str(value).expect("ASCII");
        [(name, value)].into_iter().collect()
    }

    #[test]
    fn a_client_gets_the_encoding_it_accepts() {
        let file = file();
        for (value, expected) in [
            ("gzip", true),
            ("br, gzip;q=0.5", true),
            ("*", true),
            ("identity", false),
            ("gzip;q=0", false),
            ("gzip;q=0.0, br", false),
            ("gzipped", false),
        ] {
            let answer = file.answer(&headers(ACCEPT_ENCODING, value));
            let body: &[u8] = if expected { file.gzip } else { file.plain };
            assert_eq!(answer.body, body, "{value}");
            let is_said = answer.headers.contains_key(CONTENT_ENCODING);
            assert_eq!(is_said, expected, "{value}");
        }
        assert_eq!(file.answer(&HeaderMap::new()).body, file.plain);
    }

    #[test]
    fn compressed_and_plain_bytes_have_tags_of_their_own() {
        let file = file();
        let plain = file.answer(&HeaderMap::new()).headers[ETAG].clone();
        let compressed = file.answer(&headers(ACCEPT_ENCODING, "gzip"));
        assert_ne!(plain, compressed.headers[ETAG]);
        let tag = plain.to_str().expect("ASCII");
        for (known, is_known) in [(tag, true), ("\"other\"", false), ("*", true)] {
            let answer = file.answer(&headers(IF_NONE_MATCH, known));
            assert_eq!(
                answer.status == StatusCode::NOT_MODIFIED,
                is_known,
                "{known}"
            );
            assert_eq!(answer.body.is_empty(), is_known, "{known}");
        }
    }
}
