//! A placed quote as the order that it is, and the evidence of sets.

use foretell_model::command::SetQuotes;
use foretell_model::event::QuotePlaced;
use foretell_model::evidence::QuotesEvidence;
use foretell_model::{Command, PlaceOrder, WalletAddress};

/// The order of a quote that the frame of this command placed.
pub(crate) fn order_of(command: &Command, beside: &[u8], placed: &QuotePlaced) -> PlaceOrder {
    let Command::SetQuotes(set) = command else {
        panic!("{command:?} placed a quote");
    };
    let order = set.order(beside, placed);
    order.expect("a set that places has a tail")
}

/// The bytes beside an applied set of a builder: its tail, and evidence of nobody.
pub(crate) fn beside_with_builder(set: &SetQuotes, beside: &[u8], builder: [u8; 32]) -> Vec<u8> {
    let lists = set.lists(beside).expect("a set with its tail");
    let mut bytes = beside[..beside.len() - lists.evidence.len()].to_vec();
    QuotesEvidence {
        signer: WalletAddress::ZERO,
        signature_type: 0,
        builder,
        chain: 1,
        signature: &[1; 65],
    }
    .encode(&mut bytes);
    bytes
}
