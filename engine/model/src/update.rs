//! Changes of terms, policies and settings: a command carries the fields that its sender
//! named, and the core applies those alone. So two changes at once lose nothing.

#![allow(
    missing_docs,
    reason = "rkyv derives undocumented twins of documented fields"
)]

use crate::market::{MarketTerms, ResolutionPolicy};
use crate::operator::RoleSet;
use crate::quantity::Micros;
use crate::record::records;
use crate::settings::{PaymentSettings, Settings};
use crate::time::TimeMs;

macro_rules! update {
    ($(#[$doc:meta])* $update:ident of $whole:ident { $($field:ident: $type:ty,)+ }) => {
        records! {
            $(#[$doc])*
            #[derive(Default)]
            pub struct $update {
                $(#[doc = concat!("A new `", stringify!($field), "`; `None` leaves it.")]
                pub $field: Option<$type>,)+
            }
        }

        impl $update {
            /// The whole with the named fields replaced.
            #[must_use]
            pub fn applied_to(&self, now: $whole) -> $whole {
                $whole { $($field: self.$field.unwrap_or(now.$field),)+ }
            }
        }

        impl From<$whole> for $update {
            fn from(whole: $whole) -> Self {
                Self { $($field: Some(whole.$field),)+ }
            }
        }
    };
}

update!(
    /// A change of a market's terms (docs/verify/rules.md §21).
    TermsUpdate of MarketTerms {
        opens_at: TimeMs,
        closes_at: TimeMs,
        game_start_time: TimeMs,
        clear_book_on_start: bool,
        taker_delay_ms: u32,
        rebate_ppm: u32,
    }
);
update!(
    /// A change of a resolution policy (docs/verify/rules.md §24).
    PolicyUpdate of ResolutionPolicy {
        proposers: RoleSet,
        disputers: RoleSet,
        minimum_window_seconds: u32,
        second_person: bool,
        by_time: bool,
    }
);
update!(
    /// A change of the settings of payments (docs/verify/rules.md §23, §27).
    PaymentsUpdate of PaymentSettings {
        withdrawal_limit: Micros,
        rebates_daily: bool,
    }
);
update!(
    /// A change of the settings of the core (docs/verify/rules.md §12).
    SettingsUpdate of Settings {
        timestamp_past_ms: u64,
        timestamp_future_ms: u64,
        marketable_minimum: Micros,
        gtd_safety_seconds: u64,
        live_orders_per_account: u32,
        remembered_order_ids: u32,
        new_operator_hours: u32,
    }
);

impl TermsUpdate {
    /// Whether it says anew if and when the book is cleared.
    #[must_use]
    pub const fn names_clear(&self) -> bool {
        self.game_start_time.is_some() || self.clear_book_on_start.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_fields_replace_and_the_others_stay() {
        let update = TermsUpdate {
            closes_at: Some(TimeMs(0)),
            rebate_ppm: Some(7),
            ..TermsUpdate::default()
        };
        let now = MarketTerms {
            opens_at: TimeMs(1),
            closes_at: TimeMs(2),
            rebate_ppm: 3,
            ..MarketTerms::default()
        };
        let expected = MarketTerms {
            opens_at: TimeMs(1),
            rebate_ppm: 7,
            ..MarketTerms::default()
        };
        assert_eq!(update.applied_to(now), expected);
    }
}
