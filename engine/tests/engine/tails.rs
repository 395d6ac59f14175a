//! A list beside a command goes over socket, ring and journal byte for byte, and is read where it lies.

use foretell_journal::Scratch;
use foretell_link::Role;
use foretell_model::command::RegisterDomain;
use foretell_model::limits::MAX_TAIL_BYTES;
use foretell_model::record::Record;
use foretell_model::record::{self};
use foretell_model::tail::Tail;
use foretell_model::{Command, DomainNumber, Lots, MarketNumber, Outcome, Price, Sequence};

use crate::harness::{Engine, config};

/// A command of this test: its fields, which the engine's own command carries as a separator.
type Basket = (MarketNumber, u16);
/// An item of its tail.
type Leg = (Outcome, Price, Lots);

#[test]
fn a_tail_of_8_kib_reaches_the_journal_before_the_evidence() {
    let legs: Vec<Leg> = (1..=u16::try_from(MAX_TAIL_BYTES / Leg::BYTES).unwrap())
        .map(|number| (Outcome::No, Price(number), Lots(number.into())))
        .collect();
    let basket: Basket = (MarketNumber(7), u16::try_from(legs.len()).unwrap());
    let mut separator = [0; 32];
    record::encode(&basket, &mut separator);
    let mut beside = Vec::new();
    Tail::append(&legs, &mut beside);
    beside.extend_from_slice(b"signature");

    let directory = tempfile::tempdir().unwrap();
    let engine = Engine::start(config(directory.path()));
    let domain = DomainNumber(200);
    let command = Command::RegisterDomain(RegisterDomain { domain, separator });
    let reply = engine.client(Role::Operator).ask(command, &beside);
    engine.stop();

    let (mut scratch, mut found) = (Scratch::default(), 0);
    let journal = directory.path().join(foretell_engine::JOURNAL_DIRECTORY);
    foretell_journal::scan(&journal, Sequence(0), &mut |frame| {
        let bytes = frame.bytes().as_ptr_range();
        let frame = frame.decode(&mut scratch).map_err(|e| e.to_string())?;
        if let (Command::RegisterDomain(carrier), true) =
            (frame.command, frame.sequence == reply.sequence)
        {
            let (_, count): Basket = record::decode(&carrier.separator[..Basket::BYTES]).unwrap();
            let (tail, evidence) = Tail::<Leg>::split(frame.evidence, count.into()).unwrap();
            assert!(tail.items().eq(legs.iter().copied().map(Some)));
            assert_eq!(evidence, b"signature");
            assert!(
                bytes.contains(&frame.evidence.as_ptr()),
                "it was not copied"
            );
            found += 1;
        }
        Ok(())
    })
    .unwrap();
    assert_eq!(found, 1);
}
