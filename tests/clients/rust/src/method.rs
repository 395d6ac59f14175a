//! A method: its call, and what should come of it.

use std::fmt::Debug;
use std::pin::Pin;

use serde_json::{Value, json};

/// What should come of a call, as the tables of docs/api/client-methods.md name it.
#[derive(Clone, Copy, Debug)]
pub enum Outcome {
    /// The exchange answers, and the client reads it.
    Answered(&'static str),
    /// There is nothing behind it.
    NotOffered(&'static str),
    /// The exchange answers in a form that the client does not read.
    Differs(&'static str),
    /// No request.
    Local(&'static str),
}

/// Answered, with nothing to know.
pub const ANSWERED: Outcome = Outcome::Answered("");
pub const ALWAYS_EMPTY: Outcome = Outcome::Answered("always empty");
pub const ALWAYS_FALSE: Outcome = Outcome::Answered("always false");
pub const REWARDS: Outcome = Outcome::NotOffered("the exchange pays no rewards");
pub const BUILDER_KEYS: Outcome = Outcome::NotOffered("builders need no keys");
pub const COMBOS: Outcome = Outcome::NotOffered("there are no combos");
pub const COMMENTS: Outcome = Outcome::NotOffered("there are no comments");
pub const LOCAL: Outcome = Outcome::Local("");

impl Outcome {
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Answered(reason) => ("answered", reason),
            Self::NotOffered(reason) => ("not offered", reason),
            Self::Differs(reason) => ("differs", reason),
            Self::Local(reason) => ("local", reason),
        }
    }
}

/// What a call returned, in words; the error of the client otherwise.
type Call = Pin<Box<dyn Future<Output = Result<String, String>>>>;

pub struct Method {
    pub name: &'static str,
    outcome: Outcome,
    /// Texts that what it returns contains.
    texts: Vec<String>,
    call: Call,
}

impl Method {
    pub fn new<T: Debug, E: Debug>(
        name: &'static str,
        outcome: Outcome,
        texts: Vec<String>,
        call: impl Future<Output = Result<T, E>> + 'static,
    ) -> Self {
        let call = async {
            match call.await {
                Ok(returned) => Ok(format!("{returned:?}")),
                Err(error) => Err(format!("{error:?}")),
            }
        };
        Self { name, outcome, texts, call: Box::pin(call) }
    }

    /// Makes the call: the line about it.
    pub async fn made(self) -> Value {
        let (kind, reason) = self.outcome.words();
        let mut line = json!({ "method": self.name, "kind": kind, "reason": reason });
        match self.call.await {
            Ok(returned) => {
                let words = returned.to_lowercase();
                let missing: Vec<_> = (self.texts.into_iter()).filter(|text| !words.contains(&text.to_lowercase())).collect();
                if !missing.is_empty() {
                    line["mistake"] = format!("{missing:?} is not in {returned}").into();
                }
            }
            Err(error) => line["error"] = error.into(),
        }
        line
    }
}

/// Adds a method: its name, its outcome, texts of what it returns, and its call.
macro_rules! method {
    ($methods:ident, $name:literal, $outcome:expr, [$($text:expr),* $(,)?], $call:expr $(,)?) => {
        $methods.push(crate::method::Method::new(
            $name,
            $outcome,
            vec![$($text.to_string()),*],
            async move { $call.await },
        ))
    };
}
pub(crate) use method;
