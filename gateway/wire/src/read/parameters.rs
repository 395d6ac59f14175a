//! Query parameters as structs. One declaration gives the struct, its reader, the known names, and
//! what the OpenAPI document says of each parameter.
//!
//! An empty value counts as absent. A list is comma-separated, repeated, or both; any other parameter
//! is allowed once. Surfaces differ in their words, and in whether they ignore an unknown parameter:
//! that is a [`Family`].

use serde_json::{Value as Json, json};

use crate::data::LimitOffset;
use crate::errors::api_error::ApiError;
use crate::read::family::Family;
use crate::read::query::Query;
use crate::read::text_form::TextForm;

/// A parameter, as a reader and the OpenAPI document need it.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// A second spelling.
    pub alias: Option<&'static str>,
    /// Its name in version 2 of the data surface, which is the name of the struct's field.
    pub v2: &'static str,
    /// Whether a request without it is an error.
    pub is_required: bool,
    /// The documentation of the struct's field.
    pub description: &'static str,
    /// The JSON schema of its value.
    pub schema: fn() -> Json,
}

impl Parameter {
    const NONE: Self = Self {
        name: "",
        alias: None,
        v2: "",
        is_required: false,
        description: "",
        schema: || Json::Null,
    };

    /// A parameter of one spelling in both versions.
    pub(crate) const fn new(name: &'static str, description: &'static str) -> Self {
        Self {
            name,
            v2: name,
            description,
            ..Self::NONE
        }
    }

    fn spells(&self, name: &str) -> bool {
        self.name == name || self.alias == Some(name)
    }
}

/// The parameters of a struct and of the groups in it.
#[derive(Clone, Copy, Debug)]
pub struct ParameterSet {
    all: [Parameter; Self::MOST],
    count: usize,
}

impl ParameterSet {
    const MOST: usize = 56;

    /// The parameters of some lists, in their order.
    #[must_use]
    pub const fn of(lists: &[&[Parameter]]) -> Self {
        let (mut all, mut count, mut list) = ([Parameter::NONE; Self::MOST], 0, 0);
        while list < lists.len() {
            let mut index = 0;
            while index < lists[list].len() {
                all[count] = lists[list][index];
                count += 1;
                index += 1;
            }
            list += 1;
        }
        Self { all, count }
    }

    /// The same under the names of version 2.
    #[must_use]
    pub const fn in_v2(lists: &[&[Parameter]]) -> Self {
        let mut set = Self::of(lists);
        let mut index = 0;
        while index < set.count {
            set.all[index].name = set.all[index].v2;
            index += 1;
        }
        set
    }

    const fn list(&'static self) -> &'static [Parameter] {
        self.all.split_at(self.count).0
    }
}

/// The parameters of a request as a value.
pub trait Parameters: Sized {
    /// The surface.
    const FAMILY: Family;
    /// Its parameters and those of its groups.
    const SET: &'static ParameterSet;
    /// Every parameter, for the known names and for OpenAPI.
    const PARAMETERS: &'static [Parameter] = Self::SET.list();

    /// Reads the known parameters.
    ///
    /// # Errors
    /// A parameter that is missing, repeated or wrong, or that contradicts another one.
    fn take(reader: &Reader<'_>) -> Result<Self, ApiError>;

    /// Compares the parameters with the page of a list of version 2.
    ///
    /// # Errors
    /// A page that the parameters do not allow.
    fn check_page(&self, _: &Reader<'_>, _: LimitOffset) -> Result<(), ApiError> {
        Ok(())
    }

    /// Reads the parameters of a query.
    ///
    /// # Errors
    /// Those of [`Self::take`]; an unknown parameter, unless the surface ignores it.
    fn read(query: &Query<'_>) -> Result<Self, ApiError> {
        let known = Self::PARAMETERS;
        let is_known = |name: &str| known.iter().any(|parameter| parameter.spells(name));
        if Self::FAMILY != Family::Trading
            && let Some((unknown, _)) = query.pairs().find(|(name, _)| !is_known(name))
        {
            return Err(Self::FAMILY.unknown(unknown, known));
        }
        Self::take(&Reader {
            query,
            family: Self::FAMILY,
            is_v2: false,
        })
    }

    /// Reads the text after the `?`.
    ///
    /// # Errors
    /// Those of [`Query::parse`] and [`Self::read`].
    fn read_text(text: Option<&str>) -> Result<Self, ApiError> {
        let query = Query::parse(text).map_err(|error| Self::FAMILY.query_error(error))?;
        Self::read(&query)
    }
}

/// Reads the parameters of a query one by one.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'q> {
    query: &'q Query<'q>,
    family: Family,
    is_v2: bool,
}

impl<'q> Reader<'q> {
    /// The same for the names of version 2.
    #[must_use]
    pub const fn in_v2(self) -> Self {
        Self {
            is_v2: true,
            ..self
        }
    }

    /// The parameter with its name in this version.
    #[must_use]
    pub const fn named(&self, parameter: &Parameter) -> Parameter {
        match self.is_v2 {
            true => Parameter {
                name: parameter.v2,
                ..*parameter
            },
            false => *parameter,
        }
    }

