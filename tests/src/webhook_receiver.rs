//! A system of an operator: takes webhooks, checks their signatures, and remembers what they tell.

use std::collections::HashSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hmac::{Hmac, KeyInit as _, Mac as _};
use parking_lot::{Condvar, Mutex};
use serde_json::Value;
use sha2::Sha256;

use crate::exchange::Options;

/// Of so many deliveries two are answered with 500: the first before it is taken, one after it was.
const DELIVERIES: usize = 6;
const SECRET: &str = "a-secret-of-this-test-32-characters-or-more";

/// A running receiver.
pub struct WebhookReceiver {
    url: String,
    folder: tempfile::TempDir,
    taken: Arc<Taken>,
}

#[derive(Default)]
struct Taken {
    notices: Mutex<Notices>,
    changed: Condvar,
}

#[derive(Default)]
struct Notices {
    deliveries: usize,
    repeated: usize,
    ids: HashSet<String>,
    /// Each once, in the order of their first delivery.
    list: Vec<Value>,
}

impl WebhookReceiver {
    /// Starts one on a free port.
    ///
    /// # Panics
    /// There is none.
    #[must_use]
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let taken = Arc::<Taken>::default();
        let shared = Arc::clone(&taken);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                // The sender may have been killed.
                let _ = answer(&stream, &shared);
            }
        });
        let folder = tempfile::tempdir().expect("a temporary directory");
        std::fs::write(folder.path().join("secret"), SECRET).expect("a file");
        Self {
            url: format!("http://{address}/foretell"),
            folder,
            taken,
        }
    }

    /// Options of an exchange that delivers here.
    ///
    /// # Panics
    /// The mode of the file with the secret cannot be set.
    #[must_use]
    pub fn told_by(&self, options: Options) -> Options {
        use std::os::unix::fs::PermissionsExt as _;
        let secret: PathBuf = self.folder.path().join("secret");
        let own = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(&secret, own).expect("the mode");
        options.with("FORETELL_WEBHOOKS_URL", &self.url).with(
            "FORETELL_WEBHOOKS_SECRET_FILE",
            &secret.display().to_string(),
        )
    }

    /// Waits until so many deliveries have come since now.
    ///
    /// # Panics
    /// They do not come.
    pub fn wait_deliveries(&self, more: usize, patience: Duration) {
        let mut notices = self.taken.notices.lock();
        let goal = notices.deliveries + more;
        let deadline = Instant::now() + patience;
        while notices.deliveries < goal {
            let late = self.taken.changed.wait_until(&mut notices, deadline);
            assert!(!late.timed_out(), "deliveries stopped coming");
        }
    }

    /// Waits until what was told holds, and returns it: each notice once, in the order of the first
    /// delivery, and how many came again.
    ///
    /// # Panics
    /// It never holds.
    #[must_use]
    pub fn wait(
        &self,
        patience: Duration,
        holds: impl Fn(&[Value]) -> bool,
    ) -> (Vec<Value>, usize) {
        let mut notices = self.taken.notices.lock();
        let deadline = Instant::now() + patience;
        while !holds(&notices.list) {
            let late = self.taken.changed.wait_until(&mut notices, deadline);
            assert!(
                !late.timed_out(),
                "{} notices, the last {:?}",
                notices.list.len(),
                notices.list.last()
            );
        }
        (notices.list.clone(), notices.repeated)
    }
}

/// Reads a delivery, takes it, and answers.
fn answer(mut stream: &TcpStream, taken: &Taken) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while reader.read_line(&mut head)? > 2 {}
    let header = |name: &str| {
        let lines = head.lines().filter_map(|line| line.split_once(": "));
        let mut found = lines.filter(|(key, _)| key.eq_ignore_ascii_case(name));
        found.next().map_or("", |(_, value)| value)
    };
    let mut body = vec![0; header("content-length").parse().unwrap_or(0)];
    reader.read_exact(&mut body)?;
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).expect("any key");
    mac.update(format!("{}.", header("x-foretell-timestamp")).as_bytes());
    mac.update(&body);
    let signature = hex::encode(mac.finalize().into_bytes());
    let status = match signature == header("x-foretell-signature") {
        true if taken.take(&body) => "200 OK",
        true => "500 Internal Server Error",
        false => "401 Unauthorized",
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    )
}

impl Taken {
    /// Whether the receiver says that it took the delivery.
    fn take(&self, body: &[u8]) -> bool {
        let delivery: Value = serde_json::from_slice(body).expect("JSON");
        let mut notices = self.notices.lock();
        notices.deliveries += 1;
        let turn = notices.deliveries % DELIVERIES;
        if turn == 1 {
            return false;
        }
        for notice in delivery["notices"].as_array().expect("notices") {
            let id = notice["id"].as_str().expect("an id").to_owned();
            if notices.ids.insert(id) {
                notices.list.push(notice.clone());
            } else {
                assert!(
                    notices.list.contains(notice),
                    "another than before: {notice}"
                );
                notices.repeated += 1;
            }
        }
        self.changed.notify_all();
        turn != DELIVERIES / 2
    }
}
