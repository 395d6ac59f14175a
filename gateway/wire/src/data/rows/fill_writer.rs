//! Fills as a JSON array, written field by field; a test compares the bytes with [`crate::data::FillV1`].
//!
//! It stays beside the views because a page of `GET /trades` may have 10,000 rows, those of other lists 500 or
//! 1,000, and because the thread serves other requests between two parts of it. A page of 10,000 takes
//! 4.8 ms so and 12.9 ms as a vector of views in one piece (release build).

use core::fmt::Write as _;

use crate::data::activity::ActivityRow;
use crate::data::rows::market_text::MarketText;
use crate::operator::MarketDescription;
use crate::text::decimal::{Decimal, DigitBuffer};

/// A field name as one text: `,"name":`. Names are constants and need no escapes.
macro_rules! field {
    ($name:literal) => {
        concat!(",\"", $name, "\":")
    };
}

/// An array of fills.
#[derive(Debug)]
pub struct FillWriter(String);

/// Approximate bytes of a row.
const ROW_BYTES: usize = 900;

/// The two hex digits of every byte.
const HEX: [[u8; 2]; 256] = {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut table = [[0; 2]; 256];
    let mut byte = 0;
    while byte < table.len() {
        table[byte] = [DIGITS[byte >> 4], DIGITS[byte & 15]];
        byte += 1;
    }
    table
};

impl FillWriter {
    /// An empty array with capacity for `rows` rows.
    #[must_use]
    pub fn with_capacity(rows: usize) -> Self {
        let mut text = String::with_capacity(rows * ROW_BYTES + 2);
        text.push('[');
        Self(text)
    }

    /// Closes and returns the array.
    #[must_use]
    pub fn finish(mut self) -> String {
        self.0.push(']');
        self.0
    }

    /// Adds a row.
    pub fn push(&mut self, row: &ActivityRow<'_>) {
        let profile = &row.profile;
        self.0.push_str(match self.0.len() {
            1 => "{\"proxyWallet\":",
            _ => ",{\"proxyWallet\":",
        });
        self.hex(&row.wallet.0);
        self.text(field!("side"), row.side());
        self.text(field!("asset"), row.of_token(MarketText::asset));
        self.0.push_str(field!("conditionId"));
        match row.market {
            Some(market) => self.hex(&market.condition.0),
            None => self.0.push_str("\"\""),
        }
        self.number(field!("size"), row.size);
        self.number(field!("price"), row.price());
        self.whole(field!("timestamp"), row.time.0);
        self.number(field!("usdcSize"), row.value.into());
        self.number(field!("feeUsdc"), row.fee().into());
        self.text(field!("title"), row.of_market(|it| &it.question));
        self.text(field!("slug"), row.of_market(|it| &it.slug));
        self.text(field!("icon"), row.of_market(|it| &it.icon));
        self.text(
            field!("eventSlug"),
            row.of_market(MarketDescription::event_slug),
        );
        self.text(field!("outcome"), row.of_token(MarketText::label));
        self.whole(field!("outcomeIndex"), row.outcome_index());
        self.text(field!("name"), profile.name);
        self.text(field!("pseudonym"), &profile.pseudonym_of(&row.wallet));
        self.text(field!("bio"), profile.bio);
        self.text(field!("profileImage"), profile.image);
        self.text(field!("profileImageOptimized"), profile.image_optimized);
        self.0.push_str(field!("transactionHash"));
        self.hex(&row.receipt);
        self.0.push_str(field!("id"));
        let id = row.fill.map(|fill| fill.id);
        // Writing to a string cannot fail.
        let _ = match id {
            Some(id) => write!(self.0, "\"{id}\""),
            None => write!(self.0, "\"\""),
        };
        self.0.push('}');
    }

    fn text(&mut self, name: &'static str, value: &str) {
        let is_plain = |byte: u8| byte >= 0x20 && byte != b'"' && byte != b'\\';
        self.0.push_str(name);
        if value.bytes().all(is_plain) {
            self.0.push('"');
            self.0.push_str(value);
            self.0.push('"');
        } else {
            self.0.push_str(&crate::json_text(&value));
        }
    }

    fn number(&mut self, name: &'static str, value: Decimal) {
        self.0.push_str(name);
        self.0.push_str(value.digits(&mut DigitBuffer::default()));
    }

    fn whole(&mut self, name: &'static str, value: u64) {
        self.number(name, Decimal::new(value.into(), 0));
    }

    /// Appends `"0x`, the hex digits of up to 32 bytes, and `"`.
    fn hex(&mut self, bytes: &[u8]) {
        let mut text = [b'"'; 2 * 32 + 4];
        let text = &mut text[..2 * bytes.len() + 4];
        text[1..3].copy_from_slice(b"0x");
        for (digits, byte) in text[3..].chunks_exact_mut(2).zip(bytes) {
            digits.copy_from_slice(&HEX[usize::from(*byte)]);
        }
        self.0
            .push_str(core::str::from_utf8(text).expect("digits are ASCII"));
    }
}
