//! Forms of the values of parameters: how a text is read, what an error names as allowed, and the
//! JSON schema.

use std::borrow::Cow;

use foretell_model::{ConditionId, Micros, TimeSeconds, WalletAddress};
#[cfg(feature = "documents")]
use serde_json::{Value as Json, json};

use crate::errors::error_code::ErrorCode;
use crate::read::page::Cursor;
use crate::read::query::family::Family;
use crate::schema::JsonSchema;
use crate::text::decimal;
use crate::text::ids::TokenRef;
use crate::text::time::{self, LAST_SECOND, SECONDS_ALLOWED};
use crate::values::{AnyToken, Bytes, Condition, Readable, Wallet};

/// How a value of a parameter is written.
pub trait TextForm {
    /// The value.
    type Value;

    /// Reads a text that is not empty; `None` when it is not allowed.
    fn read(&self, text: &str) -> Option<Self::Value>;

    /// Reads a text that only the API family allows.
    fn read_in_family(&self, _: &str) -> Option<Self::Value> {
        None
    }

    /// What is allowed, for errors.
    fn allowed(&self, family: Family) -> Cow<'static, str>;

    /// The JSON schema of a value.
    #[cfg(feature = "documents")]
    fn schema(&self) -> Json;

    /// The code of the error of a wrong value, where its text is fixed.
    fn wrong(&self) -> Option<ErrorCode> {
        None
    }

    /// The code of the error of a missing value, where its text is fixed.
    fn missing(&self) -> Option<ErrorCode> {
        None
    }
}

/// What a JSON schema says of a text.
#[derive(Clone, Copy, Debug)]
pub enum Schema {
    /// A regular expression.
    Pattern(&'static str),
    /// The most characters.
    Characters(usize),
    /// An integer from 0 to this.
    UpTo(u64),
    /// A number of at least 0.
    Amount,
    /// Any number.
    Number,
    /// Any text.
    Text,
    /// `true` or `false`.
    Flag,
    /// A text of a format.
    Format(&'static str),
    /// An integer within bounds, both inclusive.
    Between(i64, i64),
    /// One of some words.
    Words(&'static [&'static str]),
    /// One that the document defines.
    Reference(&'static str),
    /// That of the value in bodies.
    InBodies(InBodies),
}

/// The schema that a type has in bodies.
#[derive(Clone, Copy, Debug)]
pub struct InBodies {
    #[cfg(feature = "documents")]
    schema: fn() -> Json,
}

impl Schema {
    /// The schema that a type has in bodies.
    pub(crate) const fn in_bodies<T: JsonSchema>() -> Self {
        Self::InBodies(InBodies {
            #[cfg(feature = "documents")]
            schema: schema_of::<T>,
        })
    }
}

#[cfg(feature = "documents")]
fn schema_of<T: JsonSchema>() -> Json {
    let settings = schemars::generate::SchemaSettings::draft2020_12()
        .with(|settings| settings.inline_subschemas = true);
    let mut generator = settings.for_deserialize().into_generator();
    generator.subschema_for::<T>().to_value()
}

/// A form that reads with a function.
#[derive(Clone, Copy, Debug)]
pub struct By<T: 'static> {
    /// Reads a text.
    pub read: fn(&str) -> Option<T>,
    /// What is allowed.
    pub allowed: &'static str,
    /// The schema.
    pub schema: Schema,
    /// Codes of fixed texts: of a wrong value, and of a missing one.
    pub codes: [Option<ErrorCode>; 2],
}

impl<T> By<T> {
    /// The form that this value has in bodies.
    pub(crate) const fn of<F: Readable<Value = T, Json = str> + JsonSchema>() -> Self {
        Self::new(F::ALLOWED, F::read, Schema::in_bodies::<F>())
    }

    /// A form whose errors name the value and what is allowed.
    #[must_use]
    pub const fn new(allowed: &'static str, read: fn(&str) -> Option<T>, schema: Schema) -> Self {
        let codes = [None, None];
        Self {
            read,
            allowed,
            schema,
            codes,
        }
    }
}

impl<T> TextForm for By<T> {
    type Value = T;

    fn read(&self, text: &str) -> Option<T> {
        (self.read)(text)
    }

    fn allowed(&self, _: Family) -> Cow<'static, str> {
        self.allowed.into()
    }

    #[cfg(feature = "documents")]
    fn schema(&self) -> Json {
        match self.schema {
            Schema::Pattern(pattern) => json!({ "type": "string", "pattern": pattern }),
            Schema::Characters(most) => json!({ "type": "string", "maxLength": most }),
            Schema::UpTo(most) => json!({ "type": "integer", "minimum": 0, "maximum": most }),
            Schema::Amount => {
                let most = u64::MAX / 1_000_000;
                json!({ "type": "number", "minimum": 0, "maximum": most })
            }
            Schema::Number => json!({ "type": "number" }),
            Schema::Text => json!({ "type": "string" }),
            Schema::Flag => json!({ "type": "boolean" }),
            Schema::Format(format) => json!({ "type": "string", "format": format }),
            Schema::Between(least, most) => {
                json!({ "type": "integer", "minimum": least, "maximum": most })
            }
            Schema::Words(words) => json!({ "type": "string", "enum": words }),
            Schema::Reference(path) => json!({ "$ref": path }),
            Schema::InBodies(InBodies { schema }) => schema(),
        }
    }

