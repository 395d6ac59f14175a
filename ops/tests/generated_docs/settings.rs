//! The reference of the settings: names and descriptions from the sources of the structures,
//! defaults, ranges and variables from the code that checks them.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use foretell_gateway::RateLimits;
use toml::Value;

use super::{check_region, code_list, table};
use crate::config::check::{MAX_TIMESTAMP_WINDOW_SECONDS, MIN_RING, RANGES, TICKS};
use crate::config::{self, Config};

const STRUCTURES: &str = include_str!("../../src/config/settings.rs");

/// A public field of a structure.
struct Field {
    structure: String,
    name: String,
    kind: String,
    description: String,
}

fn fields() -> Vec<Field> {
    let (mut fields, mut structure, mut description) = (Vec::new(), "", Vec::new());
    for line in STRUCTURES.lines() {
        let line = line.trim();
        if let Some(text) = line.strip_prefix("/// ") {
            description.push(text);
            continue;
        }
        if line.starts_with("#[") {
            continue;
        }
        if let Some(rest) = line.strip_prefix("pub struct ") {
            structure = rest.split([' ', '(']).next().unwrap_or_default();
        } else if let Some((name, kind)) = line
            .strip_prefix("pub ")
            .and_then(|rest| rest.split_once(": "))
        {
            fields.push(Field {
                structure: structure.to_owned(),
                name: name.to_owned(),
                kind: kind.trim_end_matches(',').to_owned(),
                description: description.join(" "),
            });
        }
        description.clear();
    }
    fields.extend(
        RateLimits::SETTINGS
            .iter()
            .map(|(name, description)| Field {
                structure: "RateLimits".to_owned(),
                name: (*name).to_owned(),
                kind: String::new(),
                description: (*description).to_owned(),
            }),
    );
    fields
}

/// The sections of the settings file, each with its settings: path and description.
fn sections() -> Vec<(String, Vec<(String, String)>)> {
    let (top, inner): (Vec<Field>, Vec<Field>) = fields()
        .into_iter()
        .partition(|field| field.structure == "Config");
    let section = |section: Field| {
        let settings = inner
            .iter()
            .filter(|field| field.structure == section.kind)
            .map(|field| {
                let path = format!("{}.{}", section.name, field.name);
                (path, field.description.clone())
            });
        let mut settings: Vec<_> = settings.collect();
        if settings.is_empty() {
            settings.push((section.name.clone(), section.description));
        }
        (section.name, settings)
    };
    top.into_iter().map(section).collect()
}

fn default_of(path: &str) -> Value {
    let tree = Value::try_from(Config::default()).expect("settings as TOML");
    let found = path.split('.').try_fold(&tree, |tree, key| tree.get(key));
    found
        .unwrap_or_else(|| panic!("no default of {path}"))
        .clone()
}

fn shown_default(value: &Value) -> String {
    match value {
        Value::String(text) if text.is_empty() => "empty".to_owned(),
        Value::Table(table) if table.is_empty() => "none".to_owned(),
        Value::Array(list) if list.is_empty() => "none".to_owned(),
        Value::Array(list) if list.iter().all(Value::is_table) => format!("{} entries", list.len()),
        other => format!("`{other}`"),
    }
}

/// The names that an enumeration takes, from the error of a wrong one.
fn variants(path: &str) -> Option<String> {
    let wrong = path
        .rsplit('.')
        .fold(Value::String("?".to_owned()), |value, key| {
            Value::Table([(key.to_owned(), value)].into_iter().collect())
        });
    let error = wrong.try_into::<Config>().err()?.to_string();
    let (_, rest) = error.split_once("unknown variant `?`, expected ")?;
    let names = rest.lines().next()?;
    Some(code_list(names.split('`').skip(1).step_by(2)))
}

fn thousands(number: u32) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .filter_map(|group| std::str::from_utf8(group).ok())
        .collect();
    groups.join(",")
}

fn shown_values(path: &str, default: &Value) -> String {
    if let Some((_, low, high)) = RANGES.iter().find(|(setting, ..)| *setting == path) {
        return match *high {
            u32::MAX => format!("{} or more", thousands(*low)),
            high => format!("{} to {}", thousands(*low), thousands(high)),
        };
    }
    match (path, default) {
        ("engine.ring", _) => format!("power of two, {MIN_RING} or more"),
        ("gateway.connections_per_address", _) => "1 to `gateway.connections`".to_owned(),
        ("gateway.timestamp_past_seconds" | "gateway.timestamp_future_seconds", _) => {
            format!("{MAX_TIMESTAMP_WINDOW_SECONDS} at most, both together")
        }
        ("catalog.finest_tick", _) => code_list(TICKS.split(", ")),
        ("cluster.health_listen", _) => "address:port".to_owned(),
        ("operator.listen", _) => "loopback address:port".to_owned(),
        (_, Value::Boolean(_)) => code_list(["true", "false"]),
        (_, Value::Integer(_)) if path.starts_with("limits.") => "0 or more, 0 = off".to_owned(),
        (_, Value::Integer(_)) => "0 or more".to_owned(),
        (_, Value::Array(_) | Value::Table(_)) => "list".to_owned(),
        (_, Value::String(text)) if text.parse::<SocketAddr>().is_ok() => "address:port".to_owned(),
        _ => variants(path).unwrap_or_else(|| "text".to_owned()),
    }
}

#[test]
fn settings_are_current() {
    let mut variables: BTreeMap<String, String> = config::variables().into_iter().collect();
    let mut text = String::new();
    for (section, settings) in sections() {
        let rows: Vec<[String; 5]> = settings
            .into_iter()
            .map(|(path, description)| {
                assert!(!description.is_empty(), "{path} has no description");
                let default = default_of(&path);
                let variable = variables.remove(&path);
                [
                    format!("`{path}`"),
                    shown_default(&default),
                    shown_values(&path, &default),
                    variable.map_or("–".to_owned(), |name| format!("`{name}`")),
                    description,
                ]
            })
            .collect();
        text += &format!("### {section}\n");
        text += &table(
            ["setting", "default", "values", "variable", "meaning"],
            rows,
        );
        text += "\n";
    }
    assert!(
        variables.is_empty(),
        "settings without a row: {variables:?}"
    );
    check_region("configuration.md", "settings", &text);
}
