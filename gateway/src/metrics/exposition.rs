//! The text of a scrape: the families of all pages in the text format of Prometheus, each once.
//!
//! Registries write OpenMetrics, in which a family's name lacks the ending of its samples, and a family of two
//! processes would stand there twice.

/// A family of metrics: its header, and the samples of every page.
struct Family<'a> {
    name: &'a str,
    help: &'a str,
    kind: &'a str,
    samples: Vec<&'a str>,
}

/// Merges pages of OpenMetrics.
pub(crate) fn merged(pages: &[String]) -> String {
    let mut families: Vec<Family<'_>> = Vec::new();
    for page in pages {
        let mut current = 0;
        for line in page.lines() {
            if let Some((name, help)) = header(line, "# HELP ") {
                let known = families.iter().position(|family| family.name == name);
                current = known.unwrap_or(families.len());
                if known.is_none() {
                    families.push(Family {
                        name,
                        help: help.trim_end_matches('.'),
                        kind: "untyped",
                        samples: Vec::new(),
                    });
                }
            } else if let Some((_, kind)) = header(line, "# TYPE ") {
                families[current].kind = kind;
            } else if !line.starts_with('#')
                && let Some(family) = families.get_mut(current)
            {
                family.samples.push(line);
            }
        }
    }
    families.iter().map(text).collect()
}

fn header<'a>(line: &'a str, start: &str) -> Option<(&'a str, &'a str)> {
    line.strip_prefix(start)?.split_once(' ')
}

fn text(family: &Family<'_>) -> String {
    let Family { name, help, .. } = family;
    let (ending, kind) = match family.kind {
        "counter" => ("_total", "counter"),
        "info" => ("_info", "gauge"),
        kind => ("", kind),
    };
    let mut text = format!("# HELP {name}{ending} {help}\n# TYPE {name}{ending} {kind}\n");
    for sample in &family.samples {
        text.push_str(sample);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_of_two_pages_stands_once_with_the_names_of_its_samples() {
        let page = |gateway: u32| {
            format!(
                "# HELP a_requests Requests.\n# TYPE a_requests counter\na_requests_total{{gateway=\"{gateway}\"}} 1\n# EOF\n"
            )
        };
        let alone = "# HELP a_build What runs.\n# TYPE a_build info\na_build_info{version=\"1\"} 1\n# EOF\n";
        let text = merged(&[page(1), page(2), alone.to_owned()]);
        let expected = "# HELP a_requests_total Requests\n# TYPE a_requests_total counter\n\
            a_requests_total{gateway=\"1\"} 1\na_requests_total{gateway=\"2\"} 1\n\
            # HELP a_build_info What runs\n# TYPE a_build_info gauge\na_build_info{version=\"1\"} 1\n";
        assert_eq!(text, expected);
    }
}
