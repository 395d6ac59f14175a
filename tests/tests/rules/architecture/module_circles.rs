//! Modules of a crate import in one direction: no two modules reach each other, unless one contains
//! the other. Only code counts, not tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::{ROOT, collect_sources, package_folders};

/// The path of a module in its crate; the crate's root is empty.
type Module = Vec<String>;
/// The modules that each module imports.
type Imports = BTreeMap<Module, BTreeSet<Module>>;

/// Circles that are not opened yet: folder of the crate, its modules, the reason.
const TOLERATED: &[(&str, &[&str], &str)] = &[
    (
        "engine/matching",
        &[
            "accounts",
            "background",
            "clock",
            "event_group",
            "exchange",
            "funds",
            "keys",
            "operators",
            "placement::plan",
            "policies",
            "quotes",
            "rebates",
            "resolution",
            "shares",
            "system",
            "withdrawals",
        ],
        "one type, Exchange, is implemented over these files",
    ),
    (
        "engine/matching",
        &["action_references", "idempotency"],
        "the entry of a reference is defined beside its owner's check",
    ),
    (
        "engine/reference",
        &[
            "accounts",
            "background",
            "clock",
            "collateral",
            "delayed_orders",
            "event_groups",
            "exchange",
            "keys",
            "maps",
            "markets",
            "operators",
            "order_ids",
            "orders",
            "plan",
            "policies",
            "quote_groups",
            "quote_limits",
            "rebates",
            "references",
            "resolution",
            "terms",
            "withdrawals",
        ],
        "one type, Exchange, is implemented over these files",
    ),
    (
        "gateway/auth",
        &["deposit_wallet", "order_signature"],
        "a deposit wallet's signature is one of the order signatures",
    ),
];

