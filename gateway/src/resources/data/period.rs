//! The first day of a period that ends now.

use foretell_view::{BUILDER_DAYS, Day};
use foretell_wire::data::TimePeriod;

use crate::access::credentials::now;

/// The first UTC day of a period; `None` = ever.
pub(crate) fn first_day(period: TimePeriod) -> Option<Day> {
    period.days().map(|days| today().first_of_last(days))
}

/// The first UTC day of a list by day, of which the kept days are all.
pub(crate) fn first_listed_day(period: TimePeriod) -> Day {
    today().first_of_last(period.days().unwrap_or(BUILDER_DAYS))
}

/// The first of some days that end today.
pub(crate) fn first_of_last(days: u32) -> Day {
    today().first_of_last(days)
}

fn today() -> Day {
    let millis = now().0;
    Day::of(foretell_model::TimeNs(millis.saturating_mul(1_000_000)))
}
