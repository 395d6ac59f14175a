//! Joins the modules and the style sheets that an HTML page names into one file of each kind, so that a
//! view needs few requests. `build.rs` runs it; this crate compiles it for its tests only.
//!
//! A joined script is one module. Each source module is a block in it, after the modules that it imports, and
//! ends by assigning its exports to a constant. The source may use the forms of `import` and `export`
//! below, each at the beginning of a line:
//!
//! ```js
//! import "./a.js";
//! import * as a from "./a.js";
//! import { b, c as d } from "./a.js"; // also over several lines
//! export const e = 1; // const, function, async function and class
//! ```
//!
//! The joiner reads lines, not JavaScript. These are errors with their file and line:
//! - another form of `import` or `export`;
//! - a comment over several lines that opens after the beginning of a line, is still open at the end of
//!   the file, or is followed by code on its last line;
//! - an odd number of backticks in a line: comments and blank lines in a template would be left out.

use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

/// Pages, the folder `ui` in their addresses, and the names of their joined files.
pub(crate) const PAGES: [(&str, &str, &str); 2] = [
    ("index.html", "/ui/", "joined"),
    ("admin/index.html", "/admin/", "admin/joined"),
];

/// A page and its joined files.
pub(crate) struct JoinedPage {
    /// The page, which names the joined files instead of the single ones.
    pub(crate) html: String,
    pub(crate) script: String,
    pub(crate) style: String,
}

const STYLE_SHEET: (&str, &str) = ("<link rel=\"stylesheet\" href=\"", "\" />");
const MODULE: (&str, &str) = ("<script type=\"module\" src=\"", "\"></script>");

/// Joins what a page names. `prefix` is the path of the folder `root` in addresses, such as `/ui/`;
/// `name` is the path of the joined files below it, without their extensions.
pub(crate) fn page(root: &Path, html: &str, prefix: &str, name: &str) -> io::Result<JoinedPage> {
    let source = fs::read_to_string(root.join(html))?;
    let mut joined = JoinedPage {
        html: String::new(),
        script: String::new(),
        style: String::new(),
    };
    for line in source.lines() {
        if let Some(sheet) = address(line, STYLE_SHEET) {
            if joined.style.is_empty() {
                joined.html += &line.replace(sheet, &format!("{prefix}{name}.css"));
                joined.html += "\n";
            }
            joined.style += &style_sheet(root, below(sheet, prefix)?)?;
        } else if let Some(entry) = address(line, MODULE) {
            joined.html += &line.replace(entry, &format!("{prefix}{name}.js"));
            joined.html += "\n";
            joined.script += &script(root, below(entry, prefix)?)?;
        } else {
            joined.html += line;
            joined.html += "\n";
        }
    }
    Ok(joined)
}

/// The address in a line of this form.
fn address<'line>(line: &'line str, (before, after): (&str, &str)) -> Option<&'line str> {
    line.trim().strip_prefix(before)?.strip_suffix(after)
}

/// The path of a file that an address names.
fn below<'address>(address: &'address str, prefix: &str) -> io::Result<&'address Path> {
    let path = address.strip_prefix(prefix).map(Path::new);
    path.ok_or_else(|| io::Error::other(format!("{address} is not below {prefix}")))
}

/// A style sheet, after a line with its path. `@import` and `url` would mean something else in a joined file.
fn style_sheet(root: &Path, path: &Path) -> io::Result<String> {
    let text = fs::read_to_string(root.join(path))?;
    for (number, line) in text.lines().enumerate() {
        if line.contains("@import") || line.contains("url(") {
            return Err(rejected(path, number, line));
        }
    }
    Ok(format!("/* {} */\n{text}", path.display()))
}

/// A module and all that it imports, as one module.
fn script(root: &Path, entry: &Path) -> io::Result<String> {
    let mut modules = Modules {
        root,
        open: Vec::new(),
        done: Vec::new(),
        text: String::new(),
    };
    modules.add(entry)?;
    Ok(modules.text)
}

