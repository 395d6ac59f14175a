//! Sources of settings, their precedence, and mistakes in them.

use std::path::PathBuf;

use foretell_gateway::Compatibility;

use super::*;
use crate::config::Operator;
use crate::doctor;

fn load(file: &str, environment: &[(&str, &str)], flags: Flags) -> Result<Config, Failure> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("foretell.toml");
    std::fs::write(&path, file).unwrap();
    let environment = environment
        .iter()
        .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()));
    let loaded = Config::load(Some(&path), environment, flags)?;
    doctor::check_settings(&loaded)?;
    Ok(loaded.config)
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
    let file = "[trading]\nlisten = \"127.0.0.1:1111\"\n[engine]\nring = 128\nsegment_mib = 2\n";
    let environment = [
        ("FORETELL_ENGINE_RING", "256"),
        ("FORETELL_DATA", "/nonexistent/x"),
    ];
    let flags = vec![("trading.listen", toml::Value::from("127.0.0.1:2222"))];
    let config = load(file, &environment, flags).unwrap();
    assert_eq!(config.trading.listen.port(), 2222);
    assert_eq!(config.engine.ring, 256);
    assert_eq!(config.engine.segment_mib, 2);
    assert_eq!(config.data.directory, PathBuf::from("/nonexistent/x"));
    assert_eq!(config.operator, Operator::default());
}

#[test]
fn a_network_may_be_one_address() {
    let file = "[gateway]\ntrusted_proxies = [\"127.0.0.1\", \"::1\", \"10.0.0.0/8\"]\n";
    let config = load(file, &[], Flags::new()).unwrap();
    let networks = config.gateway.trusted_proxies.iter();
    let networks: Vec<_> = networks.map(ToString::to_string).collect();
    assert_eq!(networks, ["127.0.0.1/32", "::1/128", "10.0.0.0/8"]);
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
            "\"engine.ring\" = 128\n",
            &[],
            "foretell.toml:1: engine.ring is 128: unknown field",
        ),
        (
            "",
            &[("FORETELL_ENGINE_RINGS", "1")],
            "FORETELL_ENGINE_RINGS",
        ),
        ("[engine]\nring = 100\n", &[], "power of two"),
        (
            "[engine]\nsegment_mib = 0\n",
            &[],
            "foretell.toml:2: engine.segment_mib is 0, allowed: 1 to 1024",
        ),
        ("[operator]\nlisten = \"0.0.0.0:80\"\n", &[], "loopback"),
        ("[signing]\nchain = 137\n", &[], "interchangeable"),
        (
            "[[signing.domains]]\nname = \"F\"\nversion = \"1\"\nmarkets = \"all\"\ncontract = \"0x12\"\n",
            &[],
            "signing.domains[0].contract is \"0x12\", allowed: 0x and 40 hex digits",
        ),
        (
            &three_domains,
            &[],
            "3 signing domains for plain markets, expected 1 or 2",
        ),
        (
            "[gateway]\nconnections = 63\n",
            &[],
            "gateway.connections is 63, allowed: 64 to 1000000",
        ),
        (
            "[gateway]\nconnections_per_address = 10001\n",
            &[],
            "allowed: 1 to 10000",
        ),
        (
            "[gateway]\ntimestamp_past_seconds = 81\n",
            &[],
            "allowed: 90 together",
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
            "gateway.trusted_proxies[0] is \"10.0.0.0/33\": \"10.0.0.0/33\" is no network; allowed: a network such as \
             10.0.0.0/8 or an address such as 127.0.0.1",
        ),
        (
            "[gateway]\ndata_allowlist = [\"::1\", \"localhost\"]\n",
            &[],
            "gateway.data_allowlist[1] is \"localhost\"",
        ),
        (
            "[trading]\nlisten = \"8080\"\n",
            &[],
            "trading.listen is \"8080\": \"8080\" is no address to listen on; allowed: an IP address and a port",
        ),
        ("[site]\nname = \"\"\n", &[], "site.name is \"\""),
        (
            "[site]\ncurrency_code = \"U5D\"\n",
            &[],
            "site.currency_code is \"U5D\", allowed: letters",
        ),
        (
            "[site]\ncurrency_decimals = 7\n",
            &[],
            "site.currency_decimals is 7, allowed: 0 to 6",
        ),
        (
            "[cluster]\nrole = \"reader\"\n",
            &[],
            "cluster.host is \"\"",
        ),
        ("[trading\n", &[], "foretell.toml:1: "),
    ];
    for (file, environment, text) in cases {
        let failure = load(file, environment, Vec::new()).unwrap_err().to_string();
        assert!(failure.contains(text), "{failure:?} should name {text:?}");
    }
}

