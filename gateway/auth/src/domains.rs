//! The signing domains of the exchange (docs/api/authentication.md §7), from configuration.
//!
//! The journal also records each domain (number, separator, text), so an audit needs the journal
//! alone.

use foretell_model::{DomainNumber, WalletAddress};

use crate::eip712::{Hash, domain_separator};
use crate::text::{checksum_address, parse_address};

/// The default chain of a deployment, and the chain of the demo (docs/api/authentication.md §2).
pub const DEFAULT_CHAIN: u64 = 80_002;
/// The chain on which clients sign L1 statements and orders for a venue in use elsewhere.
pub const SHARED_CHAIN: u64 = 137;
/// The most domains tried for one order, which bounds the key recoveries.
pub const MAX_CANDIDATES: usize = 2;

const DEFAULT_NAME: &str = "Polymarket CTF Exchange";
const DEFAULT_CONTRACT: &str = "0xE111180000d2663C0091e4f400237545B87B996B";
const DEFAULT_NEG_RISK_CONTRACT: &str = "0xe2222d279d744050d28e00520010520000310F59";
const DEFAULT_POSITION_CONTRACT: &str = "0x9fE6e61422AdB6F610d8597F9684b16912D50C3D";
/// Longest name or version, because the domain's text becomes the evidence of a frame.
const MAX_TEXT: usize = 128;

/// The markets whose orders a domain signs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Markets {
    /// Plain markets only.
    Plain,
    /// Markets of neg-risk events only.
    NegRisk,
    /// All markets.
    Both,
}

impl Markets {
    /// Whether this set includes markets with this neg-risk flag.
    #[must_use]
    pub const fn include(self, neg_risk: bool) -> bool {
        matches!(
            (self, neg_risk),
            (Self::Both, _) | (Self::Plain, false) | (Self::NegRisk, true)
        )
    }

    /// `plain`, `neg-risk` or `both`.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::NegRisk => "neg-risk",
            Self::Both => "both",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        [Self::Plain, Self::NegRisk, Self::Both]
            .into_iter()
            .find(|markets| markets.text() == text)
    }
}

/// One signing domain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Domain {
    number: DomainNumber,
    name: String,
    version: String,
    chain_id: u64,
    contract: WalletAddress,
    markets: Markets,
    separator: Hash,
}

impl Domain {
    /// Creates a domain and computes its separator once.
    ///
    /// # Errors
    /// [`DomainError::Text`] when name or version is empty, overlong or holds a line break.
    pub fn new(
        number: DomainNumber,
        name: &str,
        version: &str,
        chain_id: u64,
        contract: WalletAddress,
        markets: Markets,
    ) -> Result<Self, DomainError> {
        for text in [name, version] {
            if text.is_empty() || text.len() > MAX_TEXT || text.contains(['\n', '\r']) {
                return Err(DomainError::Text(number));
            }
        }
        Ok(Self {
            number,
            name: name.to_owned(),
            version: version.to_owned(),
            chain_id,
            contract,
            markets,
            separator: domain_separator(name, version, chain_id, Some(contract)),
        })
    }

    /// The number under which the journal records it.
    #[must_use]
    pub const fn number(&self) -> DomainNumber {
        self.number
    }

    /// `name` of its separator.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// `version` of its separator.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Its EIP-712 separator.
    #[must_use]
    pub const fn separator(&self) -> &Hash {
        &self.separator
    }

    /// Its chain.
    #[must_use]
    pub const fn chain_id(&self) -> u64 {
        self.chain_id
    }

    /// Its verifying contract.
    #[must_use]
    pub const fn contract(&self) -> WalletAddress {
        self.contract
    }

    /// The markets whose orders it signs.
    #[must_use]
    pub const fn markets(&self) -> Markets {
        self.markets
    }

    /// Its text, the evidence of its registration: five lines of `key=value`.
    #[must_use]
    pub fn text(&self) -> String {
        format!(
            "name={}\nversion={}\nchainId={}\nverifyingContract={}\nmarkets={}\n",
            self.name,
            self.version,
            self.chain_id,
            checksum_address(self.contract),
            self.markets.text()
        )
    }

