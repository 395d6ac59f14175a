//! Sources of settings and their precedence.

use std::path::Path;

use crate::config::Config;
use crate::failure::Failure;
use crate::private_key::LOAD_KEY_VARIABLE;
use crate::processes::process::MASTER_SECRET_VARIABLE;

/// Default settings file, read from the working directory if it exists and `--config` is absent.
pub(crate) const DEFAULT_FILE: &str = "foretell.toml";
/// Variables with our prefix that are not settings.
const OTHER_VARIABLES: &[&str] = &[
    "FORETELL_CONFIG",
    "FORETELL_LOG",
    MASTER_SECRET_VARIABLE,
    LOAD_KEY_VARIABLE,
];

/// The setting that was a text before it became a section, and what the text sets.
const DATA: &str = "data";
const DATA_DIRECTORY: &str = "data.directory";

/// Settings given as flags, by path (`trading.listen`); highest precedence.
pub(crate) type Flags = Vec<(&'static str, toml::Value)>;

impl Config {
    /// Reads the settings from the file (`path`, else [`DEFAULT_FILE`] if it exists), the
    /// environment and the flags, and checks them.
    ///
    /// # Errors
    /// Names the file or variable, the setting, the value and the allowed range.
    pub fn load(
        path: Option<&Path>,
        environment: impl Iterator<Item = (String, String)>,
        flags: Flags,
    ) -> Result<Self, Failure> {
        let mut tree = match path {
            Some(path) => read_file(path)?,
            None if Path::new(DEFAULT_FILE).exists() => read_file(Path::new(DEFAULT_FILE))?,
            None => toml::Table::new(),
        };
        // `data = "path"` is short for `data.directory = "path"`.
        if let Some(short) = tree.get(DATA).filter(|value| !value.is_table()).cloned() {
            set(&mut tree, DATA_DIRECTORY, short);
        }
        let known = known_settings();
        for (name, text) in environment.filter(|(name, _)| name.starts_with("FORETELL_")) {
            if OTHER_VARIABLES.contains(&name.as_str()) || name.starts_with("FORETELL_TEST_") {
                continue;
            }
            let setting = known
                .iter()
                .find(|path| variable(path) == name)
                .ok_or_else(|| {
                    Failure::new(format!("{name} is no setting of Foretell"))
                        .hint("`foretell config print --env` lists the variables")
                })?;
            set(&mut tree, setting, parse_value(&text));
        }
        for (setting, value) in flags {
            let setting = if setting == DATA {
                DATA_DIRECTORY
            } else {
                setting
            };
            set(&mut tree, setting, value);
        }
        let config: Self = tree.try_into().map_err(|error: toml::de::Error| {
            // Keep all lines: the later ones name the setting.
            let text = error.to_string().trim().replace('\n', " ");
            Failure::new(format!("settings: {text}"))
                .hint("`foretell config print` shows every setting with its default")
        })?;
        config.check()?;
        Ok(config)
    }
}

fn read_file(path: &Path) -> Result<toml::Table, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::new(format!("cannot read {}: {error}", path.display())))?;
    text.parse::<toml::Table>()
        .map_err(|error| Failure::new(format!("{}: {error}", path.display())))
}

/// Paths of all scalar settings, from the defaults.
fn known_settings() -> Vec<String> {
    let mut paths = Vec::new();
    if let Ok(toml::Value::Table(table)) = toml::Value::try_from(Config::default()) {
        collect("", &table, &mut paths);
    }
    paths
}

fn collect(prefix: &str, table: &toml::Table, paths: &mut Vec<String>) {
    for (key, value) in table {
        let path = if prefix.is_empty() {
            key.clone()
        } else {
            format!("{prefix}.{key}")
        };
        match value {
            toml::Value::Table(inner) => collect(&path, inner, paths),
            _ => paths.push(path),
        }
    }
}

