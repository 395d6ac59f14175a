//! `GET /ui/api/site`: what the page must know before it shows anything.

use foretell_auth::domains::Domain;
use foretell_auth::eip712::{L1_DOMAIN_NAME, L1_DOMAIN_VERSION, L1_MESSAGE};
use foretell_auth::text::checksum_address;
use foretell_model::Micros;
use foretell_wire::schema::JsonSchema;
use foretell_wire::text::time::iso;
use foretell_wire::values;
use foretell_wire::values::Wallet;
use serde::Serialize;

use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::request_context::RequestContext;
use crate::page::SiteConfig;
use crate::resources::page::page;
use crate::view::beginning;

/// Answer of `GET /ui/api/site`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Site<'a> {
    #[serde(flatten)]
    site: &'a SiteConfig,
    /// Path of the logo; `null` without one.
    logo: Option<&'static str>,
    version: &'static str,
    chain_id: u64,
    auth_domain: AuthDomain,
    auth_message: &'static str,
    order_domains: Vec<OrderDomain<'a>>,
    header_prefix: &'a str,
    /// What a buy that trades at once spends at least, whole units; 0 = any amount.
    #[serde(with = "values::Amount")]
    marketable_minimum: Micros,
    /// The genesis hash: another journal is another exchange.
    #[schemars(extend("pattern" = "^[0-9a-f]{64}$"))]
    genesis: String,
    /// Whether it is a sandbox: `true`, or absent.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    sandbox: bool,
    /// The commands up to this time are simulated, ISO 8601; absent on a real exchange.
    #[serde(skip_serializing_if = "Option::is_none")]
    simulated_until: Option<String>,
    /// Whether development wallets are configured.
    demo: bool,
    /// Where the development wallets sign; `null` without any.
    wallet: Option<&'static str>,
    audit: AuditCommands,
}

/// The domain of signatures that make API keys, as wallets take it.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AuthDomain {
    name: &'static str,
    version: &'static str,
    chain_id: u64,
}

/// A domain of orders, as wallets take it, and the markets it is for.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OrderDomain<'a> {
    name: &'a str,
    version: &'a str,
    chain_id: u64,
    #[schemars(with = "Wallet")]
    verifying_contract: String,
    #[schemars(extend("enum" = ["plain", "neg-risk", "both"]))]
    markets: &'static str,
}

impl<'a> OrderDomain<'a> {
    pub(crate) fn new(domain: &'a Domain) -> Self {
        Self {
            name: domain.name(),
            version: domain.version(),
            chain_id: domain.chain_id(),
            verifying_contract: checksum_address(domain.contract()),
            markets: domain.markets().text(),
        }
    }
}

/// Commands that check the journal, for an operator or for who has a copy.
#[derive(Serialize, JsonSchema)]
struct AuditCommands {
    verify: &'static str,
    show: &'static str,
    receipt: &'static str,
}

/// The command that checks everything.
pub(crate) const AUDIT_VERIFY: &str = "foretell audit verify --signatures";

/// `GET /ui/api/site`.
pub(crate) async fn show(context: RequestContext) -> Result<Json<Site<'static>>, Failure> {
    let app = &context.app;
    let config = &page(&context)?.config;
    let domains = &app.auth.domains;
    let demo = !config.development_wallets.is_empty();
    let beginning = beginning::of_journal(app).await;
    let (settings, position) = {
        let state = app.shared_view.read();
        (state.view.system().settings, state.position())
    };
    let site = Site {
        site: &config.site,
        logo: config.logo.as_ref().map(|_| "/ui/logo"),
        version: env!("CARGO_PKG_VERSION"),
        chain_id: domains.chain_id(),
        auth_domain: AuthDomain {
            name: L1_DOMAIN_NAME,
            version: L1_DOMAIN_VERSION,
            chain_id: domains.chain_id(),
        },
        auth_message: L1_MESSAGE,
        order_domains: domains.iter().map(OrderDomain::new).collect(),
        header_prefix: app.auth.first_prefix(),
        marketable_minimum: settings.marketable_minimum,
        genesis: hex::encode(beginning.genesis),
        sandbox: beginning.begin.sandbox,
        simulated_until: beginning.begin.simulated_until().map(iso),
        demo,
        wallet: demo.then_some("/ui/wallet"),
        audit: AuditCommands {
            verify: AUDIT_VERIFY,
            show: "foretell audit show <sequence>",
            receipt: "foretell audit receipt <hash>",
        },
    };
    Ok(Json::of(&site).at(position))
}
