//! A journal on a disk, and a gateway that serves it without an engine.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

use foretell_auth::MasterSecret;
use foretell_gateway::{Compatibility, Gateway, GatewayConfig, Surface};
use foretell_journal::{Appender, JournalState, Options, SyncStep, Syncer, recover};
use foretell_model::{CommandStamp, Sequence, TimeNs};
use serde_json::Value;

use crate::properties::journal::Journal;

/// Timeout of a response, far above its normal duration.
const PATIENCE: Duration = Duration::from_secs(30);

/// The writer of a journal; its control page is valid while it lives.
pub(crate) struct Writer {
    appender: Appender,
    syncer: Syncer,
    _state: JournalState,
}

impl Writer {
    /// Writes a journal; returns the receipts of its frames by sequence, too.
    pub(crate) fn write(directory: &Path, journal: &Journal) -> (Self, BTreeMap<u64, String>) {
        let options = Options {
            segment_bytes: Options::MIN_SEGMENT_BYTES,
            ..Options::default()
        };
        let recovered = recover(directory, options, Sequence(0), &mut |_| Ok(()));
        let started = recovered.expect("an empty directory").start();
        let (appender, syncer, _state) = started.expect("a journal");
        let mut writer = Self {
            appender,
            syncer,
            _state,
        };
        let (mut places, mut time) = (Vec::new(), TimeNs(0));
        for frame in &journal.frames {
            if !writer.appender.has_room_for_largest() {
                writer.commit();
            }
            // An engine's clock does not go back.
            time = time.max(frame.stamp.time);
            let place = writer.appender.append(
                frame.sequence,
                CommandStamp {
                    time,
                    ..frame.stamp
                },
                &frame.command,
                &frame.events,
                &frame.evidence,
            );
            places.push((frame.sequence, place));
        }
        writer.commit();
        let frames = foretell_journal::FrameReader::new(directory);
        let receipts = places.into_iter().map(|(sequence, place)| {
            let bytes = frames.frame(place, sequence).expect("it was written");
            let receipt = blake3::hash(&bytes).to_hex();
            (sequence.0, format!("0x{receipt}"))
        });
        let receipts = receipts.collect();
        (writer, receipts)
    }

    fn commit(&mut self) {
        self.appender.publish();
        while !matches!(self.syncer.step(), Ok(SyncStep::Durable(_))) {
            std::thread::yield_now();
        }
    }
}

/// The gateway.
pub(crate) struct Site {
    /// The forms it serves.
    pub(crate) compatibility: Compatibility,
    /// The random bytes that the journal begins with.
    pub(crate) genesis: [u8; 32],
    gateway: Option<Gateway>,
    stream: RefCell<TcpStream>,
    /// Receipts of the frames, by sequence.
    pub(crate) receipts: BTreeMap<u64, String>,
    _writer: Writer,
    _directory: tempfile::TempDir,
}

impl Site {
    /// Writes a journal, and serves it as soon as the view shows all of it.
    pub(crate) fn serve(journal: &Journal) -> Self {
        Self::serve_as(journal, Compatibility::Interface)
    }

    /// The same in the forms of the interface or of the family.
    pub(crate) fn serve_as(journal: &Journal, compatibility: Compatibility) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("journal");
        std::fs::create_dir(&path).expect("a directory");
        let (writer, receipts) = Writer::write(&path, journal);
        let gateway = foretell_gateway::start(config(&path, compatibility)).expect("a gateway");
        let [(Surface::Data, address)] = *gateway.addresses() else {
            panic!("{:?}", gateway.addresses());
        };
        let stream = TcpStream::connect(address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
        let site = Self {
            compatibility,
            genesis: foretell_journal::genesis(&path).expect("a journal"),
            gateway: Some(gateway),
            stream: RefCell::new(stream),
            receipts,
            _writer: writer,
            _directory: directory,
        };
        let last = journal.frames.last().expect("some frames").sequence.0;
        let began = std::time::Instant::now();
        loop {
            let path = format!("/traded?user=0x{}", "00".repeat(20));
            let answer = site.ask(&path, last);
            if answer.status == 200 {
                return site;
            }
            assert!(began.elapsed() < PATIENCE, "{}", answer.body);
            std::thread::yield_now();
        }
    }

    /// The body of a response that must be 200.
    pub(crate) fn get(&self, path: &str) -> Value {
        self.page(path).0
    }

    /// The same, and its header `x-next-cursor`.
    pub(crate) fn page(&self, path: &str) -> (Value, Option<String>) {
        let answer = self.ask(path, 0);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        let sequence = answer.header("x-sequence:");
        assert!(sequence.is_some(), "{path} names no sequence");
        let body = serde_json::from_str(&answer.body).expect("JSON");
        (body, answer.header("x-next-cursor:").map(str::to_owned))
    }

    fn ask(&self, path: &str, minimum: u64) -> Answer {
        let mut stream = self.stream.borrow_mut();
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nx-min-sequence: {minimum}\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("it listens");
        let mut bytes = Vec::new();
        let mut byte = [0];
        while !bytes.ends_with(b"\r\n\r\n") {
            stream.read_exact(&mut byte).expect("an answer");
            bytes.push(byte[0]);
        }
        let head = String::from_utf8(bytes).expect("text").to_lowercase();
        let mut answer = Answer {
            status: head[9..12].parse().expect("a status"),
            head,
            body: String::new(),
        };
        let length = answer.header("content-length:").expect("a length");
        let mut body = vec![0; length.parse().expect("a length")];
        stream.read_exact(&mut body).expect("a body");
        answer.body = String::from_utf8(body).expect("text");
        answer
    }
}

/// A response.
struct Answer {
    status: u16,
    /// Its head in lower case.
    head: String,
    body: String,
}

impl Answer {
    /// The value of a header, which is named with its colon.
    fn header(&self, name: &str) -> Option<&str> {
        let value = (self.head.lines()).find_map(|line| line.strip_prefix(name));
        value.map(str::trim)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        if let Some(gateway) = self.gateway.take() {
            gateway.stop().expect("it ran to its end");
        }
    }
}

fn config(journal: &Path, compatibility: Compatibility) -> GatewayConfig {
    let (nobody, master) = (
        journal.join("nobody.sock"),
        MasterSecret::from_bytes([1; 32]),
    );
    let mut config = GatewayConfig::new(journal.to_owned(), nobody, master);
    config.policy.limits.enabled = false;
    config.listen = vec![(Surface::Data, SocketAddr::from(([127, 0, 0, 1], 0)))];
    config.compatibility = compatibility;
    config
}
