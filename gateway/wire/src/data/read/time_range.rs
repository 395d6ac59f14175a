//! `start` and `end` of a filter.

use foretell_model::TimeSeconds;

use crate::errors::api_error::ApiError;
use crate::parameters;
use crate::read::query::family::Family;
use crate::values::UnixSeconds;

parameters! {
    /// A range of unix seconds, both inclusive.
    #[derive(Copy, Default)]
    pub struct TimeRange: Data check check_order {
        /// Earliest time, unix seconds.
        pub start: Option<u64> = optional(UnixSeconds),
        /// Latest time, unix seconds.
        pub end: Option<u64> = optional(UnixSeconds),
    }
}

impl TimeRange {
    /// Whether a time is within the range.
    #[must_use]
    pub fn contains(&self, time: TimeSeconds) -> bool {
        self.start.is_none_or(|start| start <= time.0) && self.end.is_none_or(|end| time.0 <= end)
    }

    fn check_order(&self) -> Result<(), ApiError> {
        match (self.start, self.end) {
            (Some(start), Some(end)) if end < start => {
                let allowed = format!("a time from start ({start}) on");
                Err(Family::Data.wrong("end", &end.to_string(), &allowed))
            }
            _ => Ok(()),
        }
    }
}
