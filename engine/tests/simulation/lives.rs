//! The lives of the engine in one world: each starts from the files of the previous one, serves
//! with its own faults, and ends by a crash, an error or a clean stop. The last life has no faults.

use foretell_journal::snapshot::newest_image;
use foretell_journal::{JournalError, marker_path};
use foretell_model::{Durability, Sequence};

use super::audit::{audit, unfinished};
use super::checks::Promise;
use super::coverage::Situation;
use super::crowd;
use super::engine::Recovered;
use super::faults::FaultPlan;
use super::intents::WALLETS;
use super::rot;
use super::world::World;
use crate::error::EngineError;
use crate::gateways::ServeEnd;

/// Steps within which every open request must be answered in the absence of faults.
const MAX_STEPS: u32 = 100_000;

/// Runs all lives of one world.
pub(super) fn run(world: &World) {
    if world.context.percent(30) {
        crowd::found(world);
    }
    if world.context.percent(80) {
        first_life(world);
    }
    let lives = 2 + world.context.below(4);
    for life in 0..lives {
        world.context.note(|| format!("life {life}"));
        let plan = if world.context.percent(85) {
            FaultPlan::draw(&world.context)
        } else {
            FaultPlan::default()
        };
        live(world, plan);
        if world.context.is_broken() {
            return;
        }
        rot::between_lives(world);
    }
    last_life(world);
}

/// A first life without faults that creates the markets and accounts. Without it, later lives
/// create them.
fn first_life(world: &World) {
    world.context.note(|| "the founding".to_owned());
    world.set_calm(true);
    start(world);
    for _ in 0..MAX_STEPS {
        if world.ledger.borrow().holders.len() == usize::from(WALLETS) || world.context.is_broken()
        {
            break;
        }
        world.step();
    }
    world.set_calm(false);
    end(world);
}

fn live(world: &World, plan: FaultPlan) {
    world.context.note(|| format!("  {plan:?}"));
    world.disk.begin_life(plan);
    if !start(world) {
        if world.disk.is_dead() {
            world.context.count(Situation::CrashInRecovery);
            crash(world, true);
        } else {
            world.engine.drop_process(world);
        }
        return;
    }
    let length = world.context.pick(&[60, 300, 600, 1_200]);
    let steps = world.context.below(length);
    for _ in 0..steps {
        if world.disk.is_dead() || world.engine.ended().is_some() || world.context.is_broken() {
            break;
        }
        // Lives end more often in the middle of a payment.
        if world.is_paying.get() && world.context.percent(8) {
            break;
        }
        world.step();
    }
    world.is_paying.set(false);
    end(world);
}

/// Ends a life: handles its own end, or chooses one.
fn end(world: &World) {
    match world.engine.ended() {
        _ if world.disk.is_dead() => crash(world, true),
        Some(ServeEnd::JournalFailed) => {
            world.context.count(Situation::EndedByIoError);
            if !marker_path(&world.journal_directory()).exists() {
                let what = || "an I/O error left no marker".to_owned();
                world.context.broken(Promise::NothingAfterIoError, what);
            }
            world.engine.drop_process(world);
        }
        Some(ServeEnd::Stopped) => world.engine.finish(world),
        Some(ServeEnd::PublisherFailed) => {
            let what = || "the publisher failed".to_owned();
            world.context.broken(Promise::ReplayIsEqual, what);
        }
        None if world.context.percent(25) => {
            stop(world);
            match world.engine.ended() {
                Some(ServeEnd::Stopped) if !world.disk.is_dead() => world.engine.finish(world),
                _ => crash(world, world.disk.is_dead()),
            }
        }
        None => crash(world, false),
    }
}

/// Requests a stop and waits for it.
fn stop(world: &World) {
    world.engine.begin_stop();
    for _ in 0..MAX_STEPS {
        let is_over = world.engine.ended().is_some() || world.disk.is_dead();
        if is_over || world.context.is_broken() {
            world.context.count(Situation::StoppedInOrder);
            return;
        }
        world.step();
    }
    let what = || "it does not stop".to_owned();
    world.context.broken(Promise::Serves, what);
}

