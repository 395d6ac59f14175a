//! Bars for long work, seen on a terminal only.

use indicatif::{ProgressBar, ProgressStyle};

use crate::output::{self, Output};

/// From so many things on a terminal sees a bar.
const LONG: usize = 20;

/// A bar for `length` things of this name; hidden when they are few, or the output is for programs.
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
