//! The page of a gateway, from the settings.

use std::path::Path;
use std::sync::Arc;

use foretell_auth::Signer;
use foretell_gateway::{Currency, Logo, PageConfig, SiteConfig};

use crate::config::Site;
use crate::config::refusal::Refusal;
use crate::demo::wallets::VISITORS;
use crate::failure::Failure;

/// Largest logo in bytes.
const MAX_LOGO_BYTES: u64 = 256 << 10;
/// Media types of logos by extension.
const LOGO_TYPES: [(&str, &str); 3] = [
    ("svg", "image/svg+xml"),
    ("png", "image/png"),
    ("ico", "image/x-icon"),
];

/// The page of a site; with `development_wallets` it signs with the keys of the demo's visitors.
///
/// # Errors
/// The logo cannot be read, is too large, or of another type.
pub(crate) fn of(site: &Site, development_wallets: bool) -> Result<PageConfig, Failure> {
    let wallets = VISITORS.iter().filter(|_| development_wallets);
    let signer = |key: &str| Signer::from_hex(key).map(Arc::new);
    let signers: Option<_> = wallets.map(|wallet| signer(wallet.private_key)).collect();
    Ok(PageConfig {
        site: SiteConfig {
            name: site.name.clone(),
            currency: Currency {
                symbol: site.currency_symbol.clone(),
                code: site.currency_code.clone(),
                decimals: site.currency_decimals,
            },
        },
        logo: match site.logo.as_os_str().is_empty() {
            true => None,
            false => Some(
                logo(&site.logo)
                    .map_err(|why| Failure::from(Refusal::failed("site.logo", &site.logo, why)))?,
            ),
        },
        development_wallets: signers
            .ok_or_else(|| Failure::new("a key of the development wallets is no key"))?,
    })
}

/// The logo in a file.
///
/// # Errors
/// It cannot be read, is too large, or of another type.
pub(crate) fn logo(path: &Path) -> Result<Logo, String> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    let known = LOGO_TYPES
        .iter()
        .find(|(known, _)| Some(*known) == extension);
    let (_, content_type) = known.ok_or("allowed are .svg, .png and .ico")?;
    let metadata = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if metadata.len() > MAX_LOGO_BYTES {
        let bytes = metadata.len();
        return Err(format!(
            "it has {bytes} bytes, allowed are {MAX_LOGO_BYTES}"
        ));
    }
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    Ok(Logo {
        content_type,
        bytes: bytes.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_demo_has_keys() {
        let site = Site::default();
        assert!(of(&site, false).unwrap().development_wallets.is_empty());
        let page = of(&site, true).unwrap();
        let addresses = page
            .development_wallets
            .iter()
            .map(|signer| signer.address());
        let expected = VISITORS
            .map(|wallet| foretell_auth::text::parse_address(wallet.address).expect("an address"));
        assert!(addresses.eq(expected));
    }

    #[test]
    fn a_logo_is_a_small_picture() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        std::fs::write(path("logo.svg"), "<svg/>").unwrap();
        std::fs::write(path("logo.html"), "<html>").unwrap();
        std::fs::write(path("large.png"), vec![0; 300 << 10]).unwrap();
        let read = |name: &str| logo(&path(name));
        let svg = read("logo.svg").unwrap();
        assert_eq!(
            (svg.content_type, &svg.bytes[..]),
            ("image/svg+xml", &b"<svg/>"[..])
        );
        for (name, text) in [
            ("logo.html", "allowed are .svg"),
            ("large.png", "allowed are 262144"),
            ("missing.png", "No such file"),
        ] {
            assert!(read(name).unwrap_err().contains(text), "{name}");
        }
    }
}
