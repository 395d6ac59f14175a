//! The files of the page: those of `gateway/ui`, and the joined ones that its pages name.

use std::sync::LazyLock;

use crate::http::embedded_file::EmbeddedFile;

static FILES: LazyLock<Vec<EmbeddedFile>> =
    LazyLock::new(|| include!(concat!(env!("OUT_DIR"), "/page_files.rs")));

/// The file for a path below `/ui/`. Views have paths without a dot; the page itself interprets
/// them, so each is answered with `index.html`.
pub(crate) fn find(path: &str) -> Option<&'static EmbeddedFile> {
    find_exactly(match path.contains('.') {
        true => path,
        false => "index.html",
    })
}

/// The file of this path.
pub(crate) fn find_exactly(name: &str) -> Option<&'static EmbeddedFile> {
    FILES.iter().find(|file| file.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_are_the_index_and_missing_files_are_missing() {
        let name = |path| find(path).map(|file| file.name);
        for path in ["", "market/will-it-rain", "portfolio", "proof/0011-22"] {
            assert_eq!(name(path), Some("index.html"), "{path}");
        }
        for path in ["missing.js", "../Cargo.toml", "index.html/", "market/a.b"] {
            assert_eq!(name(path), None, "{path}");
        }
    }
}
