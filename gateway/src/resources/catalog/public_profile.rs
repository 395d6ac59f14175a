//! `GET /public-profile?address=`: what an operator stored of a wallet.

use foretell_catalog::query::ProfileQuery;
use foretell_catalog::{CatalogError, NotFound, Profile};
use foretell_model::{TimeNs, WalletAddress};
use foretell_view::View;
use foretell_wire::json_text;
use foretell_wire::schema::JsonSchema;
use foretell_wire::text::time::iso;
use foretell_wire::values::{self, Address};
use serde::Serialize;

use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::FromQuery;
use crate::http::request_context::RequestContext;
use crate::resources::catalog::answer;

/// The public profile of a wallet.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PublicProfile {
    #[serde(with = "Address")]
    proxy_wallet: WalletAddress,
    /// Empty unless public.
    name: String,
    pseudonym: String,
    bio: String,
    profile_image: String,
    display_username_public: bool,
    /// When the wallet's account was opened, ISO 8601; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<values::Iso>")]
    created_at: Option<String>,
    /// Always false: nobody verifies names here.
    verified_badge: bool,
    /// Always 0: takers have no tiers.
    taker_tier: u8,
    /// Always empty.
    taker_tier_name: &'static str,
    /// The volume by which tiers are given: always 0.
    weighted_volume: u8,
}

/// `GET /public-profile`.
pub(crate) async fn show(
    context: RequestContext,
    FromQuery(query): FromQuery<ProfileQuery>,
) -> Result<Json<PublicProfile>, Failure> {
    let opened = |view: &View| Some(view.accounts().by_wallet(&query.wallet)?.1.opened);
    let opened = opened(&context.app.shared_view.read().view);
    answer(&context, move |catalog| {
        let profile = catalog.profile(&query.wallet)?;
        let profile = profile.ok_or(CatalogError::NotFound(NotFound::Profile))?;
        Ok(json_text(&PublicProfile::of(query.wallet, profile, opened)))
    })
    .await
}

impl PublicProfile {
    fn of(wallet: WalletAddress, profile: Profile, opened: Option<TimeNs>) -> Self {
        let pseudonym = match profile.pseudonym.is_empty() {
            true => foretell_wire::data::pseudonym(&wallet),
            false => profile.pseudonym,
        };
        let is_public = profile.display_username_public;
        Self {
            proxy_wallet: wallet,
            name: if is_public {
                profile.name
            } else {
                String::new()
            },
            pseudonym,
            bio: profile.bio,
            profile_image: profile.image,
            display_username_public: is_public,
            created_at: opened.map(iso),
            verified_badge: false,
            taker_tier: 0,
            taker_tier_name: "",
            weighted_volume: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn strict_clients_find_the_tier_of_takers_that_they_need() {
        let profile = PublicProfile::of(WalletAddress([1; 20]), Profile::default(), None);
        let shown: Value = serde_json::from_str(&json_text(&profile)).unwrap();
        assert_eq!(
            [
                &shown["takerTier"],
                &shown["takerTierName"],
                &shown["weightedVolume"]
            ],
            [&json!(0), &json!(""), &json!(0)]
        );
    }
}
