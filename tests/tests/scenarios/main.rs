//! Tables of what a trader sees, one file a group of rules, run against the core and its twin.
//!
//! The expected values are worked by hand from the rules. `given` lines open every scenario of
//! their file. A line is a statement (`alice BUY YES 100 @ 0.62 GTC`); what follows `=>` is how its
//! answer begins, and without it the statement must be carried out. Lines `- …` below a statement
//! list all its events. A line that starts with `see` looks at the state. A scenario holds under
//! every rules number, unless its first line says under which, as `under rules 1`. Sizes are in shares,
//! amounts in collateral, books in prices of Yes. `ordering` and `statements` know the statements,
//! `text` the words of answers and events, `sight` those of `see`.

mod exchange;
mod names;
mod ordering;
mod runner;
mod script;
mod sight;
mod statements;
mod text;
mod words;

use exchange::Exchange;
use runner::Runner;

macro_rules! groups {
    ($($group:ident),+ $(,)?) => {
        $(
            #[test]
            fn $group() {
                run(stringify!($group), include_str!(concat!(stringify!($group), ".scn")));
            }
        )+

        /// Every group that is run.
        const GROUPS: &[&str] = &[$(stringify!($group)),+];
    };
}

groups!(
    accounts,
    budget_buys,
    duplicates,
    expiry,
    fees,
    lifecycle,
    matching,
    minimum_sizes,
    modes,
    neg_risk,
    order_types,
    self_trade,
    ticks,
);

#[test]
fn every_file_of_scenarios_is_run() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/scenarios");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .expect("the folder of this test")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "scn"))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    files.sort();
    assert_eq!(files, GROUPS);
}

/// Runs every scenario of a file against both, and reports every line that is not as written.
fn run(group: &str, file: &str) {
    let scenarios = script::scenarios(file);
    assert!(!scenarios.is_empty(), "{group}.scn holds no scenario");
    let mut wrong = Vec::new();
    for scenario in &scenarios {
        for rules in scenario.rules.clone() {
            for exchange in [Exchange::core(), Exchange::twin()] {
                let side = exchange.name();
                if let Err(why) = Runner::new(exchange, rules).play(scenario) {
                    wrong.push(format!(
                        "{group}.scn, \"{}\", rules {rules}, {side}, {why}",
                        scenario.title
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}