/// Every setting and its environment variable.
#[must_use]
pub(crate) fn variables() -> Vec<(String, String)> {
    let settings = known_settings().into_iter();
    settings
        .map(|path| (path.clone(), variable(&path)))
        .collect()
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

fn set(tree: &mut toml::Table, path: &str, value: toml::Value) {
    match path.split_once('.') {
        None => {
            tree.insert(path.to_owned(), value);
        }
        Some((head, rest)) => {
            let entry = tree
                .entry(head.to_owned())
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
mod tests {
    use std::path::PathBuf;

    use foretell_gateway::Compatibility;

    use super::*;
    use crate::config::Operator;

    fn load(file: &str, environment: &[(&str, &str)], flags: Flags) -> Result<Config, Failure> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("foretell.toml");
        std::fs::write(&path, file).unwrap();
        let environment = environment
            .iter()
            .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()));
        Config::load(Some(&path), environment, flags)
    }

    #[test]
    fn secrets_in_variables_are_no_unknown_settings() {
        let environment = [
            ("FORETELL_MASTER_SECRET", "not read here"),
            ("FORETELL_LOAD_PRIVATE_KEY", "nor this"),
        ];
        assert!(load("", &environment, Flags::new()).is_ok());
        assert!(load("", &[("FORETELL_LOAD_KEY", "1")], Flags::new()).is_err());
    }

    #[test]
    fn each_source_wins_over_the_one_before() {
        let file =
            "[trading]\nlisten = \"127.0.0.1:1111\"\n[engine]\nring = 128\nsegment_mib = 2\n";
        let environment = [("FORETELL_ENGINE_RING", "256"), ("FORETELL_DATA", "/tmp/x")];
        let flags = vec![("trading.listen", toml::Value::from("127.0.0.1:2222"))];
        let config = load(file, &environment, flags).unwrap();
        assert_eq!(config.trading.listen.port(), 2222);
        assert_eq!(config.engine.ring, 256);
        assert_eq!(config.engine.segment_mib, 2);
        assert_eq!(config.data.directory, PathBuf::from("/tmp/x"));
        assert_eq!(config.operator, Operator::default());
    }

    #[test]
    fn the_data_directory_may_stand_for_its_section() {
        let family = ("FORETELL_COMPATIBILITY", "polymarket");
        let (short, long) = ("data = \"/a\"\n", "[data]\ndirectory = \"/a\"\n");
        for file in [short, long] {
            let config = load(file, &[], Flags::new()).unwrap();
            assert_eq!(config.data.directory, PathBuf::from("/a"));
            assert_eq!(config.compatibility, Compatibility::Interface);
            let flags = vec![("data", toml::Value::from("/b"))];
            let config = load(file, &[("FORETELL_DATA", "/c"), family], flags).unwrap();
            assert_eq!(config.data.directory, PathBuf::from("/b"));
            assert_eq!(config.compatibility, Compatibility::Polymarket);
        }
    }

    /// Three signing domains; an engine accepts at most two.
    fn three_domains() -> String {
        let domain = |contract: &str| {
            let contract = contract.repeat(20);
            format!(
                "[[signing.domains]]\nname = \"F\"\nversion = \"1\"\nmarkets = \"all\"\n\
                 contract = \"0x{contract}\"\n"
            )
        };
        ["11", "22", "33"].map(domain).concat()
    }

    #[test]
    fn mistakes_are_named() {
        type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str);
        let three_domains = three_domains();
        let cases: &[Case<'_>] = &[
            ("[engine]\nrings = 1\n", &[], "rings"),
            (
                "",
                &[("FORETELL_ENGINE_RINGS", "1")],
                "FORETELL_ENGINE_RINGS",
            ),
            ("[engine]\nring = 100\n", &[], "power of two"),
            (
                "[engine]\nsegment_mib = 0\n",
                &[],
                "engine.segment_mib is 0, allowed are 1 to 1024",
            ),
            ("[operator]\nlisten = \"0.0.0.0:80\"\n", &[], "loopback"),
            ("[signing]\nchain = 137\n", &[], "interchangeable"),
            (
                "[[signing.domains]]\nname = \"F\"\nversion = \"1\"\nmarkets = \"all\"\ncontract = \"0x12\"\n",
                &[],
                "contract \"0x12\" is not 0x and 40 hex digits",
            ),
            (
                &three_domains,
                &[],
                "3 signing domains for plain markets, expected 1 or 2",
            ),
            (
                "[gateway]\nconnections = 63\n",
                &[],
                "gateway.connections is 63, allowed are 64 to 1000000",
            ),
            (
                "[gateway]\nconnections_per_address = 10001\n",
                &[],
                "allowed are 1 to 10000",
            ),
            (
                "[gateway]\ntimestamp_past_seconds = 81\n",
                &[],
                "allowed are 90 together",
            ),
            ("[engine]\ndurability = \"maybe\"\n", &[], "maybe"),
            ("compatibility = \"hex\"\n", &[], "polymarket"),
            ("data = 7\n", &[], "7"),
            ("[limits]\nbooks = -1\n", &[], "-1"),
            ("[limits]\nspread = 7\n", &[], "spread"),
            ("", &[("FORETELL_LIMITS_BOOKS", "many")], "many"),
            ("[gateway]\ncors_origins = [\"*\"]\n", &[], "\"*\""),
            (
                "[gateway]\ntrusted_proxies = [\"10.0.0.0/33\"]\n",
                &[],
                "trusted_proxies",
            ),
            ("[site]\nname = \"\"\n", &[], "site.name is \"\""),
            (
                "[site]\ncurrency_code = \"U5D\"\n",
                &[],
                "site.currency_code is \"U5D\", allowed are letters",
            ),
            (
                "[site]\ncurrency_decimals = 7\n",
                &[],
                "site.currency_decimals is 7, allowed are 0 to 6",
            ),
            ("[trading\n", &[], "foretell.toml"),
        ];
        for (file, environment, text) in cases {
            let failure = load(file, environment, Vec::new()).unwrap_err().to_string();
            assert!(failure.contains(text), "{failure:?} should name {text:?}");
        }
    }

    #[test]
    fn printed_settings_load_unchanged() {
        let printed = toml::to_string(&Config::default()).unwrap();
        assert_eq!(load(&printed, &[], Vec::new()).unwrap(), Config::default());
    }
}
