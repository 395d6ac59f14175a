//! Tables of visible results for a trader, one file per group of rules, run against the core and
//! its twin.
//!
//! The expected values are computed by hand from the rules. `given` lines open every scenario of
//! their file. A line is a statement (`alice BUY YES 100 @ 0.62 GTC`). The text after `=>` is the
//! start of the expected response; without it the statement must succeed. Lines `- …` below a
//! statement list all its events. A line that starts with `see` checks the state. Sizes are in
//! shares, amounts in collateral, books in prices of Yes. `as ann` at the end of a statement names
//! its operator, `touched 3` what earlier commands of its group touched. `wait 5s` and `back 5s` move
//! the clock. `ordering`, `statements` and `market_life` parse the statements, `text` the responses and
//! events, `sight` the `see` lines.

mod exchange;
mod market_life;
mod names;
mod ordering;
mod quoting;
mod registering;
mod runner;
mod script;
mod sight;
mod statements;
mod text;
mod words;
mod worked_examples;

use exchange::Exchange;
use runner::Runner;
use script::Scenario;

macro_rules! groups {
    ($($group:ident),+ $(,)?) => {
        $(
            #[test]
            fn $group() {
                run(stringify!($group), include_str!(concat!(stringify!($group), ".scn")));
            }
        )+

        /// All groups.
        const GROUPS: &[&str] = &[$(stringify!($group)),+];
    };
}

groups!(
    accounts,
    budget_buys,
    clocks,
    delays,
    duplicates,
    expiry,
    fees,
    holds,
    lifecycle,
    matching,
    minimum_sizes,
    modes,
    neg_risk,
    order_types,
    people,
    rebates,
    resolutions,
    self_trade,
    ticks,
    withdrawals,
);

#[test]
fn every_file_of_scenarios_is_run() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/rules/scenarios");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .expect("the folder of this test")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "scn"))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    files.sort();
    assert_eq!(files, GROUPS);
}

/// The tables of the normative page hold, and each of its sections has one.
#[test]
fn worked_examples_of_the_rules_hold() {
    let page = include_str!("../../../../docs/verify/rules.md");
    let sections = worked_examples::sections(page);
    assert!(!sections.is_empty(), "rules.md has no section");
    let mut wrong = Vec::new();
    for (section, number) in sections.iter().zip(1..) {
        assert_eq!(section.number, number, "rules.md: sections count from 1");
        let examples = section.scenarios.len() + section.positions.len();
        assert!(examples > 0, "rules.md, section {number}: no example");
        wrong.extend(differences("rules.md", &section.scenarios));
        for trades in &section.positions {
            wrong.extend(worked_examples::play(trades).err());
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

/// Runs every scenario of a file against both, and reports every line that is not as written.
fn run(group: &str, file: &str) {
    let scenarios = script::scenarios(file);
    assert!(!scenarios.is_empty(), "{group}.scn holds no scenario");
    let wrong = differences(&format!("{group}.scn"), &scenarios);
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

/// Every line that is not as written, on either exchange.
fn differences(file: &str, scenarios: &[Scenario]) -> Vec<String> {
    let mut wrong = Vec::new();
    for scenario in scenarios {
        for exchange in [Exchange::core(), Exchange::twin()] {
            let side = exchange.name();
            if let Err(why) = Runner::new(exchange).play(scenario) {
                wrong.push(format!("{file}, \"{}\", {side}, {why}", scenario.title));
            }
        }
    }
    wrong
}
