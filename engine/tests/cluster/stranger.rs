//! Whoever can write to the servers of the log, and has no key of the cluster.

use foretell_log_model::Model;
use foretell_replication::{HostRecord, Publish};

use crate::simulation::rng::Rng;

/// Writes one message into the log or one of its records.
pub(super) fn write(model: &Model, rng: &mut Rng) {
    let overheard = model.overheard();
    match rng.below(8) {
        // Garbage, under an id of its own or one that a host has used or is about to use.
        0 => model.intrude(format!("stranger {}", rng.next()), garbage(rng)),
        1 => with(&overheard, rng, |it, rng| {
            model.intrude(it.id.clone(), garbage(rng))
        }),
        // A message of a host again, also one that the log had refused.
        2 | 3 => with(&overheard, rng, |it, rng| {
            model.intrude(format!("again {}", rng.next()), it.payload.clone());
        }),
        4 => with(&overheard, rng, |it, _| {
            model.intrude(it.id.clone(), it.payload.clone())
        }),
        // One with another content or another signature.
        5 => with(&overheard, rng, |it, rng| {
            let mut payload = it.payload.clone();
            let at = rng.index(payload.len());
            payload[at] ^= 1 << rng.below(8);
            model.intrude(format!("spoilt {}", rng.next()), payload);
        }),
        6 => {
            let beats = model.beats();
            if !beats.is_empty() {
                model.put_beat(beats[rng.index(beats.len())].clone());
            }
            model.put_beat(garbage(rng));
        }
        _ => {
            // Hosts of another format do not run side by side.
            let record = HostRecord {
                host: "b".to_owned(),
                role: "standby".to_owned(),
                sequence: u64::MAX,
                message: 0,
                format: 1,
                fingerprint: String::new(),
                wall_ms: u64::MAX / 2,
                place: String::new(),
                life: 1,
                count: u64::MAX,
            };
            let mut payload = vec![7; 65];
            payload[64] = 1;
            payload.push(b'b');
            payload.extend(record.encode());
            model.put_record("b", payload);
        }
    }
}

fn with(overheard: &[Publish], rng: &mut Rng, write: impl FnOnce(&Publish, &mut Rng)) {
    if !overheard.is_empty() {
        write(&overheard[rng.index(overheard.len())], rng);
    }
}

fn garbage(rng: &mut Rng) -> Vec<u8> {
    (0..rng.below(200))
        .map(|_| rng.next().to_le_bytes()[0])
        .collect()
}
