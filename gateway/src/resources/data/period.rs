//! The first day of a period that ends now.

use foretell_view::{BUILDER_DAYS, Day};
use foretell_wire::data::TimePeriod;

use crate::app::App;

/// The first UTC day of a period; `None` = ever.
pub(crate) fn first_day(app: &App, period: TimePeriod) -> Option<Day> {
    period.days().map(|days| today(app).first_of_last(days))
}

/// The first UTC day of a list by day, of which the kept days are all.
pub(crate) fn first_listed_day(app: &App, period: TimePeriod) -> Day {
    today(app).first_of_last(period.days().unwrap_or(BUILDER_DAYS))
}

/// The first of some days that end today.
pub(crate) fn first_of_last(app: &App, days: u32) -> Day {
    today(app).first_of_last(days)
}

/// By engine time, as the days of the rows are.
fn today(app: &App) -> Day {
    Day::of(app.exchange_time())
}
