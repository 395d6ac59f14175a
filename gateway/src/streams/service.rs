//! The task of a thread that serves its stream connections: passes of the fan-out, and checks of
//! time.

use std::sync::Arc;

use tokio::time::{MissedTickBehavior, interval, sleep};

use crate::app::App;
use crate::policy::limits::{STREAM_CHECK_INTERVAL, STREAM_PASS_INTERVAL};
use crate::streams::connection::keep_alive::{self, Lag};
use crate::streams::fan_out::{Hub, Pass};

/// Runs until it is aborted.
pub(crate) async fn run(hub: Arc<Hub>, app: Arc<App>) {
    let mut engine = app.engine.watch_welcome();
    let mut was_there = engine.borrow_and_update().is_some();
    let mut checks = interval(STREAM_CHECK_INTERVAL);
    checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut lag = Lag::default();
    loop {
        tokio::select! {
            () = hub.wake.notified() => match hub.pass(&app.stream_ring) {
                Pass::Idle => {}
                // A burst costs a connection one write a pass.
                Pass::Done => sleep(STREAM_PASS_INTERVAL).await,
                Pass::More => {
                    hub.wake.notify_one();
                    tokio::task::yield_now().await;
                }
            },
            _ = checks.tick() => {
                hub.confirm();
                keep_alive::check(&hub, &app, &mut lag);
            }
            Ok(()) = engine.changed() => {
                let is_there = engine.borrow_and_update().is_some();
                if is_there != was_there {
                    was_there = is_there;
                    keep_alive::engine_changed(&hub, &app);
                }
            }
        }
    }
}
