//! Progress bars for long work, on a terminal only.

use indicatif::{ProgressBar, ProgressStyle};

use crate::output::{self, Output};

/// Minimum number of items for a bar.
const LONG: usize = 20;

/// A bar for `length` items named `things`; hidden if they are few or the output is JSON.
pub(crate) fn bar(length: usize, things: &str, output: Output) -> ProgressBar {
    if output.json || length < LONG {
        return ProgressBar::hidden();
    }
    // indicatif draws on standard error and only on a terminal.
    let style =
        ProgressStyle::with_template(&format!("{{bar:40}} {{pos}}/{{len}} {things} {{eta}}"));
    let bar = ProgressBar::new(output::count(length));
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