/// Modules on the way into a joined script. Paths are relative to `root`.
struct Modules<'root> {
    root: &'root Path,
    /// Modules whose imports are being added; the last imports the next.
    open: Vec<PathBuf>,
    /// Modules in the script, in its order.
    done: Vec<PathBuf>,
    text: String,
}

impl Modules<'_> {
    /// Appends a module after its imports, unless the script has it.
    fn add(&mut self, path: &Path) -> io::Result<()> {
        if self.done.iter().any(|done| done == path) {
            return Ok(());
        }
        if self.open.iter().any(|open| open == path) {
            let cycle = format!("{}: imports itself: {:?}", path.display(), self.open);
            return Err(io::Error::other(cycle));
        }
        self.open.push(path.to_owned());
        let source = fs::read_to_string(self.root.join(path))?;
        let module = Module::read(path, &source)?;
        for import in &module.imports {
            self.add(import)?;
        }
        self.open.pop();
        self.done.push(path.to_owned());
        let (name, exports) = (constant(path), module.exports.join(", "));
        write!(
            self.text,
            "// {}\nconst {name} = {{}};\n{{\n{}Object.assign({name}, {{ {exports} }});\n}}\n",
            path.display(),
            module.body
        )
        .map_err(io::Error::other)
    }
}

/// A module without `import`, `export` and lines of comments.
#[derive(Default)]
struct Module {
    /// Modules that it imports, in their order.
    imports: Vec<PathBuf>,
    /// Names that it exports.
    exports: Vec<String>,
    body: String,
}

impl Module {
    fn read(path: &Path, source: &str) -> io::Result<Self> {
        let mut module = Self::default();
        // Where the comment opens that the present line begins in.
        let mut comment: Option<(usize, &str)> = None;
        let mut lines = source.lines().enumerate();
        while let Some((number, line)) = lines.next() {
            let wrong = || rejected(path, number, line);
            if comment.is_some() {
                if let Some((_, rest)) = line.split_once("*/") {
                    rest.trim().is_empty().then_some(()).ok_or_else(wrong)?;
                    comment = None;
                }
                continue;
            }
            if opens_comment(line) {
                comment = Some((number, line));
                continue;
            }
            if line.trim_start().starts_with("//") {
                continue;
            }
            let code = uncommented(line).ok_or_else(wrong)?;
            if code.matches('`').count() % 2 == 1 {
                return Err(wrong());
            }
            let code = code.split("//").next().unwrap_or_default();
            if line.starts_with("import") {
                let mut statement = line.to_owned();
                while !statement.ends_with(';') {
                    let (_, next) = lines.next().ok_or_else(wrong)?;
                    statement += next.trim();
                }
                module.import(path, &statement).ok_or_else(wrong)?;
            } else if line.starts_with("export") {
                module.export(line).ok_or_else(wrong)?;
            } else if has_word(code, "import") || has_word(code, "export") {
                return Err(wrong());
            } else if !code.trim().is_empty() {
                module.body += line;
                module.body += "\n";
            }
        }
        let unclosed = comment.map(|(number, line)| rejected(path, number, line));
        unclosed.map_or(Ok(module), Err)
    }

    /// Adds an import statement; `None` when it has another form.
    fn import(&mut self, path: &Path, statement: &str) -> Option<()> {
        let statement = statement.strip_prefix("import ")?.strip_suffix("\";")?;
        let (names, specifier) = statement.split_once('"')?;
        let imported = resolve(path, specifier)?;
        let constant = constant(&imported);
        if let Some(names) = names.strip_suffix(" from ") {
            let pattern = match names.strip_prefix("* as ") {
                Some(name) => is_name(name).then(|| name.to_owned())?,
                None => destructured(names)?,
            };
            self.body += &format!("const {pattern} = {constant};\n");
        } else if !names.is_empty() {
            return None;
        }
        self.imports.push(imported);
        Some(())
    }

