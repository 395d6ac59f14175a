//! Range and consistency checks of settings.

use foretell_auth::{Domain, Domains, Markets};
use foretell_catalog::Sites;
use foretell_catalog_sync::difference::Policy;
use foretell_catalog_sync::limits::Limits;
use foretell_gateway::Origin;
use foretell_model::limits::{
    MAX_FEE_RATE_PPM, MAX_QUESTIONS, MAX_REBATE_PPM, MAX_TAKER_DELAY_MS, REQUEST_MEMORY_NS,
};
use foretell_model::quantity::LOTS_PER_SHARE;
use foretell_model::{DomainNumber, Lots, OperatorName};
use foretell_wire::text::decimal::tick;
use foretell_wire::text::ids::typed_address;

use crate::config::{
    Catalog, ClusterRole, Config, DomainMarkets, Durability, Gateway, Signing, Site,
};
use crate::failure::Failure;

/// Smallest `engine.ring`, which is a power of two.
pub(crate) const MIN_RING: u32 = 64;
/// Largest sum of `gateway.timestamp_past_seconds` and `gateway.timestamp_future_seconds`.
pub(crate) const MAX_TIMESTAMP_WINDOW_SECONDS: u64 = REQUEST_MEMORY_NS / 1_000_000_000;
/// Values of `catalog.finest_tick`.
pub(crate) const TICKS: &str = "0.1, 0.01, 0.005, 0.0025, 0.001, 0.0001";

/// Ranges of integer settings, both ends included. Every other integer setting takes any `u32`, or
/// has a check of its own.
pub(crate) const RANGES: &[(&str, u32, u32)] = &[
    ("engine.segment_mib", 1, 1_024),
    ("gateway.processes", 1, 16),
    ("gateway.threads", 0, 64),
    ("gateway.connections", 64, 1_000_000),
    ("streams.per_address", 1, 100_000),
    ("streams.assets", 1, 100_000),
    ("streams.markets", 1, 100_000),
    ("streams.message_kib", 1, 16_384),
    ("streams.messages_per_second", 1, 100_000),
    ("streams.message_burst", 1, 1_000_000),
    ("streams.max_lag_mib", 1, 1_024),
    ("streams.max_lag_ms", 100, 3_600_000),
    // An election among the log's servers takes seconds; a shorter time only moves the leader.
    ("cluster.takeover_after_ms", 500, 600_000),
    // A gateway closes connections on which no byte moves for 75 s.
    ("streams.ping_seconds", 1, 60),
    ("streams.idle_seconds", 1, 86_400),
    ("streams.quiet_book_ms", 0, 86_400_000),
    ("streams.resume_window_ms", 0, 3_600_000),
    ("streams.ring_mib", 1, 16_384),
    ("site.currency_decimals", 0, 6),
    ("catalog.every_seconds", 1, 86_400),
    ("catalog.full_every_hours", 1, 720),
    ("catalog.max_fee_ppm", 0, MAX_FEE_RATE_PPM),
    ("catalog.early_close_percent", 0, 100),
    ("catalog.hold_percent", 0, 100),
    ("catalog.max_taker_delay_ms", 0, MAX_TAKER_DELAY_MS),
    ("catalog.max_rebate_ppm", 0, MAX_REBATE_PPM),
    // An event's questions are registered in one round.
    ("catalog.new_markets", MAX_QUESTIONS, u32::MAX),
    // A resumed list starts one page before its cursor.
    ("catalog.round_pages", 10, u32::MAX),
];

