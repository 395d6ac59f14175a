//! How the text of a parameter is read, what an error names as allowed, and its JSON schema: any
//! [value](mod@crate::values) that is read from a text, words, and numbers within bounds.

use std::borrow::Cow;

#[cfg(feature = "documents")]
use serde_json::{Value as Json, json};

use crate::errors::error_code::ErrorCode;
use crate::read::query::family::Family;
use crate::schema::JsonSchema;
use crate::text::decimal;
use crate::values::Readable;

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

impl<V: Readable<Json = str> + JsonSchema> TextForm for V {
    type Value = V::Value;

    fn read(&self, text: &str) -> Option<V::Value> {
        V::read(text)
    }

    fn allowed(&self, _: Family) -> Cow<'static, str> {
        V::ALLOWED.into()
    }

    #[cfg(feature = "documents")]
    fn schema(&self) -> Json {
        let settings = schemars::generate::SchemaSettings::draft2020_12()
            .with(|settings| settings.inline_subschemas = true);
        let mut generator = settings.for_deserialize().into_generator();
        generator.subschema_for::<V>().to_value()
    }

    fn wrong(&self) -> Option<ErrorCode> {
        V::REFUSED
    }

    fn missing(&self) -> Option<ErrorCode> {
        V::MISSING
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

    /// Words that are equal but for case are in enums of their own: generators of clients name
    /// constants after them.
    #[cfg(feature = "documents")]
    fn schema(&self) -> Json {
        let mut enums: Vec<Vec<&str>> = Vec::new();
        for (word, _) in self.0 {
            let is_in = |words: &[&str]| words.iter().any(|it| it.eq_ignore_ascii_case(word));
            match enums.iter_mut().find(|words| !is_in(words)) {
                Some(words) => words.push(word),
                None => enums.push(vec![word]),
            }
        }
        let mut schemas: Vec<_> = (enums.iter())
            .map(|words| json!({ "type": "string", "enum": words }))
            .collect();
        match schemas.len() {
            1 => schemas.remove(0),
            _ => json!({ "anyOf": schemas }),
        }
    }
}

/// An integer from the first bound to the second, both inclusive.
#[derive(Clone, Copy, Debug)]
pub struct Whole(pub u32, pub u32);

impl TextForm for Whole {
    type Value = usize;

    fn read(&self, text: &str) -> Option<usize> {
        let number = u32::try_from(decimal::digits_u64(text).ok()?).ok()?;
        let is_within = (self.0..=self.1).contains(&number);
        is_within.then_some(number as usize)
    }

    fn allowed(&self, family: Family) -> Cow<'static, str> {
        family.whole(self.0, self.1).into()
    }

    #[cfg(feature = "documents")]
    fn schema(&self) -> Json {
        json!({ "type": "integer", "minimum": self.0, "maximum": self.1 })
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
        let nearest = number.clamp(self.0.0.into(), self.0.1.into());
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

/// Digits as a number of 64 bits.
#[must_use]
pub fn digits(text: &str) -> Option<u64> {
    decimal::digits_u64(text).ok()
}