    /// Adds a line that begins with an export; `None` when it has another form.
    fn export(&mut self, line: &str) -> Option<()> {
        let declaration = line.strip_prefix("export ")?;
        let kinds = ["const ", "function ", "async function ", "class "];
        let mut after = kinds
            .iter()
            .filter_map(|kind| declaration.strip_prefix(kind));
        let rest = after.next()?;
        let end = rest.find(|character: char| !is_name_part(character))?;
        let name = &rest[..end];
        self.exports.push(is_name(name).then(|| name.to_owned())?);
        self.body += declaration;
        self.body += "\n";
        Some(())
    }
}

/// The names of `{ b, c as d }` as a pattern of a declaration.
fn destructured(names: &str) -> Option<String> {
    let names = names.strip_prefix('{')?.strip_suffix('}')?;
    let mut parts = Vec::new();
    for name in names
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
    {
        let (outer, inner) = name.split_once(" as ").unwrap_or((name, name));
        (is_name(outer) && is_name(inner)).then(|| parts.push(format!("{outer}: {inner}")))?;
    }
    Some(format!("{{ {} }}", parts.join(", ")))
}

/// The module that a relative specifier names; `None` for another specifier.
fn resolve(from: &Path, specifier: &str) -> Option<PathBuf> {
    if !specifier.starts_with("./") && !specifier.starts_with("../") {
        return None;
    }
    let mut path = from.parent()?.to_owned();
    for part in Path::new(specifier).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => path.pop().then_some(())?,
            part => path.push(part),
        }
    }
    Some(path)
}

/// The constant with the exports of a module: `$lib_store` of `lib/store.js`.
fn constant(path: &Path) -> String {
    let path = path.with_extension("").display().to_string();
    format!(
        "${}",
        path.replace(|character| !is_name_part(character), "_")
    )
}

/// Whether a comment begins the line and goes on in the next.
fn opens_comment(line: &str) -> bool {
    let comment = line.trim_start().strip_prefix("/*");
    comment.is_some_and(|comment| !comment.contains("*/"))
}

/// A line without its comments of the form `/* … */`; `None` when one of them is not closed.
fn uncommented(line: &str) -> Option<String> {
    let (mut code, mut rest) = (String::new(), line);
    while let Some((before, comment)) = rest.split_once("/*") {
        code += before;
        rest = comment.split_once("*/")?.1;
    }
    Some(code + rest)
}

/// Whether the code uses a keyword: `import(`, `import.meta`, `export {`. A name may contain it.
fn has_word(code: &str, word: &str) -> bool {
    code.match_indices(word).any(|(place, _)| {
        let before = code[..place].chars().next_back();
        let after = code[place + word.len()..].chars().next();
        let is_joined = |neighbour: char| is_name_part(neighbour) || neighbour == '.';
        !before.is_some_and(is_joined) && !after.is_some_and(is_name_part)
    })
}

fn is_name(text: &str) -> bool {
    let first = text.chars().next();
    first.is_some_and(|first| !first.is_ascii_digit()) && text.chars().all(is_name_part)
}

const fn is_name_part(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '$')
}

