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
use foretell_model::{DomainNumber, Lots, OperatorName, Settings, WalletAddress};
use foretell_wire::text::decimal::tick;
use foretell_wire::text::ids::typed_address;

use crate::config::refusal::Refusal;
use crate::config::{
    Catalog, Config, DomainMarkets, Gateway, Signing, SigningDomain, Site, Webhooks,
};
use crate::logging;

/// Smallest `engine.ring`, which is a power of two.
pub(crate) const MIN_RING: u32 = 64;
/// Largest sum of `gateway.timestamp_past_seconds` and `gateway.timestamp_future_seconds`.
pub(crate) const MAX_TIMESTAMP_WINDOW_SECONDS: u64 = REQUEST_MEMORY_NS / 1_000_000_000;
/// Values of `catalog.finest_tick`.
pub(crate) const TICKS: &str = "0.1, 0.01, 0.005, 0.0025, 0.001, 0.0001";
/// Form of an address in a setting.
const ADDRESS: &str = "0x and 40 hex digits, in mixed case with their checksum";

/// Ranges of integer settings, both ends included. Every other integer setting takes any `u32`, or
/// has a check of its own.
pub(crate) const RANGES: &[(&str, u32, u32)] = &[
    ("engine.segment_mib", 1, 1_024),
    ("gateway.processes", 1, 16),
    ("gateway.threads", 0, 64),
    ("gateway.signer_cache_mib", 0, 65_536),
    ("gateway.connections", 64, 1_000_000),
    ("streams.per_address", 1, 100_000),
    ("streams.assets", 1, 100_000),
    ("streams.markets", 1, 100_000),
    ("streams.message_kib", 1, 16_384),
    (
        "engine.new_operator_hours",
        0,
        Settings::MAX_NEW_OPERATOR_HOURS,
    ),
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
    /// What types cannot express: every value that is refused.
    pub(super) fn refusals(&self) -> Vec<Refusal> {
        let Self {
            engine, operator, ..
        } = self;
        let prefixes = &self.gateway.header_prefixes;
        let mut refusals = self.out_of_range();
        refusals.extend(
            [
                Refusal::unless(
                    engine.ring.is_power_of_two() && engine.ring >= MIN_RING,
                    "engine.ring",
                    &engine.ring,
                    format_args!("a power of two from {MIN_RING}"),
                ),
                Refusal::unless(
                    operator.listen.ip().is_loopback(),
                    "operator.listen",
                    &operator.listen,
                    "an address of loopback; reach it from elsewhere through an SSH tunnel",
                ),
                Refusal::unless(
                    OperatorName::new(&operator.oracle_operator).is_some(),
                    "operator.oracle_operator",
                    &operator.oracle_operator,
                    "1 to 32 of a-z, 0-9, -, _ and .",
                ),
                Refusal::unless(
                    !prefixes.is_empty(),
                    "gateway.header_prefixes",
                    prefixes,
                    "at least one; no client could authenticate",
                ),
                logging::filter(&self.log.level)
                    .err()
                    .map(|why| Refusal::failed("log.level", &self.log.level, why)),
            ]
            .into_iter()
            .flatten(),
        );
        for host in &operator.hosts {
            let is_name = |letter: char| letter.is_ascii_alphanumeric() || ".-[]:".contains(letter);
            let is_host = !host.is_empty() && host.chars().all(is_name);
            let allowed = "host names without scheme and port";
            refusals.extend(Refusal::unless(is_host, "operator.hosts", host, allowed));
        }
        self.gateway.check(&mut refusals);
        self.webhooks.check(&mut refusals);
        self.catalog.check(&mut refusals);
        self.signing.check(&mut refusals);
        self.site.check(&mut refusals);
        self.cluster.check(self.engine.durability, &mut refusals);
        refusals
    }

    fn out_of_range(&self) -> Vec<Refusal> {
        let tree = toml::Value::try_from(self).expect("settings are TOML");
        let refusal = |&(setting, low, high): &(&str, u32, u32)| {
            let mut keys = setting.split('.');
            let value = keys.try_fold(&tree, |tree, key| tree.get(key));
            let value = value.and_then(toml::Value::as_integer);
            let value = value.expect("a range is of an integer");
            out_of_range(setting, value, low, high)
        };
        RANGES.iter().filter_map(refusal).collect()
    }
}

impl Gateway {
    /// The longest lifetime of a signed request must not exceed the retention of account-action
    /// references, which make repeats safe. CORS origins must have the form that browsers send.
    fn check(&self, refusals: &mut Vec<Refusal>) {
        let setting = "gateway.connections_per_address";
        let per_address = self.connections_per_address.into();
        refusals.extend(out_of_range(setting, per_address, 1, self.connections));
        let (past, future) = (self.timestamp_past_seconds, self.timestamp_future_seconds);
        refusals.extend(Refusal::unless(
            u64::from(past) + u64::from(future) <= MAX_TIMESTAMP_WINDOW_SECONDS,
            "gateway.timestamp_past_seconds",
            &past,
            format_args!(
                "{MAX_TIMESTAMP_WINDOW_SECONDS} together with gateway.timestamp_future_seconds, which \
                 is {future}: account actions are remembered that long"
            ),
        ));
        for origin in &self.cors_origins {
            let refused = Origin::parse(origin).err();
            let refusal = |why| Refusal::failed("gateway.cors_origins", origin, why);
            refusals.extend(refused.map(refusal));
        }
    }
}

