//! Reports: printed, saved, compared (`compare`) and drawn (`report`).

use std::fs;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use foretell_bench::report::page::{Source, draw};
use foretell_bench::report::{read_log, write_log};
use foretell_bench::{Comparison, Report};
use foretell_ops::failure::Failure;
use foretell_ops::output::{Output, line};

/// Exit code of `compare`: something got worse.
const WORSE: u8 = 5;

/// Commit this program was built from; `+` if the sources differ from it.
const COMMIT: &str = env!("FORETELL_COMMIT");

/// Prints a report and writes the requested files.
///
/// # Errors
/// A file cannot be written.
pub(super) fn show(
    mut report: Report,
    save: Option<&Path>,
    hlog: Option<&Path>,
    output: Output,
) -> Result<(), Failure> {
    report.set_commit(COMMIT);
    output.print(&report);
    if let Some(path) = save {
        let text = serde_json::to_string_pretty(&report).expect("a report has a JSON text");
        fs::write(path, text + "\n").map_err(|error| cannot_write(path, &error))?;
    }
    if let Some(path) = hlog {
        let written =
            fs::File::create(path).and_then(|file| write_log(&report, &mut BufWriter::new(file)));
        written.map_err(|error| cannot_write(path, &error))?;
    }
    Ok(())
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!("{} cannot be written: {error}", path.display()))
        .hint("name a file in a directory that exists and is yours")
}

/// Compares a saved report with an earlier one; the exit code is [`WORSE`] if anything got worse.
///
/// # Errors
/// A file is not a report.
pub(super) fn compare(before: &Path, after: &Path, output: Output) -> Result<ExitCode, Failure> {
    let comparison = Comparison::of(&read(before)?, &read(after)?);
    output.print(&comparison);
    Ok(ExitCode::from(if comparison.is_no_worse() {
        0
    } else {
        WORSE
    }))
}

/// Draws saved reports and histogram logs as one page, into `out` or to standard output.
///
/// # Errors
/// A file is neither, or the page cannot be written.
pub(super) fn page(files: &[PathBuf], out: Option<&Path>) -> Result<ExitCode, Failure> {
    let sources = files
        .iter()
        .map(|file| Ok((file.display().to_string(), source(file)?)));
    let page = draw(&sources.collect::<Result<Vec<_>, Failure>>()?);
    match out {
        Some(out) => fs::write(out, page).map_err(|error| cannot_write(out, &error))?,
        None => line(&page),
    }
    Ok(ExitCode::SUCCESS)
}

fn source(file: &Path) -> Result<Source, Failure> {
    if file
        .extension()
        .is_some_and(|extension| extension == "hlog")
    {
        let log = read_log(&bytes(file)?);
        return log
            .map(Source::Log)
            .map_err(|what| Failure::new(format!("{}: {what}", file.display())));
    }
    read(file).map(|report| Source::Report(Box::new(report)))
}

fn read(file: &Path) -> Result<Report, Failure> {
    serde_json::from_slice(&bytes(file)?).map_err(|error| {
        Failure::new(format!("{} is no report: {error}", file.display()))
            .hint("make one with `foretell-bench … --save FILE`")
    })
}

fn bytes(file: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(file).map_err(|error| {
        Failure::new(format!("{} cannot be read: {error}", file.display()))
            .hint("name a file that `foretell-bench … --save FILE` or `--hlog FILE` has written")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell_bench::report::{Goal, Interval, Measure};

    fn report(rounds: [f64; 2]) -> Report {
        let mut report = Report::begin("entry", "disk");
        report
            .measures
            .push(Measure::of("answer", "us", rounds.to_vec()));
        report
            .goals
            .push(Goal::at_most("answer", 2.0, Some(rounds[0])));
        let stopped = hdr();
        report.record("answer", Interval::new(0.0, 1.0, &stopped));
        report.end()
    }

    fn hdr() -> hdrhistogram::Histogram<u64> {
        let mut times = hdrhistogram::Histogram::new(3).unwrap();
        times.record(1_000).unwrap();
        times
    }

    #[test]
    fn kept_reports_are_compared_and_drawn() {
        let directory = tempfile::tempdir().unwrap();
        let file = |name: &str| directory.path().join(name);
        let keep = |name: &str, report: &Report| {
            fs::write(file(name), serde_json::to_vec(report).unwrap()).unwrap();
        };
        keep("a.json", &report([1.0, 1.1]));
        keep("b.json", &report([3.0, 3.1]));
        let compared = |before: &str, after: &str| {
            let code = compare(&file(before), &file(after), Output { json: true });
            format!("{:?}", code.unwrap())
        };
        assert_eq!(
            compared("a.json", "b.json"),
            format!("{:?}", ExitCode::from(WORSE))
        );
        assert_eq!(
            compared("b.json", "a.json"),
            format!("{:?}", ExitCode::SUCCESS)
        );

        let mut log = Vec::new();
        write_log(&report([1.0, 1.0]), &mut log).unwrap();
        fs::write(file("a.hlog"), log).unwrap();
        let out = file("page.html");
        page(&[file("a.json"), file("a.hlog")], Some(&out)).unwrap();
        let page = fs::read_to_string(out).unwrap();
        assert!(page.contains("a.hlog</h1>") && page.contains("&lt;= 2  met"));
    }

    #[test]
    fn a_file_that_is_no_report_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("x.json");
        let refused = read(&file).unwrap_err().to_string();
        assert!(refused.contains("x.json cannot be read"), "{refused}");
        fs::write(&file, "{}").unwrap();
        let refused = read(&file).unwrap_err().to_string();
        assert!(refused.contains("x.json is no report"), "{refused}");
    }
}
