//! Profiles of wallets: the operator's edits.

use foretell_model::WalletAddress;
use serde::{Deserialize, Serialize};

use crate::errors::api_error::ApiError;
use crate::operator::markets::description::Edit;
use crate::operator::values::{Bio, ProfileName, WebUrl};
use crate::read::body::{OPERATOR, bodies};
use crate::schema::JsonSchema;
use crate::values::{Address, Flag, Optional};

bodies! { OPERATOR: ProfileEdit }

/// New words of a wallet's profile; absent fields stay as they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProfileEdit {
    /// The wallet.
    #[serde(with = "Address")]
    pub wallet: WalletAddress,
    /// Display name.
    #[serde(with = "Optional::<ProfileName>", default)]
    pub name: Option<String>,
    /// Second name; empty = generated from the address.
    #[serde(with = "Optional::<ProfileName>", default)]
    pub pseudonym: Option<String>,
    /// A short text.
    #[serde(with = "Optional::<Bio>", default)]
    pub bio: Option<String>,
    /// URL.
    #[serde(with = "Optional::<WebUrl>", default)]
    pub image: Option<String>,
    /// URL of a smaller image.
    #[serde(with = "Optional::<WebUrl>", default)]
    pub image_optimized: Option<String>,
    /// Whether the name may be shown.
    #[serde(with = "Optional::<Flag>", default)]
    pub public: Option<bool>,
}

impl ProfileEdit {
    /// The evidence of the edit.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidContent`](crate::ErrorCode::InvalidContent) when it exceeds the evidence limit of a frame.
    pub fn to_evidence(&self) -> Result<Vec<u8>, ApiError> {
        Edit::default()
            .field("name", self.name.as_ref())
            .field("pseudonym", self.pseudonym.as_ref())
            .field("bio", self.bio.as_ref())
            .field("image", self.image.as_ref())
            .field("image_optimized", self.image_optimized.as_ref())
            .field("public", self.public.as_ref())
            .evidence()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::RequestBody as _;

    fn edit(fields: &str) -> Result<ProfileEdit, ApiError> {
        let wallet = "0x1111111111111111111111111111111111111111";
        ProfileEdit::read(format!(r#"{{"wallet":"{wallet}",{fields}}}"#).as_bytes())
    }

    #[test]
    fn an_edit_names_the_fields_it_changes() {
        let with_zero = r#""name":"Ann \u0000","public":false,"image":"https://example.org/a.png""#;
        assert!(edit(with_zero).is_err());
        let edit = edit(
            r#""bio":"two\nlines","public":false,"image":"","image_optimized":"https://a.org?b""#,
        );
        let expected = b"\0bio\0\"two\\nlines\"\0image\0\"\"\0image_optimized\0\"https://a.org?b\"\0public\0false";
        assert_eq!(edit.unwrap().to_evidence().unwrap(), expected);
    }

    #[test]
    fn a_value_that_is_not_allowed_is_named() {
        let long = format!(r#""name":"{}""#, "é".repeat(65));
        for fields in [
            long.as_str(),
            r#""pseudonym":"a\tb""#,
            r#""image":"javascript:alert(1)""#,
            r#""image":"https://""#,
            r#""image":"https://a b""#,
            r#""public":"yes""#,
            r#""colour":"red""#,
        ] {
            assert!(edit(fields).is_err(), "{fields}");
        }
    }
}
