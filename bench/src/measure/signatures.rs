//! Time to check one signature, single-threaded: libsecp256k1's recovery, and the check of a signer whose key is known.
//! The lanes alternate per signature.

use clap::Args;
use foretell_auth::signature::Signature;
use foretell_auth::{KnownSigner, Signer};

use crate::error::MeasureError;
use crate::harness::latency::Stopwatch;
use crate::harness::rounds::Rounds;
use crate::report::{Goal, Report};
use crate::workloads::signed_orders::numbered_signer;

/// Maximum ratio of a known signer to recovery, both medians.
const GOAL_RATIO: f64 = 0.6;
/// Timed lanes.
const LANES: [&str; 4] = [
    "recovery",
    "known signer, one",
    "known signer, of many",
    "table of a signer",
];

/// Arguments of `foretell-bench signatures`.
#[derive(Debug, Args)]
pub struct SignaturesScope {
    /// Signatures of each round
    #[arg(long, default_value_t = 5_000, value_parser = clap::value_parser!(u32).range(1..))]
    signatures: u32,
    /// Signers, in turn
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    signers: u32,
    /// Rounds; each ratio is their median
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

/// Checks signatures in rounds.
pub(super) fn measure(scope: &SignaturesScope) -> Result<Report, MeasureError> {
    let mut report = Report::begin("signatures", "processor");
    let many = (0..scope.signers).map(Party::new);
    let many: Vec<Party> = many.collect::<Result<_, _>>()?;
    let mut timed = LANES.map(Rounds::new);
    for round in 0..=scope.rounds {
        let begun = report.elapsed();
        let times = lap(round, scope.signatures, &many)?;
        // The first round warms up tables and caches.
        for (lane, times) in timed.iter_mut().zip(&times).filter(|_| round > 0) {
            lane.push(&mut report, begun, times);
        }
    }
    report.scope = format!(
        "{} signatures of {} signers, each accepted; {} KiB of table a signer",
        scope.signatures * scope.rounds,
        scope.signers,
        KnownSigner::BYTES / 1_024
    );
    report.measures = timed.iter().map(Rounds::medians).collect();
    report.rounds = report.measures[0].rounds.len();
    let (recovery, rest) = report.measures.split_at_mut(1);
    for known in &mut rest[..2] {
        *known = known.clone().over(&recovery[0]);
        let goal = Goal::at_most(
            format!("{} / recovery", known.name),
            GOAL_RATIO,
            known.ratio(),
        );
        report.goals.push(goal);
    }
    Ok(report.end())
}

/// A signer and its table.
struct Party {
    signer: Signer,
    known: KnownSigner,
}

impl Party {
    fn new(number: u32) -> Result<Self, MeasureError> {
        let signer = numbered_signer(number)?;
        let known = KnownSigner::new(&signer.public_key());
        let known = known.ok_or_else(|| MeasureError::wrong("a key is not on the curve"))?;
        Ok(Self { signer, known })
    }
}

fn lap(
    round: u32,
    signatures: u32,
    many: &[Party],
) -> Result<[Stopwatch; LANES.len()], MeasureError> {
    let mut times = LANES.map(|_| Stopwatch::new());
    let [recovery, one, of_many, table] = &mut times;
    for number in 0..signatures {
        let mut digest = [0x5A; 32];
        digest[..4].copy_from_slice(&round.to_be_bytes());
        digest[4..8].copy_from_slice(&number.to_be_bytes());
        let signed = |party: &Party| Signature::parse(&party.signer.sign_digest(&digest));
        let party = &many[number as usize % many.len()];
        let wrong = |_| MeasureError::wrong("a signature is malformed");
        let (first, signature) = (
            signed(&many[0]).map_err(wrong)?,
            signed(party).map_err(wrong)?,
        );

        let recovered = recovery.time(|| signature.recover(&digest));
        let is_ours = recovered == Ok(party.signer.address())
            && one.time(|| many[0].known.signed(&digest, &first))
            && of_many.time(|| party.known.signed(&digest, &signature));
        if !is_ours {
            return Err(MeasureError::wrong("a signature was not accepted"));
        }
        if number % 100 == 0 {
            table.time(|| KnownSigner::new(&party.signer.public_key()));
        }
    }
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_signature_of_a_run_is_accepted() {
        let scope = SignaturesScope {
            signatures: 7,
            signers: 3,
            rounds: 2,
        };
        let report = measure(&scope).unwrap();
        assert_eq!(report.rounds, 2);
        assert_eq!(report.goals.len(), 2);
        assert_eq!(report.recordings[0].total().unwrap().len(), 14);
    }
}
