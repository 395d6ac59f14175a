//! Sources of settings and their precedence.

use std::path::Path;

use toml::de::{DeTable, DeValue};

use crate::config::Config;
use crate::config::refusal::{COMMAND_LINE, Origins, Refusal};
use crate::failure::Failure;
use crate::logging::{self, LOG_VARIABLE};
use crate::private_key::LOAD_KEY_VARIABLE;
use crate::processes::process::MASTER_SECRET_VARIABLE;

/// Default settings file, read from the working directory if it exists and `--config` is absent.
pub(crate) const DEFAULT_FILE: &str = "foretell.toml";
/// Variables with our prefix that are not settings.
const OTHER_VARIABLES: &[&str] = &["FORETELL_CONFIG", MASTER_SECRET_VARIABLE, LOAD_KEY_VARIABLE];

/// The setting that was a text before it became a section, and what the text sets.
const DATA: &str = "data";
const DATA_DIRECTORY: &str = "data.directory";

/// Settings given as flags, by path (`trading.listen`); highest precedence.
pub(crate) type Flags = Vec<(&'static str, toml::Value)>;

/// What a hint says beside refused settings.
pub(crate) const SETTINGS_HINT: &str =
    "`foretell config print` shows every setting with its default";

/// The settings of all sources, those that are refused at their defaults or as they are.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) config: Config,
    /// Refused values.
    pub(crate) refusals: Vec<Refusal>,
    pub(crate) origins: Origins,
}

impl Loaded {
    /// Refuses settings with a value that is not allowed.
    ///
    /// # Errors
    /// Names every mistake: the line of the file or the variable, the setting, its value and what is
    /// allowed.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let failure = self.origins.failure(&self.refusals);
        let failure = failure.map(|it| it.hint(SETTINGS_HINT).code(foretell_engine::EXIT_REFUSED));
        failure.map_or(Ok(()), Err)
    }
}

impl Config {
    /// Reads the settings from the file (`path`, else [`DEFAULT_FILE`] if it exists), the
    /// environment and the flags, and checks their values.
    ///
    /// # Errors
    /// The file cannot be read, or is no TOML.
    pub(crate) fn load(
        path: Option<&Path>,
        environment: impl Iterator<Item = (String, String)>,
        flags: Flags,
    ) -> Result<Loaded, Failure> {
        let mut sources = Sources::default();
        match path {
            Some(path) => sources.read_file(path)?,
            None if Path::new(DEFAULT_FILE).exists() => {
                sources.read_file(Path::new(DEFAULT_FILE))?;
            }
            None => {}
        }
        sources.read_environment(environment);
        Ok(sources.loaded(flags))
    }

    /// The settings that a caller gives: `given` of `--set`, the flags, the file that it names, and for the rest `defaults`.
    ///
    /// # Errors
    /// The file cannot be read, or is no TOML; one of `given` is no `SETTING=VALUE`.
    pub(crate) fn of_caller(
        path: Option<&Path>,
        defaults: Flags,
        flags: Flags,
        given: &[String],
    ) -> Result<Loaded, Failure> {
        let mut sources = Sources::default();
        if let Some(path) = path {
            sources.read_file(path)?;
        }
        for (setting, value) in defaults {
            if !sources.has(setting) {
                sources.set(setting, value, "sandbox");
            }
        }
        for (setting, value) in flags {
            sources.set(setting, value, COMMAND_LINE);
        }
        for text in given {
            let Some((setting, value)) = text.split_once('=') else {
                let what = format!("--set is {text}, allowed: SETTING=VALUE");
                return Err(Failure::new(what).hint("--set signing.chain=137"));
            };
            sources.set(setting, parse_value(value), "--set");
        }
        Ok(sources.loaded(Flags::new()))
    }
}

/// The settings of all sources, and what is wrong with them.
#[derive(Default)]
struct Sources {
    tree: toml::Table,
    origins: Origins,
    refusals: Vec<Refusal>,
}

impl Sources {
    /// All of them, and flags, which win.
    fn loaded(mut self, flags: Flags) -> Loaded {
        for (setting, value) in flags {
            self.set(setting, value, COMMAND_LINE);
        }
        let config = self.config();
        self.refusals.extend(config.refusals());
        Loaded {
            config,
            refusals: self.refusals,
            origins: self.origins,
        }
    }