    /// The words of the surface.
    #[must_use]
    pub const fn family(&self) -> Family {
        self.family
    }

    /// The text of a parameter that is allowed once.
    ///
    /// # Errors
    /// It is repeated, also when both spellings are present.
    pub fn text(&self, parameter: &Parameter) -> Result<Option<&'q str>, ApiError> {
        let parameter = self.named(parameter);
        let mut texts = self.texts(&parameter);
        let first = texts.next();
        if texts.next().is_some() {
            return Err(self.family.repeated(parameter.name));
        }
        Ok(first.filter(|text| !text.is_empty()))
    }

    fn texts(&self, parameter: &Parameter) -> impl Iterator<Item = &'q str> {
        let given = (self.query.pairs()).filter(|(name, _)| parameter.spells(name));
        given.map(|(_, text)| text)
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
        let (text, name) = (self.text(parameter)?, self.named(parameter).name);
        text.map(|text| self.value(name, form, text)).transpose()
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

    fn value<F: TextForm>(
        &self,
        name: &'static str,
        form: &F,
        text: &str,
    ) -> Result<F::Value, ApiError> {
        form.read(text).ok_or_else(|| match form.wrong() {
            Some(code) => code.into(),
            None => self.family.wrong(name, text, &form.allowed(self.family)),
        })
    }

    /// The values of a list without duplicates, in their order; at most `most` entries.
    ///
    /// # Errors
    /// Too many entries, or a wrong one.
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
        // Reject a list without entries (`,`): ignoring it would return unfiltered rows.
        if entries.is_empty()
            && self.family != Family::Trading
            && let Some(text) = self.texts(&parameter).find(|text| !text.is_empty())
        {
            return Err(self.family.wrong(parameter.name, text, "a list"));
        }
        for text in entries {
            let value = self.value(parameter.name, form, text)?;
            if !values.contains(&value) {
                values.push(value);
            }
        }
        Ok(values)
    }

    /// The texts of a list; empty ones are dropped.
    pub(crate) fn entries(&self, parameter: &Parameter) -> Vec<&'q str> {
        let entries = (self.texts(parameter)).flat_map(|text| text.split(','));
        entries.filter(|entry| !entry.is_empty()).collect()
    }
}

/// How a field of a struct takes its parameter.
pub trait Field {
    /// The field's value.
    type Value;
    /// Whether a request without the parameter is an error.
    const IS_REQUIRED: bool = false;

    /// Takes the parameter.
    ///
    /// # Errors
    /// It is missing, repeated or wrong.
    fn take(&self, reader: &Reader<'_>, parameter: &Parameter) -> Result<Self::Value, ApiError>;

    /// The JSON schema of the parameter.
    fn schema(&self) -> Json;
}

/// Whether a request without the parameter of a field is an error.
#[must_use]
pub const fn is_required<F: Field>(_: &F) -> bool {
    F::IS_REQUIRED
}

/// A parameter that may be absent.
#[derive(Clone, Copy, Debug)]
pub struct Optional<F>(F);

/// A parameter that may be absent.
#[must_use]
pub const fn optional<F: TextForm>(form: F) -> Optional<F> {
    Optional(form)
}

impl<F: TextForm> Field for Optional<F> {
    type Value = Option<F::Value>;

    fn take(&self, reader: &Reader<'_>, parameter: &Parameter) -> Result<Self::Value, ApiError> {
        reader.optional(parameter, &self.0)
    }

    fn schema(&self) -> Json {
        self.0.schema()
    }
}

/// A required parameter.
#[derive(Clone, Copy, Debug)]
pub struct Required<F>(F);

/// A required parameter.
#[must_use]
pub const fn required<F: TextForm>(form: F) -> Required<F> {
    Required(form)
}

impl<F: TextForm> Field for Required<F> {
    type Value = F::Value;
    const IS_REQUIRED: bool = true;

    fn take(&self, reader: &Reader<'_>, parameter: &Parameter) -> Result<Self::Value, ApiError> {
        let value = reader.optional(parameter, &self.0)?;
        value.ok_or_else(|| reader.missing(parameter, &self.0))
    }

    fn schema(&self) -> Json {
        self.0.schema()
    }
}

/// A parameter with a default.
#[derive(Clone, Copy, Debug)]
pub struct Or<F> {
    form: F,
    default: &'static str,
}

/// A parameter whose default is written as a client would write it.
#[must_use]
pub const fn or<F: TextForm>(form: F, default: &'static str) -> Or<F> {
    Or { form, default }
}

impl<F: TextForm> Field for Or<F> {
    type Value = F::Value;

    fn take(&self, reader: &Reader<'_>, parameter: &Parameter) -> Result<Self::Value, ApiError> {
        match reader.optional(parameter, &self.form)? {
            Some(value) => Ok(value),
            None => reader.value(parameter.name, &self.form, self.default),
        }
    }

