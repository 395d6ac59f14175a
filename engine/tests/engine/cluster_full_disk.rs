//! A host of a cluster whose disk is full: the others go on, and it returns when a person has made room.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use foretell_engine::{ClusterRole, EXIT_IO_ERROR, EngineError};
use foretell_log_model::Model;

use crate::cluster::{Host, acknowledged, assert_same, followed};
use crate::harness::Engine;
use crate::hooked_disk::{Hook, HookedDisk, Operation};

/// Every write fails while it is full.
#[derive(Debug, Default)]
struct Full(AtomicBool);

impl Hook for Full {
    fn before(&self, operation: Operation, _: &Path) -> io::Result<()> {
        if operation == Operation::Write && self.0.load(Ordering::SeqCst) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(())
    }
}

#[test]
fn a_standby_whose_disk_is_full_ends_with_74_and_returns_when_it_is_asked_to() {
    let model = Model::default();
    let mut first = Host::new(&model, "first", ClusterRole::Leader).started();
    let mut client = first.client();
    let mut second = Host::new(&model, "second", ClusterRole::Standby);
    let full = Arc::new(Full::default());
    second.config.journal.disk = Arc::new(HookedDisk(Arc::clone(&full)));
    second.start();
    let last = acknowledged(&mut client, 1);
    followed(&second.data(), last);
    full.0.store(true, Ordering::SeqCst);
    acknowledged(&mut client, 2);
    let ended = second.end().unwrap_err();
    assert_eq!(ended.exit_code(), EXIT_IO_ERROR, "{ended}");
    acknowledged(&mut client, 3);

    full.0.store(false, Ordering::SeqCst);
    let refused = Engine::try_start(second.config.clone()).map(drop);
    let refused = refused.unwrap_err();
    assert!(matches!(refused, EngineError::Journal(_)), "{refused}");
    second.config.journal.after_io_error = true;
    second.start();
    let last = acknowledged(&mut client, 4);
    assert_same(&second.data(), &first.data(), last);
    drop(client);
    first.stop();
    second.stop();
}