    /// Whether a source has this setting.
    fn has(&self, setting: &str) -> bool {
        let mut keys = setting.split('.');
        let first = keys.next().and_then(|key| self.tree.get(key));
        keys.try_fold(first, |table, key| Some(table?.get(key)))
            .flatten()
            .is_some()
    }

    fn set(&mut self, setting: &str, value: toml::Value, origin: &str) {
        let setting = if setting == DATA {
            DATA_DIRECTORY
        } else {
            setting
        };
        self.origins.set(setting, origin);
        set(&mut self.tree, &keys_of(setting), value);
    }

    /// A file that is no TOML has nothing else that could be checked.
    fn read_file(&mut self, path: &Path) -> Result<(), Failure> {
        let file = path.display();
        let text = std::fs::read_to_string(path)
            .map_err(|error| Failure::new(format!("cannot read {file}: {error}")))?;
        let (table, errors) = DeTable::parse_recoverable(&text);
        let at = |byte: usize| {
            let before = text.get(..byte).unwrap_or(&text);
            format!("{file}:{}", before.lines().count().max(1))
        };
        let lines: Vec<_> = errors
            .iter()
            .map(|error| {
                let origin = error
                    .span()
                    .map_or(file.to_string(), |span| at(span.end.max(1)));
                format!("{origin}: {}", error.message())
            })
            .collect();
        if !lines.is_empty() {
            return Err(Failure::new(lines.join("\n")));
        }
        set_origins(table.get_ref(), "", &at, &mut self.origins);
        self.tree = text
            .parse()
            .map_err(|error| Failure::new(format!("{file}: {error}")))?;
        // `data = "path"` is short for `data.directory = "path"`.
        if let Some(short) = self
            .tree
            .get(DATA)
            .filter(|value| !value.is_table())
            .cloned()
        {
            set(&mut self.tree, &keys_of(DATA_DIRECTORY), short);
        }
        Ok(())
    }

    fn read_environment(&mut self, environment: impl Iterator<Item = (String, String)>) {
        let known = known_settings();
        for (name, text) in environment.filter(|(name, _)| name.starts_with("FORETELL_")) {
            if name == LOG_VARIABLE {
                let wrong = logging::filter(&text).err();
                let refusal = |why| Refusal::other(&name, format!("{name} is '{text}': {why}"));
                self.refusals.extend(wrong.map(refusal));
            } else if let Some(setting) = known.iter().find(|path| variable(path) == name) {
                self.set(setting, parse_value(&text), &name);
            } else if !OTHER_VARIABLES.contains(&name.as_str())
                && !name.starts_with("FORETELL_TEST_")
            {
                let text =
                    "is no setting of Foretell; `foretell config print --env` lists the variables";
                self.refusals
                    .push(Refusal::other(&name, format!("{name} {text}")));
            }
        }
    }

    /// The settings; those that cannot be read are refused and keep their defaults.
    fn config(&mut self) -> Config {
        let error = match self.tree.clone().try_into() {
            Ok(config) => return config,
            Err(error) => error,
        };
        let mut readable = toml::Table::new();
        let mut refusals = Vec::new();
        leaves(
            &[],
            &self.tree,
            &mut |keys, value| match unreadable(keys, value) {
                found if found.is_empty() => set(&mut readable, keys, value.clone()),
                found => refusals.extend(found),
            },
        );
        if refusals.is_empty() {
            // Each can be read alone, and not all of them together.
            refusals.push(Refusal::other("", error.message()));
        }
        self.refusals.extend(refusals);
        readable.try_into().unwrap_or_default()
    }
}