impl Config {
    /// Checks what types cannot express.
    pub(super) fn check(&self) -> Result<(), Failure> {
        self.check_ranges()?;
        if !self.engine.ring.is_power_of_two() || self.engine.ring < MIN_RING {
            return Err(Failure::new(format!(
                "engine.ring is {}, it must be a power of two, at least {MIN_RING}",
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
        if OperatorName::new(&self.operator.oracle_operator).is_none() {
            return Err(Failure::new(format!(
                "operator.oracle_operator is {:?}, allowed: 1 to 32 of a-z, 0-9, -, _ and .",
                self.operator.oracle_operator
            )));
        }
        if self.gateway.header_prefixes.is_empty() {
            return Err(Failure::new(
                "gateway.header_prefixes is empty: no client could authenticate",
            ));
        }
        self.gateway.check()?;
        self.catalog.check()?;
        self.site.check()?;
        self.cluster.check()?;
        if self.cluster.role != ClusterRole::Standalone
            && self.engine.durability != Durability::Disk
        {
            return Err(Failure::new(format!(
                "engine.durability is {:?}, a cluster needs \"disk\"",
                self.engine.durability
            )));
        }
        self.signing.parsed().map(drop)
    }

    fn check_ranges(&self) -> Result<(), Failure> {
        let tree = toml::Value::try_from(self)
            .map_err(|error| Failure::new(format!("settings as TOML: {error}")))?;
        for &(setting, low, high) in RANGES {
            let value = setting
                .split('.')
                .try_fold(&tree, |tree, key| tree.get(key));
            let value = value
                .and_then(toml::Value::as_integer)
                .ok_or_else(|| Failure::new(format!("{setting} is no integer")))?;
            check_range(setting, value, low, high)?;
        }
        Ok(())
    }
}

impl Gateway {
    /// The longest lifetime of a signed request must not exceed the retention of account-action
    /// references, which make repeats safe. CORS origins must have the form that browsers send.
    fn check(&self) -> Result<(), Failure> {
        check_range(
            "gateway.connections_per_address",
            self.connections_per_address.into(),
            1,
            self.connections,
        )?;
        let (past, future) = (self.timestamp_past_seconds, self.timestamp_future_seconds);
        let allowed = MAX_TIMESTAMP_WINDOW_SECONDS;
        if u64::from(past) + u64::from(future) > allowed {
            return Err(Failure::new(format!(
                "gateway.timestamp_past_seconds is {past} and gateway.timestamp_future_seconds \
                 {future}, allowed are {allowed} together: account actions are remembered that long"
            )));
        }
        for origin in &self.cors_origins {
            Origin::parse(origin)
                .map_err(|error| Failure::new(format!("gateway.cors_origins: {error}")))?;
        }
        Ok(())
    }
}

impl Site {
    fn check(&self) -> Result<(), Failure> {
        for (setting, text, shortest, longest) in [
            ("site.name", &self.name, 1, 64),
            ("site.currency_symbol", &self.currency_symbol, 0, 8),
            ("site.currency_code", &self.currency_code, 1, 8),
        ] {
            let length = text.chars().count();
            if !(shortest..=longest).contains(&length) || text.chars().any(char::is_control) {
                return Err(Failure::new(format!(
                    "{setting} is {text:?}, allowed are {shortest} to {longest} characters"
                )));
            }
        }
        if !self
            .currency_code
            .chars()
            .all(|letter| letter.is_ascii_alphabetic())
        {
            return Err(Failure::new(format!(
                "site.currency_code is {:?}, allowed are letters",
                self.currency_code
            )));
        }
        Ok(())
    }
}

impl Catalog {
    fn check(&self) -> Result<(), Failure> {
        self.policy()?;
        self.creators().map(|_| ())
    }

    /// Limits for applying catalog changes to the exchange without consent.
    ///
    /// # Errors
    /// `finest_tick` is not a valid tick.
    pub fn policy(&self) -> Result<Policy, Failure> {
        let finest_tick = tick(&self.finest_tick).ok_or_else(|| {
            Failure::new(format!(
                "catalog.finest_tick is {:?}, allowed: {TICKS}",
                self.finest_tick
            ))
        })?;
        Ok(Policy {
            resolve: self.resolve,
            max_fee_ppm: self.max_fee_ppm,
            max_minimum: Lots(u64::from(self.max_minimum_shares) * LOTS_PER_SHARE),
            finest_tick,
            early_close_percent: self.early_close_percent,
            hold_percent: self.hold_percent,
            hold_vanished: self.hold_vanished,
            max_taker_delay_ms: self.max_taker_delay_ms,
            max_rebate_ppm: self.max_rebate_ppm,
        })
    }

    /// Limits on one sync round.
    #[must_use]
    pub fn limits(&self) -> Limits {
        let mib = |mib: u32| u64::from(mib) << 20;
        Limits {
            list_rows: self.list_rows.into(),
            list_bytes: mib(self.list_mib),
            round_pages: self.round_pages.into(),
            round_bytes: mib(self.round_mib),
            catalog_bytes: mib(self.size_mib),
            disk_reserve_bytes: mib(self.disk_reserve_mib),
            new_markets: self.new_markets.into(),
        }
    }

    /// Creator addresses by site name.
    ///
    /// # Errors
    /// A creator is not a valid address.
    pub fn creators(&self) -> Result<Sites, Failure> {
        let address = |site: &str, text: &String| {
            typed_address(text).ok_or_else(|| {
                Failure::new(format!(
                    "catalog.sites.{site} has {text:?}, allowed: 0x and 40 hex digits, in mixed case with their checksum"
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
    /// The signing domains, numbered from 1 in order. Engine and gateways use this same parser, so
    /// settings that pass the check are accepted at their start.
    ///
    /// # Errors
    /// An entry is malformed, or the set as a whole cannot be used.
    pub fn parsed(&self) -> Result<Domains, Failure> {
        let mut parsed = Vec::new();
        for (number, domain) in (1..=u8::MAX).zip(&self.domains) {
            let contract = typed_address(&domain.contract).ok_or_else(|| {
                Failure::new(format!(
                    "signing.domains: contract {:?} is not 0x and 40 hex digits, in mixed case with their checksum",
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

fn check_range(setting: &str, value: i64, low: u32, high: u32) -> Result<(), Failure> {
    if (i64::from(low)..=i64::from(high)).contains(&value) {
        return Ok(());
    }
    Err(Failure::new(format!(
        "{setting} is {value}, allowed are {low} to {high}"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell_gateway::StreamLimits;

    #[test]
    fn the_defaults_of_streams_are_those_of_a_gateway() {
        let (set, usual) = (Config::default().streams.limits(), StreamLimits::default());
        assert_eq!(format!("{set:?}"), format!("{usual:?}"));
    }

    #[test]
    fn the_catalog_s_settings_are_bounds_and_a_policy() {
        let catalog = Catalog::default();
        assert_eq!(catalog.limits(), Limits::default());
        let (set, usual) = (catalog.policy().unwrap(), Policy::default());
        assert_eq!(
            (set.max_fee_ppm, set.max_minimum),
            (usual.max_fee_ppm, usual.max_minimum)
        );
        assert_eq!(
            (set.finest_tick, set.resolve),
            (usual.finest_tick, usual.resolve)
        );
        assert_eq!(set.early_close_percent, usual.early_close_percent);

        let wrong = |change: fn(&mut Catalog)| {
            let mut config = Config::default();
            change(&mut config.catalog);
            config.check().unwrap_err().to_string()
        };
        let text = wrong(|catalog| catalog.finest_tick = "0.002".to_owned());
        assert!(text.contains("catalog.finest_tick is \"0.002\""), "{text}");
        let text = wrong(|catalog| catalog.early_close_percent = 101);
        assert!(text.contains("allowed are 0 to 100"), "{text}");
        let text = wrong(|catalog| catalog.new_markets = 127);
        assert!(text.contains("allowed are 128 to"), "{text}");
    }
}
