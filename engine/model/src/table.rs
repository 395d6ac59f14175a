//! The table of a vocabulary: an enum, the kinds of its values, and their pinned codes.

/// Declares an enum and its kinds from one line a variant: code, name, and a struct or one field.
macro_rules! table {
    (
        $(#[$attribute:meta])*
        $enum:ident, $kind:ident, $code_type:ty;
        $($(#[$doc:meta])* $code:literal $name:ident $(($content:ident))? $({ $($field:tt)* })?;)+
    ) => {
        $(#[$attribute])*
        pub enum $enum {
            $($(#[$doc])* $name $(($content))? $({ $($field)* })?,)+
        }

        #[doc = concat!("The kinds of [`", stringify!($enum), "`] with their pinned codes.")]
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[allow(missing_docs, reason = "named as the variants")]
        pub enum $kind {
            $($name = $code,)+
        }

        impl $kind {
            /// All of them, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The pinned code.
            #[must_use]
            #[inline]
            pub const fn code(self) -> $code_type {
                self as $code_type
            }

            /// The kind with this code.
            #[must_use]
            pub const fn from_code(code: $code_type) -> Option<Self> {
                match code {
                    $($code => Some(Self::$name),)+
                    _ => None,
                }
            }
        }

        impl $enum {
            /// Its kind.
            #[must_use]
            #[inline]
            pub const fn kind(&self) -> $kind {
                match self {
                    $(Self::$name { .. } => $kind::$name,)+
                }
            }

            /// The pinned code of its kind.
            #[must_use]
            #[inline]
            pub const fn code(&self) -> $code_type {
                self.kind().code()
            }
        }
    };
}

pub(crate) use table;
