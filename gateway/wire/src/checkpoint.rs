//! JSON of signed checkpoints (docs/api/operator.md §5).

use foretell_checkpoint::SignedCheckpoint;
use foretell_model::command::Begin;
use serde::Serialize;

use crate::schema::JsonSchema;
use crate::values;

/// A signed checkpoint.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Checkpoint")]
pub struct CheckpointRow {
    /// Identity of the journal.
    #[schemars(with = "values::Hash")]
    genesis: String,
    /// Sequence of the last command of a batch.
    sequence: u64,
    /// Hash chain of the journal up to and including that batch.
    #[schemars(with = "values::Hash")]
    chain: String,
    /// Digest of the state after that command.
    #[schemars(with = "values::Hash")]
    digest: String,
    /// Time of signing, unix milliseconds.
    time: u64,
    /// The Ed25519 key.
    #[schemars(with = "values::Hash")]
    public_key: String,
    /// The Ed25519 signature.
    #[schemars(extend("pattern" = "^0x[0-9a-f]{128}$"))]
    signature: String,
    /// Whether it is of a sandbox: `true`, or absent.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    sandbox: bool,
    /// The commands up to this time are simulated, unix milliseconds; absent on a real exchange.
    #[serde(skip_serializing_if = "Option::is_none")]
    simulated_until: Option<u64>,
}

impl CheckpointRow {
    /// The row of a checkpoint of the journal with this `genesis`, which began as `begin` says.
    #[must_use]
    pub fn new(genesis: &[u8; 32], begin: &Begin, signed: &SignedCheckpoint) -> Self {
        let hex = |bytes: &[u8]| format!("0x{}", hex::encode(bytes));
        Self {
            genesis: hex(genesis),
            sequence: signed.checkpoint.sequence.0,
            chain: hex(&signed.checkpoint.chain),
            digest: hex(&signed.checkpoint.digest),
            time: signed.checkpoint.time.0,
            public_key: hex(&signed.public_key),
            signature: hex(&signed.signature),
            sandbox: begin.sandbox,
            simulated_until: begin.simulated_until().map(|until| until.millis().0),
        }
    }

    /// The last sequence it covers.
    #[must_use]
    pub const fn sequence(&self) -> u64 {
        self.sequence
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell_checkpoint::{Checkpoint, Signer};
    use foretell_model::{Sequence, TimeMs, TimeNs};

    #[test]
    fn every_part_has_its_name() {
        let checkpoint = Checkpoint {
            sequence: Sequence(12),
            chain: [1; 32],
            digest: [2; 32],
            time: TimeMs(34),
        };
        let signed = Signer::from_secret(&[9; 32]).sign(&[7; 32], checkpoint);
        let text = crate::json_text(&CheckpointRow::new(&[7; 32], &Begin::default(), &signed));
        let repeated = |digits: &str| format!("0x{}", digits.repeat(32));
        let begin = format!(
            r#"{{"genesis":"{}","sequence":12,"chain":"{}","digest":"{}","time":34,"publicKey":"0x"#,
            repeated("07"),
            repeated("01"),
            repeated("02")
        );
        assert!(text.starts_with(&begin), "{text}");
        assert!(text.contains(r#","signature":"0x"#), "{text}");
        assert!(
            !text.contains("sandbox") && !text.contains("simulated"),
            "{text}"
        );
        let begin = Begin {
            sandbox: true,
            simulated_until: TimeNs(5_000_000),
            ..Begin::default()
        };
        let text = crate::json_text(&CheckpointRow::new(&[7; 32], &begin, &signed));
        assert!(
            text.ends_with(r#","sandbox":true,"simulatedUntil":5}"#),
            "{text}"
        );
    }
}