    fn wrong(&self) -> Option<ErrorCode> {
        self.codes[0]
    }

    fn missing(&self) -> Option<ErrorCode> {
        self.codes[1]
    }
}

/// One of some words.
#[derive(Clone, Copy, Debug)]
pub struct Words<T: 'static>(pub &'static [(&'static str, T)]);

impl<T: Copy> TextForm for Words<T> {
    type Value = T;

    fn read(&self, text: &str) -> Option<T> {
        let mut words = self.0.iter();
        words.find_map(|(word, value)| (*word == text).then_some(*value))
    }

    fn allowed(&self, family: Family) -> Cow<'static, str> {
        let words: Vec<_> = self.0.iter().map(|(word, _)| *word).collect();
        family.words(&words).into()
    }

    #[cfg(feature = "documents")]
    fn schema(&self) -> Json {
        let words: Vec<_> = self.0.iter().map(|(word, _)| *word).collect();
        json!({ "type": "string", "enum": words })
    }
}

/// An integer within bounds, both inclusive.
#[derive(Clone, Copy, Debug)]
pub struct Whole {
    /// The smallest.
    pub least: u32,
    /// The largest.
    pub most: u32,
}

impl TextForm for Whole {
    type Value = usize;

    fn read(&self, text: &str) -> Option<usize> {
        let number = u32::try_from(decimal::digits_u64(text).ok()?).ok()?;
        let is_within = (self.least..=self.most).contains(&number);
        is_within.then_some(number as usize)
    }

    fn allowed(&self, family: Family) -> Cow<'static, str> {
        family.whole(self.least, self.most).into()
    }

    #[cfg(feature = "documents")]
    fn schema(&self) -> Json {
        json!({ "type": "integer", "minimum": self.least, "maximum": self.most })
    }
}

/// The rows of a page. The API family takes the nearest number that is within the bounds.
#[derive(Clone, Copy, Debug)]
pub struct Rows(pub Whole);

impl TextForm for Rows {
    type Value = usize;

    fn read(&self, text: &str) -> Option<usize> {
        self.0.read(text)
    }

    fn read_in_family(&self, text: &str) -> Option<usize> {
        let number = decimal::digits_u64(text).ok()?;
        let nearest = number.clamp(self.0.least.into(), self.0.most.into());
        usize::try_from(nearest).ok()
    }

    fn allowed(&self, family: Family) -> Cow<'static, str> {
        self.0.allowed(family)
    }

    #[cfg(feature = "documents")]
    fn schema(&self) -> Json {
        self.0.schema()
    }
}

/// A text of at most so many characters.
#[derive(Clone, Copy, Debug)]
pub struct Characters(pub usize);

impl TextForm for Characters {
    type Value = String;

    fn read(&self, text: &str) -> Option<String> {
        (text.chars().count() <= self.0).then(|| text.to_owned())
    }

    fn allowed(&self, _: Family) -> Cow<'static, str> {
        format!("a text of at most {} characters", self.0).into()
    }

    #[cfg(feature = "documents")]
    fn schema(&self) -> Json {
        json!({ "type": "string", "maxLength": self.0 })
    }
}

/// A wallet; case carries no meaning.
pub const WALLET: By<WalletAddress> = By::of::<Wallet>();

/// 32 bytes.
pub const BYTES32: By<[u8; 32]> = By::of::<Bytes>();

/// A market.
pub const CONDITION: By<ConditionId> = By::of::<Condition>();

/// A token in either form.
pub const TOKEN: By<TokenRef> = By {
    codes: [Some(ErrorCode::InvalidTokenId), None],
    ..By::new(
        "a token id",
        TokenRef::parse,
        Schema::in_bodies::<AnyToken>(),
    )
};

/// Start of a page.
pub const CURSOR: By<Cursor> = By {
    codes: [Some(ErrorCode::InvalidCursor), None],
    ..By::new(
        "a cursor",
        |text| Cursor::parse(Some(text)).ok(),
        Schema::Pattern("^[A-Za-z0-9+/=]*$"),
    )
};

/// Unix seconds.
pub const SECONDS: By<u64> = By::new(SECONDS_ALLOWED, time::seconds, Schema::UpTo(LAST_SECOND));

/// Unix seconds as a time.
pub const INSTANT: By<TimeSeconds> = By::new(
    SECONDS_ALLOWED,
    |text| time::seconds(text).map(TimeSeconds),
    Schema::UpTo(LAST_SECOND),
);

/// Whole units with up to six decimals, as micros.
pub const MICROS: By<u64> = By::new(
    "a number from 0 to 18446744073709.551615 with at most 6 decimals",
    |text| decimal::micros(text).map(|Micros(micros)| micros),
    Schema::Amount,
);

/// A flag.
pub const FLAG: By<bool> = By::new("true, false, 1 or 0", flag, Schema::Flag);

/// Python writes `True` and `False`.
fn flag(text: &str) -> Option<bool> {
    match text {
        "true" | "True" | "1" => Some(true),
        "false" | "False" | "0" => Some(false),
        _ => None,
    }
}

/// Digits as a number of 64 bits.
#[must_use]
pub fn digits(text: &str) -> Option<u64> {
    decimal::digits_u64(text).ok()
}
