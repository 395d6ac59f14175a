//! The lives of the engine in one world: each starts on what the one before left, serves under
//! troubles of its own, and ends by a crash, an error or in order. The last one is left in peace.

use foretell_journal::snapshot::newest_image;
use foretell_journal::{Durability, JournalError, marker_path};
use foretell_model::Sequence;

use super::audit::audit;
use super::checks::Promise;
use super::coverage::Situation;
use super::engine::Recovered;
use super::faults::Trouble;
use super::rot;
use super::wishes::WALLETS;
use super::world::World;
use crate::error::EngineError;
use crate::gateways::Ended;

/// Steps in which everything open must be answered when nothing stands in the way.
const PATIENCE: u32 = 100_000;

/// Lives through one world.
pub(super) fn run(world: &World) {
    if world.fate.percent(80) {
        found(world);
    }
    let lives = 2 + world.fate.below(4);
    for life in 0..lives {
        world.fate.note(|| format!("life {life}"));
        let trouble = if world.fate.percent(85) {
            Trouble::draw(&world.fate)
        } else {
            Trouble::default()
        };
        live(world, trouble);
        if world.fate.is_broken() {
            return;
        }
        rot::between_lives(world);
    }
    last_life(world);
}

/// A first life without trouble, in which the exchange comes to have what it trades in. Without it
/// that takes until somewhere in the others.
fn found(world: &World) {
    world.fate.note(|| "the founding".to_owned());
    world.set_calm(true);
    start(world);
    for _ in 0..PATIENCE {
        if world.ledger.borrow().holders.len() == usize::from(WALLETS) || world.fate.is_broken() {
            break;
        }
        world.step();
    }
    world.set_calm(false);
    end(world);
}

fn live(world: &World, trouble: Trouble) {
    world.fate.note(|| format!("  {trouble:?}"));
    world.disk.begin_life(trouble);
    if !start(world) {
        if world.disk.is_dead() {
            world.fate.count(Situation::CrashInRecovery);
            crash(world, true);
        } else {
            world.engine.vanish(world);
        }
        return;
    }
    let length = world.fate.pick(&[60, 300, 600, 1_200]);
    let steps = world.fate.below(length);
    for _ in 0..steps {
        if world.disk.is_dead() || world.engine.ended().is_some() || world.fate.is_broken() {
            break;
        }
        world.step();
    }
    end(world);
}

/// The end of a life, as it came or as it is chosen now.
fn end(world: &World) {
    match world.engine.ended() {
        _ if world.disk.is_dead() => crash(world, true),
        Some(Ended::JournalFailed) => {
            world.fate.count(Situation::EndedByIoError);
            if !marker_path(&world.journal_directory()).exists() {
                let what = || "an I/O error left no marker".to_owned();
                world.fate.broken(Promise::NothingAfterIoError, what);
            }
            world.engine.vanish(world);
        }
        Some(Ended::Stopped) => world.engine.finish(world),
        Some(Ended::PublisherFailed) => {
            let what = || "the publisher failed".to_owned();
            world.fate.broken(Promise::ReplayIsEqual, what);
        }
        None if world.fate.percent(25) => {
            stop(world);
            match world.engine.ended() {
                Some(Ended::Stopped) if !world.disk.is_dead() => world.engine.finish(world),
                _ => crash(world, world.disk.is_dead()),
            }
        }
        None => crash(world, false),
    }
}

/// Asks for a stop and waits for it.
fn stop(world: &World) {
    world.engine.begin_stop();
    for _ in 0..PATIENCE {
        let is_over = world.engine.ended().is_some() || world.disk.is_dead();
        if is_over || world.fate.is_broken() {
            world.fate.count(Situation::StoppedInOrder);
            return;
        }
        world.step();
    }
    let what = || "it does not stop".to_owned();
    world.fate.broken(Promise::Serves, what);
}

/// The process is killed, or the machine loses its power.
fn crash(world: &World, is_inside: bool) {
    use Situation::{
        KilledBetweenSteps, KilledInsideAStep, PowerCutBetweenSteps, PowerCutInsideAStep,
    };
    if let Some((applied, durable)) = world.engine.reached() {
        world.applied.set(applied);
        if applied > durable {
            world.fate.count(Situation::MatcherAheadOfDisk);
        }
    }
    world.disk.die();
    world.engine.vanish(world);
    if world.fate.percent(40) {
        world.fate.note(|| "kill -9".to_owned());
        let inside = [KilledBetweenSteps, KilledInsideAStep];
        world.fate.count(inside[usize::from(is_inside)]);
        return;
    }
    world.fate.note(|| "power cut".to_owned());
    let inside = [PowerCutBetweenSteps, PowerCutInsideAStep];
    world.fate.count(inside[usize::from(is_inside)]);
    for client in world.clients.borrow_mut().iter_mut() {
        client.die();
    }
    for reader in world.readers.borrow_mut().iter_mut().flatten() {
        reader.die();
    }
    world.disk.power_cut();
    written_may_be_lost(world);
    // The control page is of an earlier run of the machine, which its boot id says.
    let control = foretell_journal::control::path(&world.journal_directory());
    let _ = std::fs::remove_file(control);
}