    /// Parses such a text, as an auditor does; `None` unless the whole text is valid.
    #[must_use]
    pub fn from_text(number: DomainNumber, text: &str) -> Option<Self> {
        let mut lines = text.strip_suffix('\n')?.split('\n');
        let mut value = |key: &str| lines.next()?.strip_prefix(key)?.strip_prefix('=');
        let name = value("name")?;
        let version = value("version")?;
        let chain_id = value("chainId")?.parse().ok()?;
        let contract = parse_address(value("verifyingContract")?)?;
        let markets = Markets::parse(value("markets")?)?;
        let domain = Self::new(number, name, version, chain_id, contract, markets).ok()?;
        (domain.text() == text).then_some(domain)
    }
}

/// Why the configured domains are rejected at the start.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DomainError {
    /// A name or version cannot be represented as a line of text.
    #[error("signing domain {0}: name and version need 1 to 128 bytes without line breaks")]
    Text(DomainNumber),
    /// A domain has another chain than the deployment.
    #[error(
        "signing domain {domain} is of chain {found}; this deployment accepts chain {expected}"
    )]
    OtherChain {
        /// The domain's number.
        domain: DomainNumber,
        /// The domain's chain.
        found: u64,
        /// The deployment's chain.
        expected: u64,
    },
    /// Two domains have one number, or two numbers have one separator.
    #[error("duplicate signing domain {0}")]
    Duplicate(DomainNumber),
    /// No domain, or more than two domains, for plain or for neg-risk markets.
    #[error("{count} signing domains for {markets} markets, expected 1 or 2")]
    Candidates {
        /// Number of domains.
        count: usize,
        /// `plain` or `neg-risk`.
        markets: &'static str,
    },
    /// Chain 137 without `allow_shared_domain`.
    #[error(
        "chain 137 is in use by another venue: signatures would be interchangeable with it; use chain 80002, or set allow_shared_domain = true to accept that"
    )]
    SharedChain,
}

/// The domains of a deployment, all of one chain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Domains {
    chain_id: u64,
    domains: Vec<Domain>,
}

impl Default for Domains {
    fn default() -> Self {
        Self::standard(DEFAULT_CHAIN, false).expect("the default domains are well-formed")
    }
}

impl Domains {
    /// Checks the domains of a deployment; the order given is the order in which they are tried.
    ///
    /// # Errors
    /// [`DomainError`]. Chain 137 without `allow_shared_domain` is [`DomainError::SharedChain`]
    /// for any contracts, because only the chain distinguishes L1 statements.
    pub fn new(
        chain_id: u64,
        domains: Vec<Domain>,
        allow_shared_domain: bool,
    ) -> Result<Self, DomainError> {
        if chain_id == SHARED_CHAIN && !allow_shared_domain {
            return Err(DomainError::SharedChain);
        }
        for (index, domain) in domains.iter().enumerate() {
            if domain.chain_id != chain_id {
                return Err(DomainError::OtherChain {
                    domain: domain.number,
                    found: domain.chain_id,
                    expected: chain_id,
                });
            }
            let twin = |other: &Domain| {
                other.number == domain.number || other.separator == domain.separator
            };
            if domains[..index].iter().any(twin) {
                return Err(DomainError::Duplicate(domain.number));
            }
        }
        let domains = Self { chain_id, domains };
        for (neg_risk, markets) in [(false, "plain"), (true, "neg-risk")] {
            let count = domains.candidates(neg_risk).count();
            if count == 0 || count > MAX_CANDIDATES {
                return Err(DomainError::Candidates { count, markets });
            }
        }
        Ok(domains)
    }

    /// The default domains (docs/api/authentication.md §7) on a chain: version 2 for plain markets
    /// (number 1) and neg-risk ones (2), version 3 for both (3).
    ///
    /// # Errors
    /// [`DomainError::SharedChain`] as in [`Self::new`].
    pub fn standard(chain_id: u64, allow_shared_domain: bool) -> Result<Self, DomainError> {
        let rows = [
            (1, "2", DEFAULT_CONTRACT, Markets::Plain),
            (2, "2", DEFAULT_NEG_RISK_CONTRACT, Markets::NegRisk),
            (3, "3", DEFAULT_POSITION_CONTRACT, Markets::Both),
        ];
        let domains = rows
            .into_iter()
            .map(|(number, version, contract, markets)| {
                let contract = parse_address(contract).expect("a constant address");
                let number = DomainNumber(number);
                Domain::new(number, DEFAULT_NAME, version, chain_id, contract, markets)
            })
            .collect::<Result<_, _>>()?;
        Self::new(chain_id, domains, allow_shared_domain)
    }