/// Each line of the failure ends what a text says, in order; the hint is last.
#[test]
fn every_mistake_is_named_at_once_with_its_line() {
    let file = r#"
[trading]
listen = "127.0.0.1:9000"
[engine]
ring = 100
durability = "maybe"
rings = 1
[gateway]
data_listen = "0.0.0.0:9000"
connections = "many"
[log]
level = "inof"
[site]
logo = "/nonexistent/logo.png"
[operator]
oracle_secret_file = "/nonexistent/oracle"
[cluster]
role = "standby"
host = "a"
servers = ["nats://127.0.0.1"]
tls_ca_file = "/nonexistent/ca.pem"
[catalog]
upstream = "ftp://example.org"
[catalog.sites]
"a.b" = ["0x1111111111111111111111111111111111111111"]
one = ["0x12"]
two = ["0x34"]
[[signing.domains]]
name = "F"
version = "1"
markets = "some"
contract = "0x12"
"#;
    let environment = [
        ("FORETELL_LOG", "warn,debgu"),
        ("FORETELL_ENGINE_RINGS", "1"),
        ("FORETELL_LIMITS_BOOKS", "-1"),
    ];
    let text = load(file, &environment, Flags::new())
        .unwrap_err()
        .to_string();
    let lines: Vec<_> = text.lines().collect();
    let expected = [
        ("FORETELL_ENGINE_RINGS is no setting", ""),
        (
            "FORETELL_LOG is 'warn,debgu': 'debgu' is not a log level",
            "",
        ),
        (
            "FORETELL_LIMITS_BOOKS: limits.books is -1: ",
            "expected u32",
        ),
        (
            "foretell.toml:5: engine.ring is 100, allowed: a power of two",
            "",
        ),
        (
            "foretell.toml:6: engine.durability is \"maybe\": ",
            "expected one of `disk`",
        ),
        ("foretell.toml:7: engine.rings is 1: ", "unknown field"),
        (
            "foretell.toml:9: gateway.data_listen is \"0.0.0.0:9000\"",
            "that trading.listen does not have",
        ),
        (
            "foretell.toml:10: gateway.connections is \"many\": ",
            "expected u32",
        ),
        (
            "foretell.toml:12: log.level is \"inof\": 'inof' is not a log level",
            "target=level",
        ),
        (
            "foretell.toml:14: site.logo is \"/nonexistent/logo.png\": ",
            "No such file",
        ),
        (
            "foretell.toml:16: operator.oracle_secret_file is ",
            "No such file",
        ),
        ("foretell.toml:21: cluster.tls_ca_file is ", "No such file"),
        ("cluster.key: No such file", ""),
        (
            "foretell.toml:23: catalog.upstream is \"ftp://example.org\"",
            "http or https",
        ),
        (
            "foretell.toml:26: catalog.sites.one is \"0x12\", allowed: 0x and 40 hex",
            "",
        ),
        (
            "foretell.toml:27: catalog.sites.two is \"0x34\", allowed: 0x and 40 hex",
            "",
        ),
        (
            "foretell.toml:28: signing.domains[0] is ",
            "expected one of `plain`",
        ),
    ];
    for (begin, part) in expected {
        let is_named = |line: &&str| line.contains(begin) && line.contains(part);
        assert!(lines.iter().any(is_named), "no {begin}: {text}");
    }
    assert_eq!(lines.len(), expected.len() + 2, "and two hints: {text}");
}

#[test]
fn files_and_addresses_are_checked_for_a_start_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("foretell.toml");
    let file = "[trading]\nlisten = \"127.0.0.1:8090\"\n[site]\nlogo = \"/none.png\"\n";
    std::fs::write(&path, file).unwrap();
    let loaded = Config::load(Some(&path), std::iter::empty(), Flags::new()).unwrap();
    assert!(doctor::check_settings(&loaded).is_err());
    assert!(loaded.check().is_ok());
}

#[test]
fn a_secret_that_is_none_is_refused_before_the_start() {
    use std::os::unix::fs::PermissionsExt as _;
    let data = tempfile::tempdir().unwrap();
    let mode = |mode| std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(data.path(), mode(0o700)).unwrap();
    let file = format!("data = {:?}\n", data.path());
    assert!(
        load(&file, &[], Flags::new()).is_ok(),
        "secrets are made at the start"
    );
    let secret = data.path().join("master.secret");
    std::fs::write(&secret, "abcd").unwrap();
    std::fs::set_permissions(&secret, mode(0o600)).unwrap();
    let text = load(&file, &[], Flags::new()).unwrap_err().to_string();
    assert!(
        text.contains("foretell.toml:1: ") && text.contains("master.secret"),
        "{text}"
    );
    assert!(!text.contains("abcd"), "{text}");
    std::fs::remove_file(&secret).unwrap();

    for (role, key) in [("standby", "cluster.key"), ("reader", "cluster.pub")] {
        let servers = "servers = [\"nats://127.0.0.1\"]";
        let file = format!("{file}[cluster]\nrole = \"{role}\"\nhost = \"a\"\n{servers}\n");
        let text = load(&file, &[], Flags::new()).unwrap_err().to_string();
        assert!(
            text.contains(key) && text.contains("cluster init"),
            "{text}"
        );
        let key = data.path().join(key);
        // Also the base point, which is a public key.
        std::fs::write(&key, format!("58{}", "66".repeat(31))).unwrap();
        std::fs::set_permissions(&key, mode(0o600)).unwrap();
        let checked = load(&file, &[], Flags::new()).map(drop);
        assert!(checked.is_ok(), "{checked:?}");
    }
    let files = std::fs::read_dir(data.path()).unwrap().count();
    assert_eq!(files, 2, "a check makes none");
}

#[test]
fn printed_settings_load_unchanged() {
    let printed = toml::to_string(&Config::default()).unwrap();
    assert_eq!(load(&printed, &[], Vec::new()).unwrap(), Config::default());
}
