//! Cursors of version 2 (docs/api/data.md §7). A cursor holds the sort key and the identity of the last
//! row of a page. So rows that come and go before it neither repeat nor hide another one, and a list
//! can be read to its end.

use core::marker::PhantomData;
use std::borrow::Cow;

#[cfg(feature = "documents")]
use serde_json::{Value as Json, json};

use crate::read::query::family::Family;
use crate::read::query::text_form::TextForm;

/// What a cursor holds of a row.
pub trait RowKey: Sized + 'static {
    /// The cursor: the numbers of the key, with dots between.
    fn text(&self) -> String;

    /// Reads a cursor; `None` unless it is one of [`Self::text`].
    fn parse(text: &str) -> Option<Self>;
}

/// The cursor of a page of version 2: where it begins, and how many rows there were before, which its answer shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlaceKey<K> {
    /// The last row of the page before; of a price history the first point of this one.
    pub key: K,
    /// Rows of the pages before.
    pub offset: u32,
}

impl<K: RowKey> RowKey for PlaceKey<K> {
    fn text(&self) -> String {
        format!("{}~{}", self.key.text(), self.offset)
    }

    fn parse(text: &str) -> Option<Self> {
        let (key, offset) = text.split_once('~')?;
        let place = Self {
            key: K::parse(key)?,
            offset: offset.parse().ok()?,
        };
        (place.text() == text).then_some(place)
    }
}

/// A cursor as a parameter.
pub(crate) struct CursorText<K>(pub(crate) PhantomData<K>);

impl<K: RowKey> TextForm for CursorText<K> {
    type Value = K;

    fn read(&self, text: &str) -> Option<K> {
        K::parse(text)
    }

    fn allowed(&self, _: Family) -> Cow<'static, str> {
        "the next_cursor of a page".into()
    }

    #[cfg(feature = "documents")]
    fn schema(&self) -> Json {
        json!({ "type": "string", "pattern": "^[0-9._~-]*$" })
    }
}

macro_rules! row_keys {
    ($($(#[$meta:meta])* pub struct $key:ident {
        $($(#[$attribute:meta])* pub $field:ident: $type:ty,)+
    })+) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub struct $key {
            $($(#[$attribute])* pub $field: $type,)+
        }

        impl RowKey for $key {
            fn text(&self) -> String {
                [$(self.$field.to_string()),+].join(".")
            }

            fn parse(text: &str) -> Option<Self> {
                let mut numbers = text.split('.');
                let key = Self {
                    $($field: numbers.next()?.parse().ok()?,)+
                };
                (key.text() == text).then_some(key)
            }
        }
    )+};
}

row_keys! {
    /// A fill, or an action of an account, in the order of time.
    pub struct FrameRow {
        /// Sequence of its frame.
        pub sequence: u64,
        /// Index of the fill in the frame, or of the redeemed outcome; else 0.
        pub index: u32,
        /// The row of a fill: 0 the taker's, 1 the maker's; else 0.
        pub side: usize,
    }

    /// A position of `GET /v2/positions`.
    pub struct PositionKey {
        /// The number that the list is sorted by.
        pub number: i128,
        /// Number of its market.
        pub market: u32,
        /// Index of its outcome.
        pub outcome: u8,
        /// Number of its account.
        pub account: u32,
        /// 0 = open; else a closed one, counted from the account's oldest.
        pub closed: usize,
    }

    /// A ranked account or builder.
    pub struct RankKey {
        /// The sum that it is ranked by.
        pub sum: i128,
        /// Its number, by which equal ones are told apart.
        pub number: u32,
    }

    /// A point of a price history.
    pub struct PointKey {
        /// First second of its bucket.
        pub start: u64,
    }

    /// A holder of a token.
    pub struct HolderKey {
        /// Number of the token's market.
        pub market: u32,
        /// Index of its outcome.
        pub outcome: u8,
        /// Lots held.
        pub lots: u64,
        /// Number of the account.
        pub account: u32,
    }
}

/// The last holder of each token that has more: a page shows all tokens.
impl RowKey for Vec<HolderKey> {
    fn text(&self) -> String {
        let keys: Vec<_> = self.iter().map(RowKey::text).collect();
        keys.join("_")
    }

    fn parse(text: &str) -> Option<Self> {
        text.split('_').map(HolderKey::parse).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written() {
        let key = PositionKey {
            number: -1_500_000,
            market: 7,
            outcome: 1,
            account: 12,
            closed: 3,
        };
        assert_eq!(key.text(), "-1500000.7.1.12.3");
        assert_eq!(PositionKey::parse(&key.text()), Some(key));
        let first = HolderKey {
            market: 7,
            outcome: 0,
            lots: 500,
            account: 12,
        };
        let keys = vec![
            first,
            HolderKey {
                outcome: 1,
                ..first
            },
        ];
        assert_eq!(keys.text(), "7.0.500.12_7.1.500.12");
        assert_eq!(Vec::<HolderKey>::parse(&keys.text()), Some(keys));
    }

    #[test]
    fn another_text_is_no_cursor() {
        for text in [
            "", "1", "1.2", "1.2.3.4", "01.2.0", "+1.2.0", "1.2.x", "1.-2.0", "1.2. 0",
        ] {
            assert_eq!(FrameRow::parse(text), None, "{text}");
        }
        assert_eq!(Vec::<HolderKey>::parse("1.0.5.2_"), None);
        for text in [
            "7",
            "7~",
            "7~x",
            "7~-1",
            "7~01",
            "7~1~2",
            "~1",
            "7~4294967296",
        ] {
            assert_eq!(PlaceKey::<PointKey>::parse(text), None, "{text}");
        }
        let place = PlaceKey {
            key: PointKey { start: 7 },
            offset: 100,
        };
        assert_eq!(PlaceKey::parse("7~100"), Some(place));
    }
}
