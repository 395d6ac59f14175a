//! What the journal's first frame says of the whole journal. It is known before the view is built.

use std::path::Path;

use foretell_journal::{DurableEnd, Follower, JournalError, Next, Scratch};
use foretell_model::command::Begin;
use foretell_model::{Command, Sequence};

use crate::app::App;
use crate::policy::work;

/// The identity of a journal, and what it began as.
#[derive(Clone, Copy, Default)]
pub(crate) struct Beginning {
    /// Zero before there is a journal.
    pub(crate) genesis: [u8; 32],
    /// Its first command (docs/verify/rules.md §29).
    pub(crate) begin: Begin,
}

/// The beginning of the journal: the view has it, and while there is none the first frame.
pub(crate) async fn of_journal(app: &App) -> Beginning {
    {
        let view = &app.shared_view.read().view;
        if view.sequence() > Sequence(0) {
            return Beginning {
                genesis: *view.genesis(),
                begin: view.system().beginning,
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
                begin: Begin::default(),
            });
        }
        follower => follower?,
    };
    let mut scratch = Scratch::default();
    let begin = match follower.next_frame()? {
        Next::Frame(frame) => match frame.decode(&mut scratch).map(|frame| frame.command) {
            Ok(Command::Begin(begin)) => *begin,
            _ => Begin::default(),
        },
        _ => Begin::default(),
    };
    Ok(Beginning { genesis, begin })
}