impl Webhooks {
    fn check(&self, refusals: &mut Vec<Refusal>) {
        let is_url = |text: &str| text.starts_with("https://") || text.starts_with("http://");
        let allowed = "a URL of https or http, or empty for none";
        let is_right = self.url.is_empty() || is_url(&self.url);
        refusals.extend(Refusal::unless(
            is_right,
            "webhooks.url",
            &self.url,
            allowed,
        ));
        let is_signed = self.url.is_empty() || !self.secret_file.as_os_str().is_empty();
        let (file, allowed) = (&self.secret_file, "a file with a secret, mode 600");
        refusals.extend(Refusal::unless(
            is_signed,
            "webhooks.secret_file",
            file,
            allowed,
        ));
    }
}

impl Site {
    fn check(&self, refusals: &mut Vec<Refusal>) {
        for (setting, text, shortest, longest) in [
            ("site.name", &self.name, 1, 64),
            ("site.currency_symbol", &self.currency_symbol, 0, 8),
            ("site.currency_code", &self.currency_code, 1, 8),
        ] {
            let length = text.chars().count();
            refusals.extend(Refusal::unless(
                (shortest..=longest).contains(&length) && !text.chars().any(char::is_control),
                setting,
                text,
                format_args!("{shortest} to {longest} characters"),
            ));
        }
        let code = &self.currency_code;
        refusals.extend(Refusal::unless(
            code.chars().all(|letter| letter.is_ascii_alphabetic()),
            "site.currency_code",
            code,
            "letters",
        ));
    }
}

impl Catalog {
    /// Limits for applying catalog changes to the exchange without consent.
    ///
    /// # Errors
    /// `finest_tick` is not a valid tick.
    pub(crate) fn policy(&self) -> Result<Policy, Refusal> {
        let finest_tick = tick(&self.finest_tick)
            .ok_or_else(|| Refusal::new("catalog.finest_tick", &self.finest_tick, TICKS))?;
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
    pub(crate) fn creators(&self) -> Result<Sites, Refusal> {
        let site = |(site, creators): (&String, &Vec<String>)| {
            let creators = creators.iter().map(|text| creator(site, text));
            Ok((site.clone(), creators.collect::<Result<_, _>>()?))
        };
        self.sites.iter().map(site).collect()
    }

    fn check(&self, refusals: &mut Vec<Refusal>) {
        refusals.extend(self.policy().err());
        for (site, creators) in &self.sites {
            refusals.extend(creators.iter().filter_map(|text| creator(site, text).err()));
        }
    }
}

fn creator(site: &str, text: &String) -> Result<WalletAddress, Refusal> {
    let setting = || format!("catalog.sites.{site}");
    typed_address(text).ok_or_else(|| Refusal::new(&setting(), text, ADDRESS))
}

impl Signing {
    /// The signing domains, numbered from 1 in order. Engine and gateways use this same parser, so
    /// settings that pass the check are accepted at their start.
    ///
    /// # Errors
    /// An entry is malformed, or the set as a whole cannot be used.
    pub(crate) fn parsed(&self) -> Result<Domains, Refusal> {
        let domains = (1..=u8::MAX).zip(&self.domains);
        let domains = domains.map(|(number, domain)| domain.parsed(number, self.chain));
        let domains = domains.collect::<Result<_, _>>()?;
        Domains::new(self.chain, domains, self.allow_shared_domain)
            .map_err(|error| Refusal::other("signing", format!("signing: {error}")))
    }

    fn check(&self, refusals: &mut Vec<Refusal>) {
        let domains = (1..=u8::MAX).zip(&self.domains);
        let refused: Vec<_> = domains
            .filter_map(|(number, domain)| domain.parsed(number, self.chain).err())
            .collect();
        if refused.is_empty() {
            refusals.extend(self.parsed().err());
        }
        refusals.extend(refused);
    }
}

impl SigningDomain {
    fn parsed(&self, number: u8, chain: u64) -> Result<Domain, Refusal> {
        let entry = || format!("signing.domains[{}]", number - 1);
        let contract = typed_address(&self.contract)
            .ok_or_else(|| Refusal::new(&(entry() + ".contract"), &self.contract, ADDRESS))?;
        let markets = match self.markets {
            DomainMarkets::Plain => Markets::Plain,
            DomainMarkets::NegRisk => Markets::NegRisk,
            DomainMarkets::All => Markets::Both,
        };
        let (name, version) = (&self.name, &self.version);
        Domain::new(
            DomainNumber(number),
            name,
            version,
            chain,
            contract,
            markets,
        )
        .map_err(|error| Refusal::other(&entry(), format!("{}: {error}", entry())))
    }
}

fn out_of_range(setting: &str, value: i64, low: u32, high: u32) -> Option<Refusal> {
    let is_allowed = (i64::from(low)..=i64::from(high)).contains(&value);
    Refusal::unless(is_allowed, setting, &value, format_args!("{low} to {high}"))
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
            let refusals = config.refusals();
            refusals
                .first()
                .map(ToString::to_string)
                .expect("one is refused")
        };
        let text = wrong(|catalog| catalog.finest_tick = "0.002".to_owned());
        assert!(text.contains("catalog.finest_tick is \"0.002\""), "{text}");
        let text = wrong(|catalog| catalog.early_close_percent = 101);
        assert!(text.contains("allowed: 0 to 100"), "{text}");
        let text = wrong(|catalog| catalog.new_markets = 127);
        assert!(text.contains("allowed: 128 to"), "{text}");
    }
}
