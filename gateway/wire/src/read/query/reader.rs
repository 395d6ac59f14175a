//! Reads the parameters of a query one by one. Its errors have the wording of a surface.

use crate::errors::api_error::ApiError;
use crate::read::query::Query;
use crate::read::query::family::Family;
use crate::read::query::parameter::Parameter;
use crate::read::query::text_form::TextForm;

/// Reads the parameters of a query one by one.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'q> {
    query: &'q Query<'q>,
    family: Family,
    is_v2: bool,
}

impl<'q> Reader<'q> {
    /// Reads the parameters of a query of a surface.
    #[must_use]
    pub const fn new(query: &'q Query<'q>, family: Family) -> Self {
        Self {
            query,
            family,
            is_v2: false,
        }
    }

    /// The same for the names of version 2.
    #[must_use]
    pub const fn in_v2(self) -> Self {
        Self {
            is_v2: true,
            ..self
        }
    }

    /// Whether it reads the forms of the API family.
    #[must_use]
    pub const fn is_family(&self) -> bool {
        self.query.compatibility.is_family()
    }

    /// The parameter with its name in this version.
    #[must_use]
    pub const fn named(&self, parameter: &Parameter) -> Parameter {
        match self.is_v2 {
            true => parameter.in_v2(),
            false => *parameter,
        }
    }

    /// The text of a parameter that is allowed once.
    ///
    /// # Errors
    /// It is repeated, also when both spellings are present.
    pub fn text(&self, parameter: &Parameter) -> Result<Option<&'q str>, ApiError> {
        Ok(self.spelled(&self.named(parameter))?.map(|(_, text)| text))
    }

    /// The spelling and the text of a parameter that is allowed once.
    fn spelled(&self, parameter: &Parameter) -> Result<Option<(&'q str, &'q str)>, ApiError> {
        let mut pairs = self.pairs(parameter);
        let first = pairs.next();
        if pairs.next().is_some() {
            return Err(self.family.repeated(parameter));
        }
        Ok(first.filter(|(_, text)| !text.is_empty()))
    }

    fn pairs(&self, parameter: &Parameter) -> impl Iterator<Item = (&'q str, &'q str)> {
        (self.query.pairs()).filter(|(name, _)| parameter.spells(name))
    }

    /// The value of a parameter; `None` when it is absent.
    ///
    /// # Errors
    /// It is repeated or wrong.
    pub fn optional<F: TextForm>(
        &self,
        parameter: &Parameter,
        form: &F,
    ) -> Result<Option<F::Value>, ApiError> {
        let parameter = self.named(parameter);
        let value = |(spelling, text)| self.value(self.shown(&parameter, spelling), form, text);
        self.spelled(&parameter)?.map(value).transpose()
    }

    /// The name of a parameter in its errors: as it is given where spellings differ.
    fn shown<'n>(&self, parameter: &Parameter, spelling: &'n str) -> &'n str {
        match self.family == Family::Catalog || parameter.is_v2 {
            true => spelling,
            false => parameter.name,
        }
    }

    /// The error of a parameter that is absent.
    #[must_use]
    pub fn missing<F: TextForm>(&self, parameter: &Parameter, form: &F) -> ApiError {
        match form.missing() {
            Some(code) => code.into(),
            None => {
                let allowed = form.allowed(self.family);
                self.family.missing(self.named(parameter).name, &allowed)
            }
        }
    }

    /// The value of a text.
    ///
    /// # Errors
    /// The text is wrong.
    pub fn value<F: TextForm>(
        &self,
        name: &str,
        form: &F,
        text: &str,
    ) -> Result<F::Value, ApiError> {
        let family = || form.read_in_family(text).filter(|_| self.is_family());
        form.read(text)
            .or_else(family)
            .ok_or_else(|| match form.wrong() {
                Some(code) => code.into(),
                None => self.family.wrong(name, text, &form.allowed(self.family)),
            })
    }

    /// The values of a list without duplicates, in their order; at most `most` entries.
    ///
    /// # Errors
    /// Too many entries, a wrong one, or entries under both spellings.
    pub fn list<F: TextForm<Value: PartialEq>>(
        &self,
        parameter: &Parameter,
        form: &F,
        most: usize,
    ) -> Result<Vec<F::Value>, ApiError> {
        let parameter = self.named(parameter);
        let mut values = Vec::new();
        let entries = self.entries(&parameter);
        if entries.len() > most {
            return Err((self.family).too_many(parameter.name, entries.len(), most));
        }
        let mut pairs = (self.pairs(&parameter)).filter(|(_, text)| !text.is_empty());
        let spelling = pairs.next().map_or(parameter.name, |(name, _)| name);
        if pairs.any(|(name, _)| name != spelling) {
            return Err(self.family.repeated(&parameter));
        }
        let shown = self.shown(&parameter, spelling);
        // Reject a list without entries (`,`): ignoring it would return unfiltered rows.
        if entries.is_empty()
            && self.family != Family::Trading
            && let Some((_, text)) = self.pairs(&parameter).find(|(_, text)| !text.is_empty())
        {
            return Err(self.family.wrong(shown, text, "a list"));
        }
        for text in entries {
            let value = self.value(shown, form, text)?;
            if !values.contains(&value) {
                values.push(value);
            }
        }
        Ok(values)
    }

    /// The texts of a list; empty ones are dropped. The catalog surface allows spaces around them.
    pub(crate) fn entries(&self, parameter: &Parameter) -> Vec<&'q str> {
        let entries = (self.pairs(parameter)).flat_map(|(_, text)| text.split(','));
        let entries = entries.map(|entry| match self.family {
            Family::Catalog => entry.trim(),
            Family::Trading | Family::Data => entry,
        });
        entries.filter(|entry| !entry.is_empty()).collect()
    }
}
