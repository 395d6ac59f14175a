//! The table of a vocabulary: an enum, the kinds of its values, and their pinned codes.

/// Declares an enum and its kinds from one line a variant: code, name, and a struct or one field.
macro_rules! table {
    (
        $(#[$attribute:meta])*
        $enum:ident, $kind:ident;
        $($(#[$doc:meta])* $code:literal $name:ident $(($content:ident))? $({ $field:ident: $type:ty })?;)+
    ) => {
        $(#[$attribute])*
        #[repr(u8)]
        pub enum $enum {
            $($(#[$doc])* $name $(($content))? $({ $field: $type })? = $code,)+
        }

        #[doc = concat!("The kinds of [`", stringify!($enum), "`] with their pinned codes.")]
        #[derive(
            Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, rkyv::Archive, rkyv::Serialize,
            rkyv::Deserialize, serde::Serialize,
        )]
        #[allow(missing_docs, reason = "named as the variants")]
        #[repr(u8)]
        pub enum $kind {
            $($name = $code,)+
        }

        impl $kind {
            /// All of them, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The pinned code.
            #[must_use]
            #[inline]
            pub const fn code(self) -> u8 {
                self as u8
            }

            /// The records of all of them, in the order of the table.
            pub const RECORDS: &[$crate::record::Layout] = &[$($crate::record::Layout {
                code: $code,
                name: stringify!($name),
                fields: $crate::table::fields!($(($content))? $({ $field: $type })?),
            },)+];

            /// The kind with this code.
            #[must_use]
            pub const fn from_code(code: u8) -> Option<Self> {
                match code {
                    $($code => Some(Self::$name),)+
                    _ => None,
                }
            }
        }

        impl $crate::record::Vocabulary for $enum {
            const BYTES_OF: &'static [u8; 256] = &{
                let mut bytes = [0; 256];
                $(bytes[$code] = 1 $(+ $crate::table::bytes::<$content>())? $(+ $crate::table::bytes::<$type>())?;)+
                bytes
            };
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
            pub const fn code(&self) -> u8 {
                self.kind().code()
            }
        }
    };
}

/// The fields of a variant.
macro_rules! fields {
    () => {
        &[]
    };
    (($content:ident)) => {
        <$content as $crate::record::Fields>::FIELDS
    };
    ({ $field:ident: $type:ty }) => {
        &[$crate::record::Field {
            name: stringify!($field),
            word: stringify!($type),
            offset: 0,
            bytes: size_of::<rkyv::Archived<$type>>(),
        }]
    };
}

/// Bytes of the record of a type.
pub(crate) const fn bytes<T: rkyv::Archive>() -> u8 {
    let bytes = size_of::<rkyv::Archived<T>>();
    assert!(bytes < 255, "a record has a length of one byte");
    #[allow(clippy::cast_possible_truncation, reason = "asserted")]
    {
        bytes as u8
    }
}

pub(crate) use {fields, table};
