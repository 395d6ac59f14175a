//! Writes tables of files that the gateway serves, each as it is and compressed: the page (`ui/`) for
//! `src/page/files.rs`, the OpenAPI documents for `src/openapi/served.rs`. The binary then serves them
//! without files beside it. Pages name one joined script and one joined style sheet (`src/page/join.rs`).

#[path = "src/page/join.rs"]
mod join;

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

/// A file to embed.
struct Source {
    /// Its path below the folder that is served.
    name: PathBuf,
    /// Its content.
    file: PathBuf,
}

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/page/join.rs");
    let mut page_files = sources("ui")?;
    join_pages(&mut page_files)?;
    embed(&page_files, "page_files")?;
    embed(&sources("../docs/openapi")?, "documents")
}

/// The files of a folder, by name.
fn sources(folder: &str) -> io::Result<Vec<Source>> {
    println!("cargo::rerun-if-changed={folder}");
    let folder = directory("CARGO_MANIFEST_DIR").join(folder);
    let mut files = Vec::new();
    collect(&folder, &mut files)?;
    files.sort();
    let relative = files.into_iter().map(|file| {
        let name = file.strip_prefix(&folder).map_err(io::Error::other)?;
        Ok(Source {
            name: name.to_owned(),
            file,
        })
    });
    relative.collect()
}

/// Replaces the pages by those that name joined files, and adds these files.
fn join_pages(files: &mut Vec<Source>) -> io::Result<()> {
    let (root, output) = (
        directory("CARGO_MANIFEST_DIR").join("ui"),
        directory("OUT_DIR"),
    );
    for (html, prefix, name) in join::PAGES {
        let joined = join::page(&root, html, prefix, name)?;
        files.retain(|source| source.name != Path::new(html));
        for (name, content) in [
            (html.to_owned(), joined.html),
            (format!("{name}.js"), joined.script),
            (format!("{name}.css"), joined.style),
        ] {
            let file = output.join(name.replace('/', "_"));
            fs::write(&file, content)?;
            let name = PathBuf::from(name);
            files.push(Source { name, file });
        }
    }
    Ok(())
}

/// Writes the table `name` of files.
fn embed(files: &[Source], name: &str) -> io::Result<()> {
    let output = directory("OUT_DIR");
    let mut table = String::from("vec![\n");
    for (number, Source { name: path, file }) in files.iter().enumerate() {
        let Some(content_type) = content_type(file) else {
            continue;
        };
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

/// A directory that cargo names in a variable.
fn directory(variable: &str) -> PathBuf {
    env::var_os(variable).map(PathBuf::from).unwrap_or_default()
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
