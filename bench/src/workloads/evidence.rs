//! Evidence for the orders of a generated journal: the bytes a gateway would send, consistent with
//! the command.

use foretell_auth::signing::signed_order_id;
use foretell_auth::{Domain, Domains, OrderFields, Signer};
use foretell_model::evidence::OrderEvidence;
use foretell_model::{Command, Outcome, PlaceOrder, TokenId, WalletAddress, WalletKind};

use crate::error::MeasureError;
use crate::workloads::journal_writer::{name, random_bytes};

pub(crate) const SIGNATURE_BYTES: usize = 65;

/// Makes the evidence of orders.
pub(crate) struct Evidence {
    domain: Domain,
    bytes: Vec<u8>,
}

impl Evidence {
    /// For orders of plain markets.
    pub(crate) fn new() -> Result<Self, MeasureError> {
        let domains = Domains::default();
        let first = domains.candidates(false).next().cloned();
        let domain =
            first.ok_or_else(|| MeasureError::Wrong("there is no signing domain".to_owned()))?;
        Ok(Self {
            domain,
            bytes: Vec::new(),
        })
    }

    /// The command that registers the signing domain, with its evidence.
    pub(crate) fn registration(&self) -> (Command, Vec<u8>) {
        let command = Command::RegisterDomain {
            domain: self.domain.number(),
            separator: *self.domain.separator(),
        };
        (command, self.domain.text().bytes().collect())
    }

    /// Evidence with a random signature in place of `wallet`'s, which costs no time.
    pub(crate) fn unsigned(
        &mut self,
        order: &PlaceOrder,
        number: u32,
        wallet: WalletAddress,
    ) -> &[u8] {
        let mut noise = [0; SIGNATURE_BYTES];
        random_bytes(u64::from(number) << 8 | 0x80, &mut noise);
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

/// The signed fields of a placement in a market whose token ids derive from its number.
fn fields_of(order: &PlaceOrder, number: u32, wallet: WalletAddress) -> OrderFields {
    let mut salt = [0; 32];
    random_bytes(u64::from(number) << 8, &mut salt);
    let kind = match order.outcome {
        Outcome::Yes => 1,
        Outcome::No => 2,
    };
    OrderFields {
        salt,
        maker: wallet,
        signer: wallet,
        token: TokenId(name(order.market.0, kind)),
        maker_amount: order.maker_amount,
        taker_amount: order.taker_amount,
        side: order.side,
        signature_type: WalletKind::Eoa,
        timestamp: order.timestamp,
        metadata: [0; 32],
        builder: [0; 32],
    }
}
