//! A scripted upstream on a real socket, and a clock that never waits.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use foretell_catalog_sync::clock::{Clock, Wait};
use jiff::Timestamp;
use parking_lot::Mutex;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// A scripted answer.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// 200 with JSON.
    Json(String),
    /// A status, an additional header, a body of HTML.
    Status(u16, &'static str, String),
    /// 200 with JSON whose last byte is never sent.
    Cut(String),
    /// 200 with endless JSON.
    Endless,
    /// 200 with JSON in small parts and a pause between them.
    Slow(String, Duration),
    /// 200 with the beginning of a body, then silence.
    Silence,
}

/// A request: its path and its parameters.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// `/events`
    pub(crate) path: String,
    /// `limit=100&offset=0&…`
    pub(crate) query: String,
    /// Number of earlier requests.
    pub(crate) before: usize,
    /// Its body.
    pub(crate) body: String,
}

impl Asked {
    /// The same request at another path.
    pub(crate) fn at(&self, path: &str) -> Self {
        Self {
            path: path.to_owned(),
            ..self.clone()
        }
    }

    /// The values of a parameter.
    pub(crate) fn values(&self, name: &str) -> Vec<String> {
        let pairs = self
            .query
            .split('&')
            .filter_map(|pair| pair.split_once('='));
        let found = pairs.filter(|(known, _)| *known == name);
        found.map(|(_, value)| value.to_owned()).collect()
    }

    /// A parameter; 0 when it is absent.
    pub(crate) fn number(&self, name: &str) -> usize {
        let value = self.values(name).pop();
        value.map_or(0, |value| value.parse().expect("a fixture of ours"))
    }
}

type Answer = dyn Fn(&Asked) -> Reply + Send + Sync;

/// A running upstream.
pub(crate) struct Mock {
    /// Its base URL.
    pub(crate) base: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Mock {
    /// Starts one on a free port.
    pub(crate) async fn start(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a fixture of ours");
        let base = format!(
            "http://{}/api",
            listener.local_addr().expect("a fixture of ours")
        );
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (log, answer): (_, Arc<Answer>) = (Arc::clone(&asked), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                // Ignore clients that disconnect.
                tokio::spawn(serve(stream, Arc::clone(&log), Arc::clone(&answer)));
            }
        });
        Self { base, asked }
    }

    /// The requests so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().clone()
    }
}

async fn serve(
    stream: TcpStream,
    log: Arc<Mutex<Vec<Asked>>>,
    answer: Arc<Answer>,
) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut first = String::new();
    stream.read_line(&mut first).await?;
    let (mut line, mut body) = (String::new(), Vec::new());
    while stream.read_line(&mut line).await? > 2 {
        if let Some(length) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            body.resize(length.trim().parse().expect("a fixture of ours"), 0);
        }
        line.clear();
    }
    stream.read_exact(&mut body).await?;
    let target = first.split(' ').nth(1).unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let asked = Asked {
        path: path.trim_start_matches("/api").to_owned(),
        query: query.to_owned(),
        before: log.lock().len(),
        body: String::from_utf8_lossy(&body).into_owned(),
    };
    log.lock().push(asked.clone());
    send(stream.get_mut(), answer(&asked)).await
}

async fn send(stream: &mut TcpStream, reply: Reply) -> io::Result<()> {
    let head = |status: u16, kind: &str, header: &str, length: Option<usize>| {
        let length = length.map_or(String::new(), |length| {
            format!("content-length: {length}\r\n")
        });
        format!(
            "HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\nconnection: close\r\n{header}{length}\r\n"
        )
    };
    const JSON: &str = "application/json";
    match reply {
        Reply::Json(body) => {
            stream
                .write_all(head(200, JSON, "", Some(body.len())).as_bytes())
                .await?;
            stream.write_all(body.as_bytes()).await
        }
        Reply::Status(status, header, value) => {
            let header = if header.is_empty() {
                String::new()
            } else {
                format!("{header}: {value}\r\n")
            };
            let body = "<html>no</html>";
            let head = head(status, "text/html", &header, Some(body.len()));
            stream.write_all(head.as_bytes()).await?;
            stream.write_all(body.as_bytes()).await
        }
        Reply::Cut(body) => {
            stream
                .write_all(head(200, JSON, "", Some(body.len())).as_bytes())
                .await?;
            stream.write_all(&body.as_bytes()[..body.len() - 1]).await
        }
        Reply::Endless => {
            stream
                .write_all(head(200, JSON, "", None).as_bytes())
                .await?;
            stream.write_all(b"[").await?;
            let rows = "{\"id\":\"1\"},".repeat(10_000);
            loop {
                stream.write_all(rows.as_bytes()).await?;
            }
        }
        Reply::Slow(body, pause) => {
            let head = head(200, JSON, "", Some(body.len()));
            stream.write_all(head.as_bytes()).await?;
            for part in body.as_bytes().chunks(body.len() / 4 + 1) {
                tokio::time::sleep(pause).await;
                stream.write_all(part).await?;
                stream.flush().await?;
            }
            Ok(())
        }
        Reply::Silence => {
            stream
                .write_all(head(200, JSON, "", Some(1_000)).as_bytes())
                .await?;
            stream.write_all(b"[{\"id\":").await?;
            std::future::pending().await
        }
    }
}

/// A clock that records every pause and never waits.
pub(crate) struct NoWait {
    now: Mutex<Timestamp>,
    pauses: Mutex<Vec<Duration>>,
}

impl NoWait {
    /// A clock at this time.
    pub(crate) fn at(now: &str) -> Arc<Self> {
        Arc::new(Self {
            now: Mutex::new(now.parse().expect("a fixture of ours")),
            pauses: Mutex::new(Vec::new()),
        })
    }

    /// Sets the time.
    pub(crate) fn set(&self, now: &str) {
        *self.now.lock() = now.parse().expect("a fixture of ours");
    }

    /// The recorded pauses.
    pub(crate) fn pauses(&self) -> Vec<Duration> {
        self.pauses.lock().clone()
    }
}

impl Clock for NoWait {
    fn now(&self) -> Timestamp {
        *self.now.lock()
    }

    fn pause(&self, pause: Duration) -> Wait {
        self.pauses.lock().push(pause);
        Box::pin(std::future::ready(()))
    }

    fn random_up_to(&self, longest: Duration) -> Duration {
        longest
    }
}
