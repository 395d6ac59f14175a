//! Query parameters as structs. One declaration gives the struct, its reader, the known names, and
//! what the OpenAPI document says of each parameter.
//!
//! An empty value counts as absent. A list is comma-separated, repeated, or both; any other parameter
//! is allowed once. Surfaces differ in their words, and in whether they ignore an unknown parameter:
//! that is a [`Family`]. In the forms of the API family every surface ignores one ([`Compatibility`]).

use crate::compatibility::Compatibility;
use crate::errors::api_error::ApiError;
use crate::read::query::Query;
use crate::read::query::family::Family;
use crate::read::query::parameter::Parameter;
use crate::read::query::reader::Reader;

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
            set.all[index] = set.all[index].in_v2();
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
    fn check_page(&self, _: &Reader<'_>, _: usize) -> Result<(), ApiError> {
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
            && !query.compatibility.is_family()
            && let Some((unknown, _)) = query.pairs().find(|(name, _)| !is_known(name))
        {
            return Err(Self::FAMILY.unknown(unknown, known));
        }
        Self::take(&Reader::new(query, Self::FAMILY))
    }

    /// Reads the text after the `?` in the forms of the interface.
    ///
    /// # Errors
    /// Those of [`Query::parse`] and [`Self::read`].
    fn read_text(text: Option<&str>) -> Result<Self, ApiError> {
        Self::read_in(text, Compatibility::Interface)
    }

    /// Reads the text after the `?`.
    ///
    /// # Errors
    /// Those of [`Query::parse`] and [`Self::read`].
    fn read_in(text: Option<&str>, compatibility: Compatibility) -> Result<Self, ApiError> {
        let query = Query::parse(text).map_err(|error| Self::FAMILY.query_error(error))?;
        Self::read(&Query {
            compatibility,
            ..query
        })
    }
}

/// Declares structs of parameters. A field is `name: Type = kind(form)`; its kinds are `required`,
/// `optional`, `or`, `family_or`, `list` and `required_list` ([`crate::read::query::fields`]), and `group()` for a
/// struct of its own. `as` gives the parameter's name where it is not the field's, `v2` that of
/// version 2, `or` a second spelling. `check` names a method that compares fields, `check_page` one
/// for [`Parameters::check_page`].
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

        impl $crate::read::query::parameters::Parameters for $name {
            const FAMILY: $crate::read::query::family::Family = $crate::read::query::family::Family::$family;
            const SET: &'static $crate::read::query::parameters::ParameterSet =
                &$crate::read::query::parameters::ParameterSet::of(&[$(
                    $crate::parameters!(@set $kind($($form)*), $type, $field [$($wire)?] [$($v2)?] [$($alias)?] $($doc)+)
                ),*]);

            fn take(
                reader: &$crate::read::query::reader::Reader<'_>,
            ) -> Result<Self, $crate::ApiError> {
                let taken = Self {$(
                    $field: $crate::parameters!(@take reader, $kind($($form)*), $type, $field [$($wire)?] [$($v2)?] [$($alias)?] $($doc)+)?,
                )*};
                $(taken.$check()?;)?
                Ok(taken)
            }

            $(fn check_page(
                &self,
                reader: &$crate::read::query::reader::Reader<'_>,
                limit: usize,
            ) -> Result<(), $crate::ApiError> {
                self.$check_page(reader, limit)
            })?
        }
    )+};
    (@set group(), $type:ty, $($rest:tt)*) => {
        <$type as $crate::read::query::parameters::Parameters>::PARAMETERS
    };
    (@set $kind:ident($($form:tt)*), $type:ty, $($rest:tt)*) => {
        &[$crate::parameters!(@parameter $kind($($form)*), $($rest)*)]
    };
    (@take $reader:ident, group(), $type:ty, $($rest:tt)*) => {
        <$type as $crate::read::query::parameters::Parameters>::take($reader)
    };
    (@take $reader:ident, $kind:ident($($form:tt)*), $type:ty, $($rest:tt)*) => {{
        const PARAMETER: $crate::read::query::parameter::Parameter =
            $crate::parameters!(@parameter $kind($($form)*), $($rest)*);
        let field = $crate::parameters!(@field $kind($($form)*));
        $crate::read::query::fields::Field::take(&field, $reader, &PARAMETER)
    }};
    (@parameter $kind:ident($($form:tt)*), $field:ident [$($wire:literal)?] [$($v2:literal)?] [$($alias:literal)?] $($doc:literal)+) => {
        $crate::read::query::parameter::Parameter {
            name: $crate::parameters!(@name $field $($wire)?),
            alias: $crate::parameters!(@alias $($alias)?),
            v2: $crate::parameters!(@name $field $($v2)?),
            field: stringify!($field),
            is_v2: false,
            is_required: $crate::parameters!(@is_required $kind),
            description: concat!($($doc),+).trim_ascii(),
            codes: || {
                let field = $crate::parameters!(@field $kind($($form)*));
                $crate::read::query::fields::Field::codes(&field)
            },
            #[cfg(feature = "documents")]
            schema: || {
                let field = $crate::parameters!(@field $kind($($form)*));
                $crate::read::query::fields::Field::schema(&field)
            },
        }
    };
    (@field required($form:expr)) => { $crate::read::query::fields::Required($form) };
    (@field optional($form:expr)) => { $crate::read::query::fields::Optional($form) };
    (@field or($form:expr, $default:expr)) => { $crate::read::query::fields::Or($form, $default) };
    (@field family_or($form:expr, $default:expr)) => {
        $crate::read::query::fields::FamilyOr($form, $default)
    };
    (@field list($form:expr, $most:expr)) => { $crate::read::query::fields::List($form, $most) };
    (@field required_list($form:expr, $most:expr)) => {
        $crate::read::query::fields::RequiredList($form, $most)
    };
    (@is_required required) => { true };
    (@is_required required_list) => { true };
    (@is_required $kind:ident) => { false };
    (@name $field:ident $wire:literal) => { $wire };
    (@name $field:ident) => { stringify!($field) };
    (@alias $alias:literal) => { Some($alias) };
    (@alias) => { None };
}
pub use parameters;
