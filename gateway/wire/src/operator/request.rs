//! Bodies of the operator's commands, except registrations.

use foretell_model::{
    ApiKey, ConditionId, DomainNumber, FeeSchedule, Lots, Micros, Payout, Settings, SystemMode,
    Tick, WalletAddress, WalletKind,
};

use super::description::DomainDescription;
use super::strict::StrictObject;
use crate::action::{REFERENCE_ALLOWED, is_reference};
use crate::api_error::ApiError;
use crate::decimal;
use crate::ids;

pub(super) const CONDITION: &str = "a condition id, 0x and 64 hex digits";
pub(super) const ADDRESS: &str = "an address, 0x and 40 hex digits";
pub(super) const SHARES: &str = "a text, shares with up to two decimals";
pub(super) const TICKS: &str = "a text: 0.1, 0.01, 0.001 or 0.0001";
const COLLATERAL: &str = "a text, whole units with up to six decimals, above 0";

/// A deposit or a withdrawal: `{wallet, amount, reference}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The wallet.
    pub wallet: WalletAddress,
    /// The amount, above 0.
    pub amount: Micros,
    /// Idempotency reference.
    pub reference: String,
}

/// Reads a deposit or a withdrawal.
///
/// # Errors
/// A field that is missing, wrong or unknown.
pub fn read_transfer(body: &[u8]) -> Result<Transfer, ApiError> {
    let mut copy = Vec::new();
    let fields = StrictObject::body(body, &mut copy, &["wallet", "amount", "reference"])?;
    Ok(Transfer {
        wallet: fields.read("wallet", ADDRESS, ids::address)?,
        amount: amount(&fields)?,
        reference: reference(&fields)?,
    })
}

/// A withdrawal from the fee account: `{amount, reference}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeesWithdrawal {
    /// The amount, above 0.
    pub amount: Micros,
    /// Idempotency reference.
    pub reference: String,
}

/// Reads a withdrawal of fees.
///
/// # Errors
/// A field that is missing, wrong or unknown.
pub fn read_fees_withdrawal(body: &[u8]) -> Result<FeesWithdrawal, ApiError> {
    let mut copy = Vec::new();
    let fields = StrictObject::body(body, &mut copy, &["amount", "reference"])?;
    Ok(FeesWithdrawal {
        amount: amount(&fields)?,
        reference: reference(&fields)?,
    })
}

fn amount(fields: &StrictObject<'_>) -> Result<Micros, ApiError> {
    fields.read("amount", COLLATERAL, |text| {
        decimal::micros(text).filter(|amount| !amount.is_zero())
    })
}

fn reference(fields: &StrictObject<'_>) -> Result<String, ApiError> {
    fields.read("reference", REFERENCE_ALLOWED, |text| {
        is_reference(text).then(|| text.to_owned())
    })
}

/// A binding: `{owner, wallet, kind}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The owner.
    pub owner: WalletAddress,
    /// The wallet to bind.
    pub wallet: WalletAddress,
    /// Its kind: proxy, safe or deposit.
    pub kind: WalletKind,
}

/// Reads a binding.
///
/// # Errors
/// A field that is missing, wrong or unknown.
pub fn read_binding(body: &[u8]) -> Result<Binding, ApiError> {
    let mut copy = Vec::new();
    let fields = StrictObject::body(body, &mut copy, &["owner", "wallet", "kind"])?;
    Ok(Binding {
        owner: fields.read("owner", ADDRESS, ids::address)?,
        wallet: fields.read("wallet", ADDRESS, ids::address)?,
        kind: fields.read("kind", "proxy, safe or deposit", |text| {
            WalletKind::ALL
                .iter()
                .copied()
                .find(|kind| *kind != WalletKind::Eoa && wallet_kind_word(*kind) == text)
        })?,
    })
}

/// The word for a wallet kind.
#[must_use]
pub const fn wallet_kind_word(kind: WalletKind) -> &'static str {
    match kind {
        WalletKind::Eoa => "eoa",
        WalletKind::Proxy => "proxy",
        WalletKind::Safe => "safe",
        WalletKind::Deposit => "deposit",
    }
}

/// Reads an unbinding: `{wallet}`.
///
/// # Errors
/// A field that is missing, wrong or unknown.
pub fn read_unbinding(body: &[u8]) -> Result<WalletAddress, ApiError> {
    let mut copy = Vec::new();
    StrictObject::body(body, &mut copy, &["wallet"])?.read("wallet", ADDRESS, ids::address)
}

/// Whether an account may only reduce positions: `{wallet, closed_only}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClosedOnly {
    /// The wallet.
    pub wallet: WalletAddress,
    /// On or off.
    pub closed_only: bool,
}

/// Reads a closed-only change.
///
/// # Errors
/// A field that is missing, wrong or unknown.
pub fn read_closed_only(body: &[u8]) -> Result<ClosedOnly, ApiError> {
    let mut copy = Vec::new();
    let fields = StrictObject::body(body, &mut copy, &["wallet", "closed_only"])?;
    Ok(ClosedOnly {
        wallet: fields.read("wallet", ADDRESS, ids::address)?,
        closed_only: fields.required_flag("closed_only")?,
    })
}

