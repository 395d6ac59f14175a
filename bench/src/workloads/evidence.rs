//! Evidence for the orders of a generated journal: the bytes a gateway would send, consistent with
//! the command.

use foretell_auth::signing::signed_order_id;
use foretell_auth::{Domain, OrderFields, Signer};
use foretell_model::command::RegisterDomain;
use foretell_model::evidence::OrderEvidence;
use foretell_model::{Command, Outcome, PlaceOrder, WalletAddress, WalletKind};

use super::random::random_bytes;
use super::{signed_orders, venue};
use crate::error::MeasureError;

const SIGNATURE_BYTES: usize = 65;
/// Marks the seeds of signatures; those of salts are below.
const SIGNATURE_SEEDS: u64 = 1 << 32;

/// Makes the evidence of orders.
pub(crate) struct Evidence {
    domain: Domain,
    bytes: Vec<u8>,
}

impl Evidence {
    /// For orders of plain markets.
    pub(crate) fn new() -> Result<Self, MeasureError> {
        Ok(Self {
            domain: signed_orders::domain(false)?,
            bytes: Vec::new(),
        })
    }

    /// The command that registers the signing domain, with its evidence.
    pub(crate) fn registration(&self) -> (Command, Vec<u8>) {
        let command = Command::RegisterDomain(RegisterDomain {
            domain: self.domain.number(),
            separator: *self.domain.separator(),
        });
        (command, self.domain.text().bytes().collect())
    }

    /// Evidence with a random signature in place of `wallet`'s, which costs no time.
    pub(crate) fn unsigned(
        &mut self,
        order: &PlaceOrder,
        number: u32,
        wallet: WalletAddress,
    ) -> &[u8] {
        let noise: [u8; SIGNATURE_BYTES] = random_bytes(SIGNATURE_SEEDS | u64::from(number));
        self.encode(&fields_of(order, number, wallet), &noise)
    }

    /// Signs an order and sets its id from its fields.
    pub(crate) fn signed(&mut self, order: &mut PlaceOrder, number: u32, signer: &Signer) -> &[u8] {
        let fields = fields_of(order, number, signer.address());
        order.order = signed_order_id(&fields, &self.domain);
        let signature = signer.sign_order(&fields, &self.domain);
        self.encode(&fields, &signature)
    }

    fn encode(&mut self, fields: &OrderFields, signature: &[u8]) -> &[u8] {
        self.bytes.clear();
        OrderEvidence {
            words: &fields.words(),
            domain: self.domain.number(),
            signature,
        }
        .encode(&mut self.bytes);
        &self.bytes
    }
}

/// The signed fields of a placement.
fn fields_of(order: &PlaceOrder, number: u32, wallet: WalletAddress) -> OrderFields {
    let [yes, no] = venue::tokens(order.market.0);
    OrderFields {
        salt: random_bytes(number.into()),
        maker: wallet,
        signer: wallet,
        token: match order.outcome {
            Outcome::Yes => yes,
            Outcome::No => no,
        },
        maker_amount: order.maker_amount,
        taker_amount: order.taker_amount,
        side: order.side,
        signature_type: WalletKind::Eoa,
        timestamp: order.timestamp,
        metadata: [0; 32],
        builder: [0; 32],
    }
}
