//! What a setting must be beyond its type.

use foretell_auth::text::parse_address;
use foretell_auth::{Domain, Domains, Markets};
use foretell_catalog::Sites;
use foretell_gateway::Origin;
use foretell_model::DomainNumber;
use foretell_model::limits::REQUEST_MEMORY_NS;

use crate::config::{Catalog, Config, DomainMarkets, Gateway, Signing};
use crate::failure::Failure;

impl Config {
    /// What cannot be said by types.
    pub(super) fn check(&self) -> Result<(), Failure> {
        check_range("engine.segment_mib", self.engine.segment_mib, 1, 1_024)?;
        check_range("gateway.processes", self.gateway.processes, 1, 16)?;
        check_range("gateway.threads", self.gateway.threads, 0, 64)?;
        if !self.engine.ring.is_power_of_two() || self.engine.ring < 64 {
            return Err(Failure::new(format!(
                "engine.ring is {}, it must be a power of two, at least 64",
                self.engine.ring
            )));
        }
        if !self.operator.listen.ip().is_loopback() {
            return Err(Failure::new(format!(
                "operator.listen is {}: the operator surface listens on loopback only",
                self.operator.listen
            ))
            .hint("reach it from elsewhere through an SSH tunnel"));
        }
        if self.gateway.header_prefixes.is_empty() {
            return Err(Failure::new(
                "gateway.header_prefixes is empty: nobody could log in",
            ));
        }
        self.gateway.check()?;
        self.catalog.check()?;
        self.signing.parsed().map(drop)
    }
}

impl Gateway {
    /// A request that cancels everything is told apart from its repeat only while the exchange
    /// remembers it; and origins must be ones that browsers send.
    fn check(&self) -> Result<(), Failure> {
        let connections = self.connections;
        check_range("gateway.connections", connections, 64, 1_000_000)?;
        let per_address = self.connections_per_address;
        check_range(
            "gateway.connections_per_address",
            per_address,
            1,
            connections,
        )?;
        let (past, future) = (self.timestamp_past_seconds, self.timestamp_future_seconds);
        let allowed = REQUEST_MEMORY_NS / 1_000_000_000;
        if u64::from(past) + u64::from(future) > allowed {
            return Err(Failure::new(format!(
                "gateway.timestamp_past_seconds is {past} and gateway.timestamp_future_seconds \
                 {future}, allowed are {allowed} together: cancels are remembered that long"
            )));
        }
        for origin in &self.cors_origins {
            Origin::parse(origin)
                .map_err(|error| Failure::new(format!("gateway.cors_origins: {error}")))?;
        }
        Ok(())
    }
}

impl Catalog {
    fn check(&self) -> Result<(), Failure> {
        check_range("catalog.every_seconds", self.every_seconds, 1, 86_400)?;
        check_range("catalog.full_every_hours", self.full_every_hours, 1, 720)?;
        self.creators().map(|_| ())
    }

    /// The creators of each site.
    ///
    /// # Errors
    /// One of them is no address.
    pub fn creators(&self) -> Result<Sites, Failure> {
        let address = |site: &str, text: &String| {
            parse_address(text).ok_or_else(|| {
                Failure::new(format!(
                    "catalog.sites.{site} has {text:?}, allowed: 0x and 40 hex digits"
                ))
            })
        };
        let site = |(site, creators): (&String, &Vec<String>)| {
            let creators = creators.iter().map(|text| address(site, text));
            Ok((site.clone(), creators.collect::<Result<_, _>>()?))
        };
        self.sites.iter().map(site).collect()
    }
}

impl Signing {
    /// The signing domains, numbered from 1 in their order: what engine and gateways start with, so that
    /// settings that hold are settings they take.
    ///
    /// # Errors
    /// An entry is malformed, or the set as a whole cannot be used.
    pub fn parsed(&self) -> Result<Domains, Failure> {
        let mut parsed = Vec::new();
        for (number, domain) in (1..=u8::MAX).zip(&self.domains) {
            let contract = parse_address(&domain.contract).ok_or_else(|| {
                Failure::new(format!(
                    "signing.domains: contract {:?} is not 0x and 40 hex digits",
                    domain.contract
                ))
            })?;
            let markets = match domain.markets {
                DomainMarkets::Plain => Markets::Plain,
                DomainMarkets::NegRisk => Markets::NegRisk,
                DomainMarkets::All => Markets::Both,
            };
            let domain = Domain::new(
                DomainNumber(number),
                &domain.name,
                &domain.version,
                self.chain,
                contract,
                markets,
            );
            parsed.push(domain.map_err(|error| Failure::new(format!("signing.domains: {error}")))?);
        }
        Domains::new(self.chain, parsed, self.allow_shared_domain)
            .map_err(|error| Failure::new(format!("signing: {error}")))
    }
}

fn check_range(setting: &str, value: u32, low: u32, high: u32) -> Result<(), Failure> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(Failure::new(format!(
        "{setting} is {value}, allowed are {low} to {high}"
    )))
}