/// Kills the process, or cuts the machine's power.
fn crash(world: &World, is_inside: bool) {
    use Situation::{
        KilledBetweenSteps, KilledInsideAStep, PowerCutBetweenSteps, PowerCutInsideAStep,
    };
    if let Some((applied, durable)) = world.engine.reached() {
        world.applied.set(applied);
        if applied > durable {
            world.context.count(Situation::MatcherAheadOfDisk);
        }
    }
    world.disk.die();
    world.engine.drop_process(world);
    if world.context.percent(40) {
        world.context.note(|| "kill -9".to_owned());
        let inside = [KilledBetweenSteps, KilledInsideAStep];
        world.context.count(inside[usize::from(is_inside)]);
        return;
    }
    world.context.note(|| "power cut".to_owned());
    let inside = [PowerCutBetweenSteps, PowerCutInsideAStep];
    world.context.count(inside[usize::from(is_inside)]);
    for client in world.clients.borrow_mut().iter_mut() {
        client.die();
    }
    for reader in world.readers.borrow_mut().iter_mut().flatten() {
        reader.die();
    }
    world.disk.power_cut();
    written_may_be_lost(world);
    // After a power cut the boot id makes the control page invalid.
    let control = foretell_journal::control::path(&world.journal_directory());
    let _ = std::fs::remove_file(control);
}

/// At `process` durability a power cut or a failed sync may lose written data. Then shown frames
/// may be lost, and others shown in their place before the audit.
fn written_may_be_lost(world: &World) {
    if world.durability() == Durability::Disk {
        return;
    }
    world.may_have_lost.set(true);
    world.ledger.borrow_mut().visible.clear();
    // Answers in flight count as lost, too.
    for client in world.clients.borrow_mut().iter_mut() {
        client.die();
    }
    for reader in world.readers.borrow_mut().iter_mut().flatten() {
        reader.die();
    }
}

/// Starts the engine and audits the recovered state; `false` for an allowed failure to start.
fn start(world: &World) -> bool {
    let marker = marker_path(&world.journal_directory()).exists();
    let mut started = world.engine.start(world);
    if let Err(EngineError::Journal(JournalError::AfterIoError(_))) = &started {
        world.context.count(Situation::StartRefusedAfterIoError);
        world
            .context
            .note(|| "told to start after the I/O error".to_owned());
        world.disk.drop_cache();
        written_may_be_lost(world);
        world.config.borrow_mut().journal.after_io_error = true;
        started = world.engine.start(world);
        world.config.borrow_mut().journal.after_io_error = false;
        if started.is_ok() {
            world.context.count(Situation::StartedAfterIoError);
        }
    } else if marker && started.is_ok() {
        let what = || "it started after an I/O error without being told to".to_owned();
        world.context.broken(Promise::DamageIsFound, what);
    }
    match started {
        Ok(recovered) => {
            audit_recovered(world, recovered);
            true
        }
        Err(error) => {
            let error = world.without_root(&error.to_string());
            world.context.note(|| format!("no start: {error}"));
            if !world.disk.is_dead() && !world.disk.has_failed() {
                let what = || format!("it does not start: {error}");
                world.context.broken(Promise::Serves, what);
            }
            false
        }
    }
}

/// Compares the recovered state with all promises.
fn audit_recovered(world: &World, recovered: Recovered) {
    let end = recovered.sequence;
    world.context.note(|| {
        format!(
            "recovered up to {end}, digest {:02x?}",
            &recovered.digest[..4]
        )
    });
    if world.applied.replace(Sequence(0)) > end {
        world.context.count(Situation::UndurableCommandLost);
    }
    let images = world.snapshot_directory();
    if newest_image(&images, &world.genesis(), end).is_some()
        && !world.config.borrow().ignore_snapshots
    {
        world.context.count(Situation::RecoveredFromImage);
    }
    if let Err((promise, what)) = audit(world, recovered.digest, end) {
        world.context.broken(promise, || what);
    }
}

/// Without faults every open request is answered, all followers catch up, the engine stops, and the
/// next start finds everything.
fn last_life(world: &World) {
    world.context.note(|| "the last life".to_owned());
    world.disk.begin_life(FaultPlan::default());
    world.set_calm(true);
    if !start(world) {
        return;
    }
    let mut left = MAX_STEPS;
    while !is_settled(world) {
        if world.context.is_broken() {
            return;
        }
        if left == 0 {
            let what = || "not everything is answered".to_owned();
            return world.context.broken(Promise::Serves, what);
        }
        left -= 1;
        world.step();
    }
    stop(world);
    if world.context.is_broken() {
        return;
    }
    world.engine.finish(world);
    if !world.context.is_broken() {
        start(world);
        world.engine.drop_process(world);
    }
}

/// Whether everything is answered, durable, executed again and folded, and everybody is paid.
fn is_settled(world: &World) -> bool {
    let Some((applied, durable)) = world.engine.reached() else {
        return false;
    };
    let readers = world.readers.borrow();
    let views = readers.iter().flatten().map(|reader| reader.view());
    applied == durable
        && world.engine.published() == Some(applied)
        && world.clients.borrow().iter().all(|it| it.is_idle())
        && views
            .into_iter()
            .all(|view| view.is_some_and(|view| view.sequence() == applied))
        && unfinished(world).is_none()
}
