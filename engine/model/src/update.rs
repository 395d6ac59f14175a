//! Changes of terms, policies and settings: a command carries the fields that its sender
//! named, and the core applies those alone. So two changes at once lose nothing.

#![allow(
    missing_docs,
    reason = "rkyv derives undocumented twins of documented fields"
)]

use rkyv::{Archive, Deserialize, Serialize};

use crate::market::{MarketTerms, ResolutionPolicy};
use crate::operator::RoleSet;
use crate::quantity::Micros;
use crate::settings::{PaymentSettings, Settings};
use crate::time::TimeMs;

macro_rules! update {
    ($(#[$doc:meta])* $update:ident of $whole:ident { $($field:ident: $type:ty = $bit:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Archive, Serialize, Deserialize)]
        pub struct $update {
            $(#[doc = concat!("A new `", stringify!($field), "`; `None` leaves it.")]
            pub $field: Option<$type>,)+
        }

        impl $update {
            /// The whole with the named fields replaced.
            #[must_use]
            pub fn applied_to(&self, now: $whole) -> $whole {
                $whole { $($field: self.$field.unwrap_or(now.$field),)+ }
            }

            /// The named fields as stored: one bit each.
            #[must_use]
            pub const fn named(&self) -> u8 {
                $((self.$field.is_some() as u8) << $bit)|+
            }

            /// One bit for every field.
            pub const ALL: u8 = $(1 << $bit)|+;

            /// The stored values; fields that are not named are zero.
            #[must_use]
            pub fn values(&self) -> $whole {
                $whole { $($field: self.$field.unwrap_or_default(),)+ }
            }

            /// The update with these stored values and named fields; `None` for an undefined bit,
            /// or for a field that has a value and no name.
            #[must_use]
            pub fn from_stored(values: $whole, named: u8) -> Option<Self> {
                let update = Self { $($field: (named >> $bit & 1 == 1).then_some(values.$field),)+ };
                (update.named() == named && update.values() == values).then_some(update)
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
        opens_at: TimeMs = 0,
        closes_at: TimeMs = 1,
        game_start_time: TimeMs = 2,
        clear_book_on_start: bool = 3,
        taker_delay_ms: u32 = 4,
        rebate_ppm: u32 = 5,
    }
);
update!(
    /// A change of a resolution policy (docs/verify/rules.md §24).
    PolicyUpdate of ResolutionPolicy {
        proposers: RoleSet = 0,
        disputers: RoleSet = 1,
        minimum_window_seconds: u32 = 2,
        second_person: bool = 3,
        by_time: bool = 4,
    }
);
update!(
    /// A change of the settings of payments (docs/verify/rules.md §23, §27).
    PaymentsUpdate of PaymentSettings {
        withdrawal_limit: Micros = 0,
        rebates_daily: bool = 1,
    }
);
update!(
    /// A change of the settings of the core (docs/verify/rules.md §12).
    SettingsUpdate of Settings {
        timestamp_past_ms: u64 = 0,
        timestamp_future_ms: u64 = 1,
        marketable_minimum: Micros = 2,
        gtd_safety_seconds: u64 = 3,
        live_orders_per_account: u32 = 4,
        remembered_order_ids: u32 = 5,
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
        assert_eq!(update.named(), 0b10_0010);
        let stored = |named| TermsUpdate::from_stored(update.values(), named);
        assert_eq!(stored(0b10_0010), Some(update));
        // A value without a name, and a name of nothing.
        assert_eq!(stored(0b00_0010), None);
        assert_eq!(stored(0b110_0010), None);
    }
}