/// Reads the market to activate, pause, resume or close: `{condition_id}`.
///
/// # Errors
/// A field that is missing, wrong or unknown.
pub fn read_market_name(body: &[u8]) -> Result<ConditionId, ApiError> {
    let mut copy = Vec::new();
    condition(&StrictObject::body(body, &mut copy, &["condition_id"])?)
}

pub(super) fn condition(fields: &StrictObject<'_>) -> Result<ConditionId, ApiError> {
    fields.read("condition_id", CONDITION, ids::condition_id)
}

/// The payout of a market: `{condition_id, payout}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolution {
    /// The market.
    pub condition: ConditionId,
    /// `yes`, `no` or `half`.
    pub payout: Payout,
}

/// Reads a resolution.
///
/// # Errors
/// A field that is missing, wrong or unknown.
pub fn read_resolution(body: &[u8]) -> Result<Resolution, ApiError> {
    let mut copy = Vec::new();
    let fields = StrictObject::body(body, &mut copy, &["condition_id", "payout"])?;
    Ok(Resolution {
        condition: condition(&fields)?,
        payout: fields.read("payout", "yes, no or half", |text| {
            Payout::ALL
                .iter()
                .copied()
                .find(|payout| payout_word(*payout) == text)
        })?,
    })
}

/// The word for a payout.
#[must_use]
pub const fn payout_word(payout: Payout) -> &'static str {
    match payout {
        Payout::Yes => "yes",
        Payout::No => "no",
        Payout::Half => "half",
    }
}

/// Whether a market is hidden from lists: `{condition_id, archived}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Archive {
    /// The market.
    pub condition: ConditionId,
    /// Hidden or not.
    pub archived: bool,
}

/// Reads an archive change.
///
/// # Errors
/// A field that is missing, wrong or unknown.
pub fn read_archive(body: &[u8]) -> Result<Archive, ApiError> {
    let mut copy = Vec::new();
    let fields = StrictObject::body(body, &mut copy, &["condition_id", "archived"])?;
    Ok(Archive {
        condition: condition(&fields)?,
        archived: fields.required_flag("archived")?,
    })
}

/// A finer tick: `{condition_id, tick_size}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TickChange {
    /// The market.
    pub condition: ConditionId,
    /// The new tick.
    pub tick: Tick,
}

/// Reads a tick change.
///
/// # Errors
/// A field that is missing, wrong or unknown.
pub fn read_tick(body: &[u8]) -> Result<TickChange, ApiError> {
    let mut copy = Vec::new();
    let fields = StrictObject::body(body, &mut copy, &["condition_id", "tick_size"])?;
    Ok(TickChange {
        condition: condition(&fields)?,
        tick: fields.read("tick_size", TICKS, decimal::tick)?,
    })
}

/// A new minimum order size: `{condition_id, minimum_order_size}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinimumChange {
    /// The market.
    pub condition: ConditionId,
    /// The new minimum.
    pub minimum_size: Lots,
}

/// Reads a change of the minimum.
///
/// # Errors
/// A field that is missing, wrong or unknown.
pub fn read_minimum(body: &[u8]) -> Result<MinimumChange, ApiError> {
    let mut copy = Vec::new();
    let fields = StrictObject::body(body, &mut copy, &["condition_id", "minimum_order_size"])?;
    Ok(MinimumChange {
        condition: condition(&fields)?,
        minimum_size: fields.read("minimum_order_size", SHARES, decimal::lots)?,
    })
}

/// A new taker fee: `{condition_id, rate_ppm, exponent}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeeChange {
    /// The market.
    pub condition: ConditionId,
    /// The new schedule.
    pub fee: FeeSchedule,
}

/// Reads a fee change.
///
/// # Errors
/// A field that is missing, wrong or unknown.
pub fn read_fee(body: &[u8]) -> Result<FeeChange, ApiError> {
    let mut copy = Vec::new();
    let fields = StrictObject::body(body, &mut copy, &["condition_id", "rate_ppm", "exponent"])?;
    Ok(FeeChange {
        condition: condition(&fields)?,
        fee: fee(&fields)?,
    })
}

pub(super) fn fee(fields: &StrictObject<'_>) -> Result<FeeSchedule, ApiError> {
    Ok(FeeSchedule {
        rate_ppm: fields.required_number("rate_ppm", "a number, 0 to 1000000")?,
        exponent: fields.required_number("exponent", "a number, 0 to 2")?,
    })
}

/// A permanent revocation of a key: `{api_key, cancel_orders?}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyRevocation {
    /// The key.
    pub api_key: ApiKey,
    /// Whether to cancel its owner's orders too; false by default.
    pub cancel_orders: bool,
}

/// Reads a revocation.
///
/// # Errors
/// A field that is missing, wrong or unknown.
pub fn read_key_revocation(body: &[u8]) -> Result<KeyRevocation, ApiError> {
    let mut copy = Vec::new();
    let fields = StrictObject::body(body, &mut copy, &["api_key", "cancel_orders"])?;
    Ok(KeyRevocation {
        api_key: fields.read("api_key", "an api key, a UUID", ids::api_key)?,
        cancel_orders: fields.flag("cancel_orders")?.unwrap_or(false),
    })
}

