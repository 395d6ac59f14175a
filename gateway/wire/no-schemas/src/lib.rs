//! Stands in for `schemars`' derive where `foretell_wire` is built without its feature `documents`: it
//! takes the same attributes and derives nothing, so that a type states its schema in one way.

use proc_macro::TokenStream;

/// Derives nothing.
#[proc_macro_derive(JsonSchema, attributes(schemars))]
pub fn no_schema(_: TokenStream) -> TokenStream {
    TokenStream::new()
}
