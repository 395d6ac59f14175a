//! The table of metrics, from an example of the metrics page.

use std::path::Path;

use super::{check_region, code_list, table};

const PREFIX: &str = "foretell_gateway_";
/// Before the names of processes.
const PROCESSES: &str = "process_";

/// A metric family: `# HELP` and `# TYPE` lines, then its samples.
struct Family<'a> {
    name: &'a str,
    help: &'a str,
    kind: &'a str,
    labels: Vec<&'a str>,
}

fn families(page: &str) -> Vec<Family<'_>> {
    let mut families: Vec<Family<'_>> = Vec::new();
    for line in page.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').expect("a help text");
            families.push(Family {
                name,
                help: help.trim_end_matches('.'),
                kind: "",
                labels: Vec::new(),
            });
            continue;
        }
        let Some(family) = families.last_mut() else {
            continue;
        };
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            family.kind = rest.split(' ').nth(1).expect("a type");
        } else if family.labels.is_empty()
            && let Some((_, rest)) = line.split_once('{')
        {
            let (labels, _) = rest.split_once('}').expect("the end of the labels");
            let names = labels
                .split(',')
                .filter_map(|label| label.split('=').next());
            family.labels = names.filter(|name| *name != "le").collect();
        }
    }
    families
}

#[test]
fn metrics_are_current() {
    let page = foretell_gateway::metrics_example();
    let families = families(&page);
    assert!(families.len() > 20, "{} metrics", families.len());
    let rows = families.iter().map(|family| {
        let name = family.name.trim_start_matches(PREFIX);
        [
            format!("`{name}`"),
            family.kind.to_owned(),
            code_list(family.labels.iter().copied()),
            family.help.to_owned(),
        ]
    });
    let text = table(["metric", "type", "labels", "meaning"], rows);
    check_region("monitoring.md", "metrics", &text);
}

#[test]
fn alerts_and_dashboard_use_existing_metrics() {
    let page = foretell_gateway::metrics_example();
    let families = families(&page);
    let packaging = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/packaging"));
    for file in ["alerts.yml", "alerts-cluster.yml", "grafana-dashboard.json"] {
        let text = std::fs::read_to_string(packaging.join(file)).expect("a readable file");
        let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        let names: Vec<&str> = words
            .filter(|word| {
                [PREFIX, PROCESSES].iter().any(|prefix| {
                    word.strip_prefix(prefix)
                        .is_some_and(|name| !name.is_empty())
                })
            })
            .map(|name| name.trim_end_matches("_bucket"))
            .collect();
        assert!(names.len() > 6, "{file}: {names:?}");
        for name in names {
            let known = families.iter().any(|family| family.name == name);
            assert!(known, "{file}: no metric {name}");
        }
    }
}

#[test]
fn every_alert_has_its_row_in_the_documentation() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| std::fs::read_to_string(root.join(path)).expect("a readable file");
    for (rules, page) in [
        ("packaging/alerts.yml", "../docs/operate/monitoring.md"),
        ("packaging/alerts-cluster.yml", "../docs/operate/cluster.md"),
    ] {
        let (rules, page) = (read(rules), read(page));
        let alerts = rules
            .lines()
            .filter_map(|it| it.trim().strip_prefix("- alert: "));
        let mut count = 0;
        for alert in alerts {
            let row = format!("| `{alert}` |");
            assert!(page.contains(&row), "no row {row}");
            count += 1;
        }
        assert_eq!(count, page.matches("| `Foretell").count());
    }
}

#[test]
fn the_runbook_of_every_alert_exists() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    for rules in ["alerts.yml", "alerts-cluster.yml"] {
        let rules = std::fs::read_to_string(root.join("ops/packaging").join(rules));
        let rules = rules.expect("a readable file");
        let places: Vec<_> = rules
            .lines()
            .filter_map(|line| line.trim().strip_prefix("runbook_url: "))
            .collect();
        assert_eq!(places.len(), rules.matches("- alert: ").count());
        for place in places {
            let (page, section) = place.split_once('#').expect("a section");
            let page = std::fs::read_to_string(root.join(page)).expect(place);
            let titles = page.lines().filter(|line| line.starts_with('#'));
            let mut anchors = titles.map(|title| {
                let title = title.trim_start_matches('#').trim().to_lowercase();
                title.replace(' ', "-")
            });
            assert!(anchors.any(|anchor| anchor == section), "no {place}");
        }
    }
}
