//! `POST /sandbox/wallets`: a wallet with a private key, an API key and collateral.

use foretell_auth::text::checksum_address;
use foretell_auth::{KeyOrigin, Signer};
use foretell_model::command::{BindWallet, Deposit, RegisterKey};
use foretell_model::{Command, Micros, Reference, WalletAddress, WalletKind};
use foretell_wire::ErrorCode;
use foretell_wire::operator::{CreatedWallet, WalletCreation};
use foretell_wire::text::ids::hex_text;

use super::{ensure_sandbox, random};
use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::FromBody;
use crate::http::request_context::RequestContext;

/// The nonce of the API key, which stock clients use too.
const NONCE: [u8; 32] = [0; 32];

/// Registers the API key of a new private key, binds a trading wallet of another kind, and deposits.
pub(crate) async fn create(
    context: RequestContext,
    FromBody(WalletCreation { kind, amount }): FromBody<WalletCreation>,
) -> Result<Json<CreatedWallet>, Failure> {
    ensure_sandbox(&context.app)?;
    let (private_key, owner) = new_key()?;
    let origin = KeyOrigin {
        owner,
        nonce: NONCE,
    };
    let auth = &context.app.auth;
    let trio = auth.master.trio(&origin, auth.domains.chain_id());
    let register = Command::RegisterKey(RegisterKey {
        owner,
        nonce: NONCE,
        api_key: trio.api_key,
        read_only: false,
    });
    let mut done = context.command(register, &[]).await?;
    let kind = kind.unwrap_or(WalletKind::Eoa);
    let funder = match kind {
        WalletKind::Eoa => owner,
        _ => WalletAddress(random()?),
    };
    if kind != WalletKind::Eoa {
        let bind = Command::BindWallet(BindWallet {
            owner,
            wallet: funder,
            kind,
        });
        done = context.command(bind, &[]).await?;
    }
    if let Some(amount) = amount {
        let reference = format!("sandbox {funder}");
        done = context
            .command(deposit(funder, amount, &reference), reference.as_bytes())
            .await?;
    }
    Ok(Json::of(&CreatedWallet {
        success: true,
        sequence: done.reached.0,
        address: checksum_address(owner),
        private_key: hex_text(&private_key),
        kind,
        signature_type: kind.code(),
        funder: checksum_address(funder),
        api_key: trio.api_key,
        secret: trio.secret.text().to_string(),
        passphrase: trio.passphrase.text().to_string(),
    }))
}

/// A random private key and its address.
fn new_key() -> Result<([u8; 32], WalletAddress), ErrorCode> {
    loop {
        let key = random()?;
        // Nearly every number is a key.
        if let Some(signer) = Signer::from_bytes(&key) {
            return Ok((key, signer.address()));
        }
    }
}

fn deposit(wallet: WalletAddress, amount: Micros, reference: &str) -> Command {
    Command::Deposit(Deposit {
        wallet,
        amount,
        reference: Reference::of(reference),
    })
}
