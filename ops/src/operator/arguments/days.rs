//! `--from` and `--to`: a period of whole days.

use clap::Args;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::failure::Failure;

/// A period; all time without dates.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct Days {
    /// First day, UTC, such as 2026-11-01
    #[arg(long, value_name = "DATE")]
    from: Option<Date>,
    /// Day after the last one, UTC
    #[arg(long, value_name = "DATE")]
    to: Option<Date>,
}

impl Days {
    /// The seconds of the period.
    ///
    /// # Errors
    /// A date is out of range.
    pub(crate) fn period(self) -> Result<Period, Failure> {
        let start_of = |date: Date| -> Result<i64, Failure> {
            let start = date.to_zoned(TimeZone::UTC);
            let start = start.map_err(|error| Failure::new(error.to_string()))?;
            Ok(start.timestamp().as_second())
        };
        if let (Some(from), Some(to)) = (self.from, self.to)
            && from >= to
        {
            let text = format!("--to is {to}, allowed: a day after --from, {from}");
            return Err(Failure::new(text));
        }
        Ok(Period {
            from: self.from.map_or(Ok(i64::MIN), start_of)?,
            to: self.to.map_or(Ok(i64::MAX), start_of)?,
        })
    }
}

/// Unix seconds, the end not included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Period {
    pub(crate) from: i64,
    pub(crate) to: i64,
}

impl Period {
    /// Whether a time is in it.
    pub(crate) fn has(self, seconds: i64) -> bool {
        (self.from..self.to).contains(&seconds)
    }
}