/// `number` counts lines from 0.
fn rejected(path: &Path, number: usize, line: &str) -> io::Error {
    let place = format!("{}:{}", path.display(), number + 1);
    io::Error::other(format!(
        "{place}: the joiner does not know this form: {line}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// A folder with these files, and the joined script of `entry.js`.
    fn joined(files: &[(&str, &str)]) -> Result<String, String> {
        let root = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("it is made");
            fs::write(path, text).expect("it is written");
        }
        script(root.path(), Path::new("entry.js")).map_err(|error| error.to_string())
    }

    fn ui() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("ui")
    }

    #[test]
    fn a_joined_script_has_each_module_once_after_its_imports() {
        for (html, prefix, name) in PAGES {
            let page = page(&ui(), html, prefix, name).expect("the source has known forms only");
            let mut done: Vec<PathBuf> = Vec::new();
            let heads = page
                .script
                .lines()
                .filter_map(|line| line.strip_prefix("// "));
            for path in heads
                .filter(|path| path.ends_with(".js"))
                .map(PathBuf::from)
            {
                let source = fs::read_to_string(ui().join(&path)).expect("it names a module");
                let module = Module::read(&path, &source).expect("known forms");
                for import in module.imports {
                    assert!(done.contains(&import), "{path:?} stands before {import:?}");
                }
                assert!(!done.contains(&path), "{path:?} twice");
                done.push(path);
            }
            assert!(done.len() > 20, "{done:?}");
            let count = |html: &str, mark: &str| html.matches(mark).count();
            assert_eq!(
                count(&page.html, "<script type=\"module\""),
                1,
                "{}",
                page.html
            );
            assert_eq!(
                count(&page.html, "<link rel=\"stylesheet\""),
                1,
                "{}",
                page.html
            );
            let source = fs::read_to_string(ui().join(html)).expect("the page");
            assert_eq!(count(&page.style, "/* "), count(&page.style, " */"));
            let sheets = page.style.lines().filter(|line| line.ends_with(".css */"));
            assert_eq!(sheets.count(), count(&source, "<link rel=\"stylesheet\""));
        }
    }

    #[test]
    fn a_joined_script_runs_as_its_modules_do() {
        let script = joined(&[
            ("lib/a.js", "export const one = 1;\nconst own = 1;\nexport function two() {\n  return one + own;\n}\n"),
            ("lib/b.js", "import { two as pair } from \"./a.js\";\nconst own = 10;\nexport class Three {\n  value = pair() + own;\n}\nexport async function four() {\n  return 4;\n}\n"),
            ("entry.js", "import \"./lib/a.js\";\nimport * as a from \"./lib/a.js\";\nimport {\n  Three,\n  four,\n} from \"./lib/b.js\";\n/** @type {import(\"./lib/b.js\").Three} */\n// See `a.js and /* b.js.\n  /* Over\n   * lines. */\nconst own = new Three(/* none */);\nconsole.log(a.one, a.two(), own.value, await four());\n"),
        ])
        .expect("known forms");
        let node = Command::new("node")
            .args(["--input-type=module", "--eval", &script])
            .output();
        // Without node, tests/ui/run is what runs a joined script.
        let Ok(output) = node else { return };
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "1 2 12 4\n",
            "{output:?}"
        );
    }

    #[test]
    fn another_form_is_an_error_with_its_file_and_line() {
        for line in [
            "import a from \"./a.js\";",
            "import { default as a } from \"a\";",
            "import { a } from './a.js';",
            "  import \"./a.js\";",
            "const a = await import(\"./a.js\");",
            "const here = import.meta.url;",
            "export default 1;",
            "export { a };",
            "export * from \"./a.js\";",
            "export let a = 1;",
            "export const { a } = b;",
            "export function* a() {}",
            "const b = 1; export const a = 1;",
            "const a = 1; /* open\n */",
            "const types = \"*/*\";",
            "/* one */ const a = 1; /* two\n */",
            "/* open",
            "  /** open\n * still open",
            "const text = `first\n/* second */\n`;",
        ] {
            let text = format!("/** import \"./b.js\"; */\n{line}\n");
            let error = joined(&[("entry.js", &text), ("a.js", "")]).expect_err(line);
            assert!(error.starts_with("entry.js:2: "), "{line}: {error}");
        }
        let error = joined(&[("entry.js", "/* open\n*/ const a = 1;\n")]).expect_err("code");
        assert!(error.starts_with("entry.js:2: "), "{error}");
        let cycle = [
            ("entry.js", "import \"./a.js\";\n"),
            ("a.js", "import \"./entry.js\";\n"),
        ];
        let error = joined(&cycle).expect_err("a cycle");
        assert!(error.starts_with("entry.js: imports itself"), "{error}");
    }
}
