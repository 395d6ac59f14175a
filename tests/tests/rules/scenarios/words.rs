//! The words of one statement, removed as they are parsed; remaining words are an error.

/// Words that are not parsed yet.
pub(crate) struct Words<'a>(Vec<&'a str>);

impl<'a> Words<'a> {
    pub(crate) fn of(statement: &'a str) -> Self {
        Self(statement.split_whitespace().collect())
    }

    /// The next word.
    pub(crate) fn next(&mut self) -> Result<&'a str, String> {
        if self.0.is_empty() {
            return Err("a word is missing".to_owned());
        }
        Ok(self.0.remove(0))
    }

    /// The next word, which stays.
    pub(crate) fn peek(&self) -> Option<&'a str> {
        self.0.first().copied()
    }

    /// The next word must be this.
    pub(crate) fn expect(&mut self, word: &str) -> Result<(), String> {
        let next = self.next()?;
        if next == word {
            Ok(())
        } else {
            Err(format!("`{next}` where `{word}` was expected"))
        }
    }

    /// Removes this word; returns whether it was there.
    pub(crate) fn flag(&mut self, word: &str) -> bool {
        let at = self.0.iter().position(|known| *known == word);
        at.inspect(|at| {
            self.0.remove(*at);
        })
        .is_some()
    }

    /// The last word, if this one stands before it.
    pub(crate) fn suffix(&mut self, name: &str) -> Option<&'a str> {
        let [.., before, last] = self.0[..] else {
            return None;
        };
        if before != name {
            return None;
        }
        self.0.truncate(self.0.len() - 2);
        Some(last)
    }

    /// The word after this one, at any position.
    pub(crate) fn option(&mut self, name: &str) -> Option<&'a str> {
        let at = self.0.iter().position(|known| *known == name)?;
        self.0.remove(at);
        (at < self.0.len()).then(|| self.0.remove(at))
    }

    /// How often a word is left.
    pub(crate) fn count(&self, word: &str) -> usize {
        self.0.iter().filter(|known| **known == word).count()
    }

    /// The remaining words.
    pub(crate) fn rest(self) -> Vec<&'a str> {
        self.0
    }

    /// Fails if words remain.
    pub(crate) fn end(self) -> Result<(), String> {
        match self.0.first() {
            None => Ok(()),
            Some(word) => Err(format!("`{word}` was not understood")),
        }
    }
}