    /// The one chain of the deployment.
    #[must_use]
    pub const fn chain_id(&self) -> u64 {
        self.chain_id
    }

    /// Whether signatures are interchangeable with a venue in use elsewhere; worth a warning at
    /// every start.
    #[must_use]
    pub const fn is_shared(&self) -> bool {
        self.chain_id == SHARED_CHAIN
    }

    /// All domains, in the order in which they are tried.
    pub fn iter(&self) -> impl Iterator<Item = &Domain> + Clone {
        self.domains.iter()
    }

    /// The one or two domains that may have signed an order for a market with this neg-risk flag.
    pub fn candidates(&self, neg_risk: bool) -> impl Iterator<Item = &Domain> + Clone {
        self.iter()
            .filter(move |domain| domain.markets.include(neg_risk))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn domain(number: u8, version: &str, chain: u64, markets: Markets) -> Domain {
        let contract = WalletAddress([7; 20]);
        Domain::new(
            DomainNumber(number),
            "Foretell",
            version,
            chain,
            contract,
            markets,
        )
        .unwrap()
    }

    #[test]
    fn the_default_separator_is_the_one_stock_clients_sign() {
        let domains = Domains::default();
        let plain: Vec<_> = domains.candidates(false).collect();
        assert_eq!(
            hex::encode(plain[0].separator()),
            "a440cbd865bc0c6243d7a8df9a8bf48a8827b0a4abbb61c30e96d305423af148"
        );
        let numbers = |neg_risk| -> Vec<u8> {
            let candidates = domains.candidates(neg_risk);
            candidates.map(|domain| domain.number().0).collect()
        };
        assert_eq!(numbers(false), [1, 3]);
        assert_eq!(numbers(true), [2, 3]);
    }

    #[test]
    fn a_domain_survives_its_text_and_every_other_text_is_refused() {
        for domain in Domains::default().iter() {
            let text = domain.text();
            assert_eq!(
                Domain::from_text(domain.number(), &text).as_ref(),
                Some(domain)
            );
            for cut in 0..text.len() {
                assert_eq!(Domain::from_text(domain.number(), &text[..cut]), None);
            }
            for other in [
                text.replace("markets=", "market="),
                format!("{text}more=1\n"),
                text.replace("80002", "080002"),
                text.to_lowercase(),
            ] {
                assert_eq!(Domain::from_text(domain.number(), &other), None, "{other}");
            }
        }
    }

    #[test]
    fn sets_that_cannot_work_are_refused() {
        let plain = domain(1, "2", 5, Markets::Plain);
        let both = domain(2, "3", 5, Markets::Both);
        let third = domain(3, "4", 5, Markets::Both);
        let cases = [
            (vec![], "0 signing domains for plain"),
            (vec![plain.clone()], "0 signing domains for neg-risk"),
            (
                vec![plain.clone(), both.clone(), third],
                "3 signing domains for plain",
            ),
            (vec![both.clone(), both.clone()], "duplicate"),
            (
                vec![both.clone(), domain(9, "3", 5, Markets::Plain)],
                "duplicate",
            ),
            (
                vec![both.clone(), domain(1, "2", 6, Markets::Plain)],
                "chain 6",
            ),
        ];
        for (domains, expected) in cases {
            let error = Domains::new(5, domains, false).unwrap_err().to_string();
            assert!(error.contains(expected), "{error} / {expected}");
        }
        assert!(Domains::new(5, vec![plain, both], false).is_ok());
        let name = Domain::new(
            DomainNumber(1),
            "a\nb",
            "1",
            5,
            WalletAddress::ZERO,
            Markets::Both,
        );
        assert_eq!(name, Err(DomainError::Text(DomainNumber(1))));
    }

    #[test]
    fn the_shared_chain_needs_consent() {
        assert_eq!(
            Domains::standard(SHARED_CHAIN, false),
            Err(DomainError::SharedChain)
        );
        assert!(Domains::standard(SHARED_CHAIN, true).unwrap().is_shared());
        assert!(!Domains::default().is_shared());
    }
}
