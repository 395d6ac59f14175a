//! Logs go to standard error; standard output is for answers.
//!
//! Each line names its process: all processes of `foretell up` share one standard error. Where that is the
//! system's journal, a line begins with its priority (sd-daemon(3)).

use std::fmt;
use std::io::IsTerminal as _;

use tracing::{Event, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::FmtContext;
use tracing_subscriber::fmt::format::{Format, FormatEvent, FormatFields, Writer};
use tracing_subscriber::registry::LookupSpan;

use crate::config::{Log, LogFormat};
use crate::failure::Failure;
use crate::priority::priority;

/// Environment variable with a filter that takes precedence over `log.level`.
pub(crate) const LOG_VARIABLE: &str = "FORETELL_LOG";

/// What is not logged unless a filter names it: libraries that warn of what any client can send, without
/// a bound.
const QUIET: &str = "h2=error,hyper=error";

/// The filter of a text such as `info` or `warn,foretell_gateway=debug`.
///
/// # Errors
/// A part is neither a level nor a target with its level: alone, a misspelled level would be taken for a
/// target and silence everything else.
pub(crate) fn filter(text: &str) -> Result<EnvFilter, String> {
    let is_level = |part: &str| !part.is_empty() && part.parse::<LevelFilter>().is_ok();
    let mut parts = text.split(',').map(str::trim);
    if let Some(part) = parts.find(|part| !part.contains('=') && !is_level(part)) {
        return Err(format!(
            "'{part}' is not a log level, allowed: off, error, warn, info, debug, trace, and target=level"
        ));
    }
    EnvFilter::try_new(format!("{QUIET},{text}")).map_err(|error| error.to_string())
}

/// Installs the logger of this process; `FORETELL_LOG` takes precedence over the setting.
///
/// # Errors
/// The filter does not parse.
pub(crate) fn install(log: &Log, process: impl Into<String>) -> Result<(), Failure> {
    let text = std::env::var(LOG_VARIABLE).unwrap_or_else(|_| log.level.clone());
    let filter = filter(&text)
        .map_err(|why| Failure::new(format!("log: {why}")).code(foretell_engine::EXIT_REFUSED))?;
    let builder = tracing_subscriber::fmt()
        .with_ansi(std::io::stderr().is_terminal())
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    let process = process.into();
    let installed = match log.format {
        LogFormat::Text => {
            let format = Format::default().with_target(false);
            let is_json = false;
            builder
                .event_format(Line {
                    format,
                    process,
                    is_json,
                })
                .try_init()
        }
        LogFormat::Json => {
            let format = Format::default().json().flatten_event(true);
            let is_json = true;
            let builder = builder.json();
            builder
                .event_format(Line {
                    format,
                    process,
                    is_json,
                })
                .try_init()
        }
    };
    installed.map_err(|error| Failure::new(format!("cannot install the log: {error}")))
}

/// A line of the log: priority, name of the process, event.
struct Line<F> {
    format: F,
    process: String,
    is_json: bool,
}

impl<S, N, F> FormatEvent<S, N> for Line<F>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    F: FormatEvent<S, N>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let (priority, process) = (priority(*event.metadata().level()), &self.process);
        if !self.is_json {
            write!(writer, "{priority}{process} ")?;
            return self.format.format_event(context, writer, event);
        }
        let mut object = String::new();
        self.format
            .format_event(context, Writer::new(&mut object), event)?;
        let fields = object.strip_prefix('{').unwrap_or_default();
        write!(writer, "{priority}{{\"process\":\"{process}\",{fields}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_of_levels_and_of_targets_with_a_level() {
        for text in [
            "info",
            "warn,foretell_gateway=debug",
            "OFF",
            "hyper=trace, error",
        ] {
            assert!(filter(text).is_ok(), "{text}");
        }
        for text in [
            "inof",
            "",
            "warn,",
            "warn,foretell_gateway",
            "foretell_gateway=debgu",
        ] {
            assert!(filter(text).is_err(), "{text}");
        }
    }

    /// Frames that a client may send as often as it likes.
    #[test]
    fn libraries_do_not_warn_of_clients_unless_they_are_asked_to() {
        for (text, expected) in [("info", "h2=error"), ("trace,h2=debug", "h2=debug")] {
            let filter = filter(text).unwrap().to_string();
            let h2 = filter.split(',').filter(|part| part.starts_with("h2="));
            assert_eq!(h2.collect::<Vec<_>>(), [expected], "{filter}");
        }
    }
}
