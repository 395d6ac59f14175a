//! `GET /public-profile?address=`: what an operator stored of a wallet.

use foretell_catalog::query::ProfileQuery;
use foretell_catalog::{CatalogError, NotFound, Profile};
use foretell_model::WalletAddress;
use serde_json::json;

use crate::http::answer::Answer;
use crate::http::failure::Failure;
use crate::http::request_context::RequestContext;
use crate::resources::catalog::ask;

/// `GET /public-profile`.
pub(crate) async fn show(context: RequestContext) -> Result<Answer, Failure> {
    ask(&context, ProfileQuery::of, |catalog, query| {
        let profile = catalog.profile(&query.wallet)?;
        let profile = profile.ok_or(CatalogError::NotFound(NotFound::Profile))?;
        Ok(text(&query.wallet, &profile))
    })
    .await
}

fn text(wallet: &WalletAddress, profile: &Profile) -> String {
    let pseudonym = match profile.pseudonym.as_str() {
        "" => foretell_wire::data::pseudonym(wallet),
        stored => stored.to_owned(),
    };
    // A name that is not public is never shown.
    let name = match profile.display_username_public {
        true => profile.name.as_str(),
        false => "",
    };
    json!({
        "proxyWallet": format!("0x{}", hex::encode(wallet.0)),
        "name": name,
        "pseudonym": pseudonym,
        "bio": profile.bio,
        "profileImage": profile.image,
        "displayUsernamePublic": profile.display_username_public,
    })
    .to_string()
}