    fn schema(&self) -> Json {
        let mut schema = self.form.schema();
        let default = serde_json::from_str(self.default);
        schema["default"] = default.unwrap_or_else(|_| self.default.into());
        schema
    }
}

/// A list without duplicates.
#[derive(Clone, Copy, Debug)]
pub struct List<F, const IS_REQUIRED: bool> {
    form: F,
    most: usize,
}

/// A list of at most `most` entries, without duplicates; empty when it is absent.
#[must_use]
pub const fn list<F: TextForm>(form: F, most: usize) -> List<F, false> {
    List { form, most }
}

/// A list of 1 to `most` entries, without duplicates.
#[must_use]
pub const fn required_list<F: TextForm>(form: F, most: usize) -> List<F, true> {
    List { form, most }
}

impl<F: TextForm<Value: PartialEq>, const IS_REQUIRED: bool> Field for List<F, IS_REQUIRED> {
    type Value = Vec<F::Value>;
    const IS_REQUIRED: bool = IS_REQUIRED;

    fn take(&self, reader: &Reader<'_>, parameter: &Parameter) -> Result<Self::Value, ApiError> {
        let values = reader.list(parameter, &self.form, self.most)?;
        match values.is_empty() && IS_REQUIRED {
            true => Err(reader.missing(parameter, &self.form)),
            false => Ok(values),
        }
    }

    fn schema(&self) -> Json {
        json!({ "type": "array", "items": self.form.schema(), "minItems": 1, "maxItems": self.most })
    }
}

/// Declares structs of parameters. A field is `name: Type = kind(form)`; its kinds are [`required`],
/// [`optional`], [`or`], [`list`], [`required_list`], and `group()` for a struct of its own. `as`
/// gives the parameter's name where it is not the field's, `v2` that of version 2, `or` a second
/// spelling. `check` names a method that compares fields, `check_page`
/// one for [`Parameters::check_page`].
#[macro_export]
macro_rules! parameters {
    ($($(#[$meta:meta])* $vis:vis struct $name:ident: $family:ident $(check $check:ident)? $(check_page $check_page:ident)? {$(
        $(#[doc = $doc:literal])+
        $field_vis:vis $field:ident: $type:ty = $kind:ident($($form:tt)*) $(as $wire:literal)? $(v2 $v2:literal)? $(or $alias:literal)?
    ),* $(,)?})+) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        $vis struct $name {
            $($(#[doc = $doc])+ $field_vis $field: $type,)*
        }

        impl $crate::read::parameters::Parameters for $name {
            const FAMILY: $crate::read::family::Family = $crate::read::family::Family::$family;
            const SET: &'static $crate::read::parameters::ParameterSet =
                &$crate::read::parameters::ParameterSet::of(&[$(
                    $crate::parameters!(@set $kind($($form)*), $type, $field [$($wire)?] [$($v2)?] [$($alias)?] $($doc)+)
                ),*]);

            fn take(
                reader: &$crate::read::parameters::Reader<'_>,
            ) -> Result<Self, $crate::ApiError> {
                let taken = Self {$(
                    $field: $crate::parameters!(@take reader, $kind($($form)*), $type, $field [$($wire)?] [$($v2)?] [$($alias)?] $($doc)+)?,
                )*};
                $(taken.$check()?;)?
                Ok(taken)
            }

            $(fn check_page(
                &self,
                reader: &$crate::read::parameters::Reader<'_>,
                page: $crate::data::LimitOffset,
            ) -> Result<(), $crate::ApiError> {
                self.$check_page(reader, page)
            })?
        }
    )+};
    (@set group(), $type:ty, $($rest:tt)*) => {
        <$type as $crate::read::parameters::Parameters>::PARAMETERS
    };
    (@set $kind:ident($($form:tt)*), $type:ty, $($rest:tt)*) => {
        &[$crate::parameters!(@parameter $kind($($form)*), $($rest)*)]
    };
    (@take $reader:ident, group(), $type:ty, $($rest:tt)*) => {
        <$type as $crate::read::parameters::Parameters>::take($reader)
    };
    (@take $reader:ident, $kind:ident($($form:tt)*), $type:ty, $($rest:tt)*) => {{
        const PARAMETER: $crate::read::parameters::Parameter =
            $crate::parameters!(@parameter $kind($($form)*), $($rest)*);
        let field = $crate::read::parameters::$kind($($form)*);
        $crate::read::parameters::Field::take(&field, $reader, &PARAMETER)
    }};
    (@parameter $kind:ident($($form:tt)*), $field:ident [$($wire:literal)?] [$($v2:literal)?] [$($alias:literal)?] $($doc:literal)+) => {
        $crate::read::parameters::Parameter {
            name: $crate::parameters!(@name $field $($wire)?),
            alias: $crate::parameters!(@alias $($alias)?),
            v2: $crate::parameters!(@name $field $($v2)?),
            is_required: $crate::read::parameters::is_required(
                &$crate::read::parameters::$kind($($form)*),
            ),
            description: concat!($($doc),+).trim_ascii(),
            schema: || {
                let field = $crate::read::parameters::$kind($($form)*);
                $crate::read::parameters::Field::schema(&field)
            },
        }
    };
    (@name $field:ident $wire:literal) => { $wire };
    (@name $field:ident) => { stringify!($field) };
    (@alias $alias:literal) => { Some($alias) };
    (@alias) => { None };
}
pub use parameters;