/// At `process` durability the disk may lose what was only written: to a power cut, or to a failed
/// sync. Then what was shown may be gone, and other frames shown in its place before the audit.
fn written_may_be_lost(world: &World) {
    if world.durability() == Durability::Disk {
        return;
    }
    world.may_have_lost.set(true);
    world.ledger.borrow_mut().visible.clear();
    // Answers on their way are as good as lost, too.
    for client in world.clients.borrow_mut().iter_mut() {
        client.die();
    }
    for reader in world.readers.borrow_mut().iter_mut().flatten() {
        reader.die();
    }
}

/// Starts the engine; `false` when it does not serve, as it may. What it recovered is audited.
fn start(world: &World) -> bool {
    let marker = marker_path(&world.journal_directory()).exists();
    let mut started = world.engine.start(world);
    if let Err(EngineError::Journal(JournalError::AfterIoError(_))) = &started {
        world.fate.count(Situation::StartRefusedAfterIoError);
        world
            .fate
            .note(|| "told to start after the I/O error".to_owned());
        world.disk.forget_cache();
        written_may_be_lost(world);
        world.config.borrow_mut().journal.after_io_error = true;
        started = world.engine.start(world);
        world.config.borrow_mut().journal.after_io_error = false;
        if started.is_ok() {
            world.fate.count(Situation::StartedAfterIoError);
        }
    } else if marker && started.is_ok() {
        let what = || "it started after an I/O error without being told to".to_owned();
        world.fate.broken(Promise::DamageIsFound, what);
    }
    match started {
        Ok(recovered) => {
            look(world, recovered);
            true
        }
        Err(error) => {
            let error = world.without_root(&error.to_string());
            world.fate.note(|| format!("no start: {error}"));
            if !world.disk.is_dead() && !world.disk.has_struck() {
                let what = || format!("it does not start: {error}");
                world.fate.broken(Promise::Serves, what);
            }
            false
        }
    }
}

/// Compares what was recovered with what was promised.
fn look(world: &World, recovered: Recovered) {
    let end = recovered.sequence;
    world.fate.note(|| {
        format!(
            "recovered up to {end}, digest {:02x?}",
            &recovered.digest[..4]
        )
    });
    if world.applied.replace(Sequence(0)) > end {
        world.fate.count(Situation::UndurableCommandLost);
    }
    let images = world.snapshot_directory();
    if newest_image(&images, &world.genesis(), end).is_some()
        && !world.config.borrow().ignore_images
    {
        world.fate.count(Situation::RecoveredFromImage);
    }
    if world.may_have_lost.replace(false) {
        let lost = world.ledger.borrow_mut().lose_above(end);
        if !lost.is_empty() {
            world
                .fate
                .count(Situation::AcknowledgedLostAtProcessDurability);
        }
        for client in world.clients.borrow_mut().iter_mut() {
            client.want_again(&lost);
        }
    }
    if let Err((promise, what)) = audit(world, recovered.digest, end) {
        world.fate.broken(promise, || what);
    }
}

/// Without any fault everything that is open is answered, everybody catches up, the engine stops,
/// and the next start finds it all.
fn last_life(world: &World) {
    world.fate.note(|| "the last life".to_owned());
    world.disk.begin_life(Trouble::default());
    world.set_calm(true);
    if !start(world) {
        return;
    }
    let mut left = PATIENCE;
    while !is_settled(world) {
        if world.fate.is_broken() {
            return;
        }
        if left == 0 {
            let what = || "not everything is answered".to_owned();
            return world.fate.broken(Promise::Serves, what);
        }
        left -= 1;
        world.step();
    }
    stop(world);
    if world.fate.is_broken() {
        return;
    }
    world.engine.finish(world);
    if !world.fate.is_broken() {
        start(world);
        world.engine.vanish(world);
    }
}

/// Everything is answered, durable, executed again and folded.
fn is_settled(world: &World) -> bool {
    let Some((applied, durable)) = world.engine.reached() else {
        return false;
    };
    let readers = world.readers.borrow();
    let views = readers.iter().flatten().map(|reader| reader.view());
    applied == durable
        && world.engine.published() == Some(applied)
        && world.clients.borrow().iter().all(|it| it.is_content())
        && views
            .into_iter()
            .all(|view| view.is_some_and(|view| view.sequence() == applied))
}