/// Reads the system's mode: `{mode}`.
///
/// # Errors
/// A field that is missing, wrong or unknown.
pub fn read_mode(body: &[u8]) -> Result<SystemMode, ApiError> {
    const ALLOWED: &str = "running, post_only, cancel_only or paused";
    let mut copy = Vec::new();
    StrictObject::body(body, &mut copy, &["mode"])?.read("mode", ALLOWED, |text| {
        SystemMode::ALL
            .iter()
            .copied()
            .find(|mode| mode_word(*mode) == text)
    })
}

/// The word for a mode.
#[must_use]
pub const fn mode_word(mode: SystemMode) -> &'static str {
    match mode {
        SystemMode::Running => "running",
        SystemMode::PostOnly => "post_only",
        SystemMode::CancelOnly => "cancel_only",
        SystemMode::Paused => "paused",
    }
}

/// A change of the core's settings; absent settings stay. `marketable_minimum` is in whole units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SettingsChange {
    /// See [`Settings::timestamp_past_ms`].
    pub timestamp_past_ms: Option<u64>,
    /// See [`Settings::timestamp_future_ms`].
    pub timestamp_future_ms: Option<u64>,
    /// See [`Settings::marketable_minimum`].
    pub marketable_minimum: Option<Micros>,
    /// See [`Settings::gtd_safety_seconds`].
    pub gtd_safety_seconds: Option<u64>,
    /// See [`Settings::live_orders_per_account`].
    pub live_orders_per_account: Option<u32>,
    /// See [`Settings::remembered_order_ids`].
    pub remembered_order_ids: Option<u32>,
}

impl SettingsChange {
    /// Applies the change to the current settings.
    #[must_use]
    pub fn applied_to(self, now: Settings) -> Settings {
        Settings {
            timestamp_past_ms: self.timestamp_past_ms.unwrap_or(now.timestamp_past_ms),
            timestamp_future_ms: self.timestamp_future_ms.unwrap_or(now.timestamp_future_ms),
            marketable_minimum: self.marketable_minimum.unwrap_or(now.marketable_minimum),
            gtd_safety_seconds: self.gtd_safety_seconds.unwrap_or(now.gtd_safety_seconds),
            live_orders_per_account: self
                .live_orders_per_account
                .unwrap_or(now.live_orders_per_account),
            remembered_order_ids: self
                .remembered_order_ids
                .unwrap_or(now.remembered_order_ids),
        }
    }
}

/// Reads a change of settings. The core checks the bounds.
///
/// # Errors
/// A field that is wrong or unknown.
pub fn read_settings(body: &[u8]) -> Result<SettingsChange, ApiError> {
    const KNOWN: &[&str] = &[
        "timestamp_past_ms",
        "timestamp_future_ms",
        "marketable_minimum",
        "gtd_safety_seconds",
        "live_orders_per_account",
        "remembered_order_ids",
    ];
    const MINIMUM: &str = "a text, whole units with up to six decimals";
    const NUMBER: &str = "a number";
    let mut copy = Vec::new();
    let fields = StrictObject::body(body, &mut copy, KNOWN)?;
    Ok(SettingsChange {
        timestamp_past_ms: fields.number("timestamp_past_ms", NUMBER)?,
        timestamp_future_ms: fields.number("timestamp_future_ms", NUMBER)?,
        marketable_minimum: fields.optional("marketable_minimum", MINIMUM, decimal::micros)?,
        gtd_safety_seconds: fields.number("gtd_safety_seconds", NUMBER)?,
        live_orders_per_account: fields.number("live_orders_per_account", NUMBER)?,
        remembered_order_ids: fields.number("remembered_order_ids", NUMBER)?,
    })
}

/// A signing domain: `{number, name, version, chain_id, verifying_contract}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Domain {
    /// Its permanent number.
    pub number: DomainNumber,
    /// The fields of its separator; the evidence of its registration.
    pub description: DomainDescription,
}

/// Reads a signing domain.
///
/// # Errors
/// A field that is missing, wrong or unknown.
pub fn read_domain(body: &[u8]) -> Result<Domain, ApiError> {
    const KNOWN: &[&str] = &[
        "number",
        "name",
        "version",
        "chain_id",
        "verifying_contract",
    ];
    const TEXT: &str = "a text of 1 to 128 bytes";
    let text = |text: &str| (1..=128).contains(&text.len()).then(|| text.to_owned());
    let mut copy = Vec::new();
    let fields = StrictObject::body(body, &mut copy, KNOWN)?;
    let contract = fields.read("verifying_contract", ADDRESS, ids::address)?;
    Ok(Domain {
        number: DomainNumber(fields.required_number("number", "a number, 0 to 255")?),
        description: DomainDescription {
            name: fields.read("name", TEXT, text)?,
            version: fields.read("version", TEXT, text)?,
            chain_id: fields.required_number("chain_id", "a number")?,
            verifying_contract: contract.to_string(),
        },
    })
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
