//! What the journal's first frame says of the whole journal. It is known before the view is built.

use std::path::Path;

use foretell_journal::{DurableEnd, Follower, JournalError, Next, Scratch};
use foretell_model::{Command, Sequence, TimeNs};

use crate::app::App;
use crate::policy::work;

/// The identity of a journal, and its simulated past.
#[derive(Clone, Copy, Default)]
pub(crate) struct Beginning {
    /// Zero before there is a journal.
    pub(crate) genesis: [u8; 32],
    /// The commands up to this time are simulated (docs/verify/rules.md §29).
    pub(crate) simulated_until: Option<TimeNs>,
}

/// The beginning of the journal: the view has it, and while there is none the first frame.
pub(crate) async fn of_journal(app: &App) -> Beginning {
    {
        let view = &app.shared_view.read().view;
        if view.sequence() > Sequence(0) {
            return Beginning {
                genesis: *view.genesis(),
                simulated_until: view.system().simulated_until(),
            };
        }
    }
    let journal = app.view_sources.journal.clone();
    let reading = work::blocking(move || read(&journal)).await;
    match reading {
        Ok(Ok(beginning)) => beginning,
        Ok(Err(JournalError::NoEngine(_))) | Err(_) => Beginning::default(),
        Ok(Err(error)) => {
            tracing::warn!(%error, "cannot read the journal's first frame");
            Beginning::default()
        }
    }
}

fn read(journal: &Path) -> Result<Beginning, JournalError> {
    let genesis = DurableEnd::open(journal)?.genesis();
    let mut follower = match Follower::open(journal, Sequence(0)) {
        // The view will know the rest.
        Err(JournalError::Archived { .. }) => {
            return Ok(Beginning {
                genesis,
                simulated_until: None,
            });
        }
        follower => follower?,
    };
    let mut scratch = Scratch::default();
    let simulated_until = match follower.next_frame()? {
        Next::Frame(frame) => match frame.decode(&mut scratch).map(|frame| frame.command) {
            Ok(Command::Simulate { until }) => Some(*until),
            _ => None,
        },
        _ => None,
    };
    Ok(Beginning {
        genesis,
        simulated_until,
    })
}