/// Why a setting cannot be read; of a list, each entry that cannot.
fn unreadable(keys: &[&str], value: &toml::Value) -> Vec<Refusal> {
    let setting = keys.join(".");
    let read = |value: &toml::Value| {
        let mut alone = toml::Table::new();
        set(&mut alone, keys, value.clone());
        alone.try_into::<Config>().err()
    };
    let Some(error) = read(value) else {
        return Vec::new();
    };
    let entries = value.as_array().into_iter().flatten().enumerate();
    let refused: Vec<_> = entries
        .filter_map(|(index, entry)| {
            let error = read(&toml::Value::Array(vec![entry.clone()]))?;
            let setting = format!("{setting}[{index}]");
            Some(Refusal::failed(&setting, entry, error.message()))
        })
        .collect();
    match refused.is_empty() {
        true => vec![Refusal::failed(&setting, value, error.message())],
        false => refused,
    }
}

/// Calls `each` for each setting of a table below `above`: each value that is no table, or an empty one. A key may have
/// dots of its own.
fn leaves(above: &[&str], table: &toml::Table, each: &mut impl FnMut(&[&str], &toml::Value)) {
    for (key, value) in table {
        let mut keys = above.to_vec();
        keys.push(key);
        match value {
            toml::Value::Table(inner) if !inner.is_empty() => leaves(&keys, inner, each),
            _ => each(&keys, value),
        }
    }
}

/// Notes the line of each table, setting and entry of a list.
fn set_origins(
    table: &DeTable<'_>,
    prefix: &str,
    at: &impl Fn(usize) -> String,
    origins: &mut Origins,
) {
    for (key, value) in table {
        let path = joined(prefix, key.get_ref());
        let path = if path == DATA && !value.get_ref().is_table() {
            DATA_DIRECTORY
        } else {
            &path
        };
        origins.set(path, at(key.span().end));
        match value.get_ref() {
            DeValue::Table(inner) => set_origins(inner, path, at, origins),
            DeValue::Array(entries) => {
                for (index, entry) in entries.iter().enumerate() {
                    let path = format!("{path}[{index}]");
                    origins.set(&path, at(entry.span().start + 1));
                    if let DeValue::Table(inner) = entry.get_ref() {
                        set_origins(inner, &path, at, origins);
                    }
                }
            }
            _ => {}
        }
    }
}

fn joined(prefix: &str, key: &str) -> String {
    match prefix {
        "" => key.to_owned(),
        _ => format!("{prefix}.{key}"),
    }
}

/// Paths of all scalar settings, from the defaults.
fn known_settings() -> Vec<String> {
    let mut paths = Vec::new();
    let defaults = toml::Table::try_from(Config::default()).unwrap_or_default();
    leaves(&[], &defaults, &mut |keys, value| {
        if !value.is_table() {
            paths.push(keys.join("."));
        }
    });
    paths
}

/// Every setting and its environment variable.
#[must_use]
pub(crate) fn variables() -> Vec<(String, String)> {
    let settings = known_settings().into_iter();
    settings
        .map(|path| (path.clone(), variable(&path)))
        .collect()
}

/// Whether a variable of the environment is one of the exchange's; those of its tests are not.
pub(crate) fn is_variable(name: &str) -> bool {
    name.starts_with("FORETELL_") && !name.starts_with("FORETELL_TEST_")
}

fn variable(path: &str) -> String {
    let path = if path == DATA_DIRECTORY { DATA } else { path };
    format!("FORETELL_{}", path.replace('.', "_").to_uppercase())
}

/// Parses a variable as a TOML value; anything else is a string.
fn parse_value(text: &str) -> toml::Value {
    format!("value = {text}")
        .parse::<toml::Table>()
        .ok()
        .and_then(|mut table| table.remove("value"))
        .unwrap_or_else(|| toml::Value::String(text.to_owned()))
}

/// Keys of a setting of ours.
fn keys_of(setting: &str) -> Vec<&str> {
    setting.split('.').collect()
}

fn set(tree: &mut toml::Table, keys: &[&str], value: toml::Value) {
    match keys {
        [] => {}
        [key] => {
            tree.insert((*key).to_owned(), value);
        }
        [head, rest @ ..] => {
            let entry = tree
                .entry(*head)
                .or_insert_with(|| toml::Value::Table(toml::Table::new()));
            if !entry.is_table() {
                *entry = toml::Value::Table(toml::Table::new());
            }
            if let toml::Value::Table(inner) = entry {
                set(inner, rest, value);
            }
        }
    }
}

#[cfg(test)]
#[path = "source_tests.rs"]
mod tests;
