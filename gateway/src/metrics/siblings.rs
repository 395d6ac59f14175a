//! The gateways of an exchange on one host: each gives its metrics to the one that is scraped, over a socket in the
//! data directory.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::io::AsyncReadExt as _;
use tokio::net::UnixStream;

use crate::app::App;
use crate::config::GatewayPlace;

/// How long another process is waited for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);
/// Longest delay until the thread notices `stop`.
const IDLE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 200_000_000,
};
/// Longest page that is read.
const MAX_PAGE_BYTES: u64 = 16 << 20;

impl GatewayPlace {
    /// Number of this gateway, from 1.
    pub(crate) const fn number(&self) -> u32 {
        self.number
    }

    /// The pages of the other gateways by number; `None` for one that does not answer.
    pub(crate) async fn others(&self) -> Vec<(u32, Option<String>)> {
        let Some(directory) = &self.directory else {
            return Vec::new();
        };
        let numbers = (1..=self.of).filter(|number| *number != self.number);
        let asked = numbers.map(|number| {
            let path = socket(directory, number);
            let page = async move { tokio::time::timeout(PATIENCE, read(&path)).await };
            (number, tokio::spawn(page))
        });
        let mut pages = Vec::new();
        // All are asked before one is awaited.
        for (number, page) in asked.collect::<Vec<_>>() {
            let page = page.await.ok().and_then(Result::ok);
            pages.push((number, page.and_then(Result::ok)));
        }
        pages
    }
}

fn socket(directory: &Path, number: u32) -> PathBuf {
    directory.join(format!("gateway-{number}.metrics"))
}

async fn read(path: &Path) -> io::Result<String> {
    let stream = UnixStream::connect(path).await?;
    let mut page = String::new();
    stream
        .take(MAX_PAGE_BYTES)
        .read_to_string(&mut page)
        .await?;
    Ok(page)
}

/// Answers each connection with this gateway's page until `stop`; `None` where it is scraped alone.
///
/// # Errors
/// The socket cannot be made.
pub(crate) fn serve(app: &Arc<App>, stop: &Arc<AtomicBool>) -> io::Result<Option<JoinHandle<()>>> {
    let Some(directory) = &app.place.directory else {
        return Ok(None);
    };
    let path = socket(directory, app.place.number);
    // A gateway that was killed leaves its own.
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(&path)?;
    listener.set_nonblocking(true)?;
    let (app, stop) = (Arc::clone(app), Arc::clone(stop));
    let thread = std::thread::Builder::new().name("metrics".to_owned());
    let thread = thread.spawn(move || {
        while !stop.load(Ordering::Relaxed) {
            let mut waiting = [PollFd::new(&listener, PollFlags::IN)];
            let _ = poll(&mut waiting, Some(&IDLE));
            while let Ok((mut stream, _)) = listener.accept() {
                let page = app.metrics.own_page(&app.readings(), &app.durations);
                // Who goes away asks again.
                let _ = stream
                    .set_write_timeout(Some(PATIENCE))
                    .and_then(|()| stream.write_all(page.as_bytes()));
            }
        }
        let _ = fs::remove_file(path);
    });
    thread.map(Some)
}
