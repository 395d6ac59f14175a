//! Writes tables of files that the gateway serves, each as it is and compressed: the page (`ui/`) for
//! `src/page/files.rs`, the OpenAPI documents for `src/openapi/served.rs`. The binary then serves them
//! without files beside it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use flate2::Compression;
use flate2::write::GzEncoder;

/// Extensions of the files that are served, and their content types.
const CONTENT_TYPES: [(&str, &str); 10] = [
    ("html", "text/html; charset=utf-8"),
    ("js", "text/javascript; charset=utf-8"),
    ("mjs", "text/javascript; charset=utf-8"),
    ("css", "text/css; charset=utf-8"),
    ("svg", "image/svg+xml"),
    ("json", "application/json"),
    ("webmanifest", "application/manifest+json"),
    ("png", "image/png"),
    ("ico", "image/x-icon"),
    ("woff2", "font/woff2"),
];

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    embed("ui", "page_files")?;
    embed("../docs/openapi", "documents")
}

/// Writes the table `name` of the files in a folder.
fn embed(folder: &str, name: &str) -> io::Result<()> {
    println!("cargo::rerun-if-changed={folder}");
    let variable = |name| env::var_os(name).map(PathBuf::from).unwrap_or_default();
    let folder = variable("CARGO_MANIFEST_DIR").join(folder);
    let output = variable("OUT_DIR");
    let mut files = Vec::new();
    collect(&folder, &mut files)?;
    files.sort();
    let mut table = String::from("vec![\n");
    for (number, file) in files.iter().enumerate() {
        let Some(content_type) = content_type(file) else {
            continue;
        };
        let path = file.strip_prefix(&folder).map_err(io::Error::other)?;
        let compressed = output.join(format!("{name}_{number}.gz"));
        fs::write(&compressed, gzip(&fs::read(file)?)?)?;
        writeln!(
            table,
            "EmbeddedFile::new({path:?}, {content_type:?}, include_bytes!({file:?}), include_bytes!({compressed:?})),"
        )
        .map_err(io::Error::other)?;
    }
    table.push(']');
    fs::write(output.join(format!("{name}.rs")), table)
}

/// All files of a folder and its folders.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

fn content_type(file: &Path) -> Option<&'static str> {
    let extension = file.extension()?.to_str()?;
    let known = CONTENT_TYPES.iter().find(|(known, _)| *known == extension);
    known.map(|(_, content_type)| *content_type)
}

fn gzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    io::Write::write_all(&mut encoder, bytes)?;
    encoder.finish()
}
