//! `foretell bench all`: every measurement in sequence.

use std::path::PathBuf;

use foretell_bench::Report;
use foretell_bench::all::{PARTS, Part, RunEnvironment, measure};

use crate::failure::Failure;

/// Runs all parts, or those named.
///
/// # Errors
/// An unknown name, or no directory to work in. Failures within a part are in the report.
pub(super) fn run(
    only: &[String],
    reference: Option<&str>,
    scratch: &Option<PathBuf>,
) -> Result<Report, Failure> {
    let parts = chosen(only)?;
    let program = super::this_program()?;
    let directory = super::absolute(super::directory(scratch))?;
    let environment = RunEnvironment {
        directory: &directory,
        gateway: &|surface, data| super::gateway(&program, surface, data),
        import: &|data, file| super::import(&program, data, file),
        reference,
    };
    let count = parts.len();
    let mut number = 0;
    Ok(measure(&parts, &environment, &mut |name| {
        number += 1;
        eprintln!("{number}/{count} {name}");
    }))
}

fn chosen(only: &[String]) -> Result<Vec<&'static Part<'static>>, Failure> {
    if only.is_empty() {
        return Ok(PARTS.iter().collect());
    }
    let by_name = |name: &String| {
        let part = PARTS.iter().find(|part| part.name == name.trim());
        part.ok_or_else(|| {
            let names: Vec<_> = PARTS.iter().map(|part| part.name).collect();
            Failure::new(format!("--only {name}: no part has that name"))
                .hint(format!("the names are: {}", names.join("; ")))
        })
    };
    only.iter().map(by_name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_chosen_by_name() {
        let names = |only: &[&str]| -> Result<Vec<_>, String> {
            let only: Vec<_> = only.iter().map(|name| (*name).to_owned()).collect();
            let chosen = chosen(&only).map_err(|failure| failure.to_string())?;
            Ok(chosen.iter().map(|part| part.name).collect())
        };
        assert_eq!(names(&[]).unwrap().len(), PARTS.len());
        let two = names(&["journal", " match, 1 market"]).unwrap();
        assert_eq!(two, ["journal", "match, 1 market"]);
        assert!(
            names(&["nothing"])
                .unwrap_err()
                .contains("match, 1 market; ")
        );
    }
}