#[test]
fn modules_import_in_one_direction() {
    let mut wrong = Vec::new();
    let mut met = BTreeSet::new();
    for folder in package_folders() {
        let name = folder.strip_prefix(ROOT).unwrap_or(&folder);
        let name = name.to_string_lossy().into_owned();
        for circle in circles(&imports(&folder.join("src"))) {
            let tolerated = TOLERATED.iter().position(|(of, modules, _)| {
                *of == name && circle.iter().all(|module| modules.contains(&&**module))
            });
            match tolerated {
                Some(entry) => drop(met.insert(entry)),
                None => wrong.push(format!("{name}: {} import each other", circle.join(", "))),
            }
        }
    }
    for (entry, (name, modules, _)) in TOLERATED.iter().enumerate() {
        if !met.contains(&entry) {
            let modules = modules.join(", ");
            wrong.push(format!("{name}: {modules} is no circle: remove it here"));
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn a_circle_is_found() {
    let of = |path: &str| path.split("::").map(str::to_owned).collect::<Module>();
    let files = [
        ("a", "use crate::{b::{self, B}, error::Error};"),
        ("b", "pub(crate) use super::c as other;"),
        ("c", "fn f() -> crate::a::A { loop {} }\n// crate::d"),
        (
            "d",
            "use crate::a::A;\n#[cfg(test)]\nmod tests { use crate::e::E; }",
        ),
        ("e", "use crate::d;\nuse super::Root;"),
        ("error", ""),
        ("e::child", "use super::E; use crate::e::other;"),
    ];
    let modules: BTreeMap<Module, String> = (files.iter())
        .map(|(path, text)| (of(path), (*text).to_owned()))
        .collect();
    let found = circles(&imports_of(&modules));
    assert_eq!(found, [["a", "b", "c"]]);
}

fn imports(source: &Path) -> Imports {
    let mut files = Vec::new();
    if source.is_dir() {
        collect_sources(source, &mut files);
    }
    let mut modules = BTreeMap::new();
    for file in files {
        let path = file.strip_prefix(source).expect("a file of the folder");
        let mut module: Module = path
            .with_extension("")
            .iter()
            .map(|part| part.to_string_lossy().into_owned())
            .collect();
        let last = module.last().map_or("", String::as_str);
        if last == "tests" || last.ends_with("_tests") {
            continue;
        }
        if ["lib", "main", "mod"].contains(&last) {
            module.pop();
        }
        let text = fs::read_to_string(&file).expect("a readable source");
        modules.insert(module, text);
    }
    imports_of(&modules)
}

fn imports_of(modules: &BTreeMap<Module, String>) -> Imports {
    let of = |(module, text): (&Module, &String)| {
        let used = paths(&code(text))
            .into_iter()
            .map(|path| resolve(module, path, modules))
            .filter(|used| !used.starts_with(module) && !module.starts_with(used))
            .collect();
        (module.clone(), used)
    };
    modules.iter().map(of).collect()
}

/// A source without comments and without the test module at its end.
fn code(text: &str) -> String {
    let end = text.find("#[cfg(test)]").unwrap_or(text.len());
    let end = end.min(text.find("#[cfg(all(test").unwrap_or(end));
    let lines = text[..end].lines();
    let bare = lines.map(|line| line.split("//").next().unwrap_or_default());
    bare.collect::<Vec<_>>().join("\n")
}

/// Every path that begins with `crate::` or `super::`, with `{…}` expanded.
fn paths(code: &str) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    for start in ["crate::", "super::"] {
        for (at, _) in code.match_indices(start) {
            let before = code[..at].chars().next_back().unwrap_or(' ');
            if !before.is_alphanumeric() && !"_$:".contains(before) {
                expand(&mut code[at..].chars().peekable(), Vec::new(), &mut paths);
            }
        }
    }
    paths
}

/// Reads one path, or one branch of a `{…}`.
fn expand(
    rest: &mut std::iter::Peekable<std::str::Chars<'_>>,
    mut path: Vec<String>,
    paths: &mut Vec<Vec<String>>,
) {
    let mut word = String::new();
    while let Some(letter) = rest.peek().copied() {
        match letter {
            ':' => path.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty())),
            '{' => {
                while rest.peek().is_some_and(|letter| *letter != '}') {
                    rest.next();
                    expand(rest, path.clone(), paths);
                    // The new name of `as`.
                    while rest.next_if(|letter| !",}".contains(*letter)).is_some() {}
                }
                rest.next();
                return;
            }
            _ if letter.is_alphanumeric() || letter == '_' => word.push(letter),
            _ if letter.is_whitespace() && word.is_empty() => {}
            _ => break,
        }
        rest.next();
    }
    path.extend(Some(word).filter(|word| !word.is_empty()));
    paths.push(path);
}

/// The innermost module that a path names.
fn resolve(from: &Module, path: Vec<String>, modules: &BTreeMap<Module, String>) -> Module {
    let mut module = from.clone();
    for part in path {
        match part.as_str() {
            "crate" => module.clear(),
            "super" => drop(module.pop()),
            "self" => {}
            _ => module.push(part),
        }
    }
    while !module.is_empty() && !modules.contains_key(&module) {
        module.pop();
    }
    module
}

/// The largest sets of modules that reach each other, each sorted.
fn circles(imports: &Imports) -> Vec<Vec<String>> {
    let reached: BTreeMap<_, _> = imports
        .keys()
        .map(|module| (module, reach(module, imports)))
        .collect();
    let mut circles = BTreeSet::new();
    for (module, reachable) in &reached {
        let circle: Vec<String> = (reachable.iter())
            .filter(|other| {
                reached
                    .get(*other)
                    .is_some_and(|back| back.contains(*module))
            })
            .map(|module| module.join("::"))
            .collect();
        if circle.len() > 1 {
            circles.insert(circle);
        }
    }
    circles.into_iter().collect()
}

/// All modules that a module imports, directly or not.
fn reach(from: &Module, imports: &Imports) -> BTreeSet<Module> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(module) = open.pop() {
        for next in imports.get(module).into_iter().flatten() {
            if reached.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    reached
}
