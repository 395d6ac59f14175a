//! The log as the engine's threads use it.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_nats::jetstream::context::{
    ContextBuilder, GetStreamError, GetStreamErrorKind, PublishErrorKind,
};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{Info, LastRawMessageErrorKind, Stream};
use async_nats::jetstream::{Context, ErrorCode};
use async_nats::{Client, ServerAddr};
use bytes::Bytes;
use foretell_replication::{
    BeatAge, Bounds, ConnectLog, LogError, Outcome, Publish, RecordAge, ReplicatedLog, Wake,
};
use futures_util::StreamExt as _;
use parking_lot::Mutex;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

use crate::follow::Following;
use crate::settings::{REQUEST_TIMEOUT, Settings};
use crate::stream_config::{check_server, check_stream, configs};

/// Messages whose acknowledgement is awaited at most; more than a window, because messages that
/// were given up count until their timeout.
const MAX_AWAITED: usize = 256;
/// The largest that a heartbeat or a record of a host is.
const MAX_RECORD_BYTES: usize = 1_024;
/// Processes whose records wait to be looked at.
const MAX_RECORDS: usize = 64;
/// Pause between two attempts to subscribe.
const SUBSCRIBE_PAUSE: Duration = Duration::from_millis(250);

/// A connection to the log.
pub struct JetStreamLog {
    settings: Settings,
    pub(crate) client: Client,
    pub(crate) context: Context,
    publishes: mpsc::UnboundedSender<Publish>,
    arrived: Arc<Arrived>,
    following: Option<Following>,
    /// Number of the connection on which the streams' settings were checked; 0 = on none.
    checked: u64,
    /// Last, so that everything on it has ended before.
    runtime: Runtime,
}

/// What has arrived, and whom to wake.
struct Arrived {
    outcomes: Mutex<VecDeque<(String, Outcome)>>,
    beat_age: Mutex<BeatAge>,
    newest_beat: Mutex<Option<NewestBeat>>,
    record_age: Mutex<RecordAge>,
    /// The newest record of each process, by host and life, with its count.
    records: Mutex<BTreeMap<(String, u64), (u64, Bytes)>>,
    wake: Mutex<Wake>,
}

/// A heartbeat with its term and count.
struct NewestBeat {
    age: (u64, u64),
    payload: Bytes,
}

impl Arrived {
    fn new() -> Self {
        Self {
            outcomes: Mutex::default(),
            beat_age: Mutex::new(Arc::new(|_| None)),
            newest_beat: Mutex::default(),
            record_age: Mutex::new(Arc::new(|_| None)),
            records: Mutex::default(),
            wake: Mutex::new(Arc::new(|| {})),
        }
    }

    fn push(&self, id: String, outcome: Outcome) {
        self.outcomes.lock().push_back((id, outcome));
        self.wake();
    }

    /// Keeps the newest that a host of the cluster signed: a flood of others, or of older ones, hides nothing.
    fn push_beat(&self, payload: Bytes) {
        if payload.len() > MAX_RECORD_BYTES {
            return;
        }
        let beat_age = Arc::clone(&self.beat_age.lock());
        let Some(age) = beat_age(&payload) else {
            return;
        };
        let mut newest = self.newest_beat.lock();
        if newest.as_ref().is_none_or(|newest| newest.age < age) {
            *newest = Some(NewestBeat { age, payload });
        }
    }

    /// Keeps the newest record of each process, as [`Self::push_beat`].
    fn push_record(&self, payload: Bytes) {
        if payload.len() > MAX_RECORD_BYTES {
            return;
        }
        let record_age = Arc::clone(&self.record_age.lock());
        let Some((host, life, count)) = record_age(&payload) else {
            return;
        };
        let mut records = self.records.lock();
        let has_room = records.len() < MAX_RECORDS;
        match records.get_mut(&(host.clone(), life)) {
            Some(newest) if newest.0 < count => *newest = (count, payload),
            None if has_room => drop(records.insert((host, life), (count, payload))),
            _ => {}
        }
    }

    fn wake(&self) {
        let wake = Arc::clone(&self.wake.lock());
        wake();
    }
}

impl fmt::Debug for JetStreamLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JetStreamLog")
            .field("stream", &self.settings.stream)
            .finish_non_exhaustive()
    }
}

impl JetStreamLog {
    /// Connects. With `patient` it returns at once, and connects when a server is there.
    ///
    /// # Errors
    /// [`LogError`].
    pub fn connect(settings: &Settings, patient: bool) -> Result<Self, LogError> {
        let started = |error: std::io::Error| LogError::Unreachable(error.to_string());
        for server in &settings.servers {
            server
                .parse::<ServerAddr>()
                .map_err(|error| LogError::Unsafe(format!("server {server:?}: {error}")))?;
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("jetstream")
            .enable_all()
            .build()
            .map_err(started)?;
        let (client, context) = run(&runtime, async {
            let client = settings.connect(patient).await?;
            let context = ContextBuilder::new()
                .timeout(REQUEST_TIMEOUT)
                .max_ack_inflight(MAX_AWAITED)
                .build(client.clone());
            Ok((client, context))
        })?;
        let arrived = Arc::new(Arrived::new());
        let (publishes, receiver) = mpsc::unbounded_channel();
        let subject = settings.journal_subject();
        let send = send(context.clone(), subject, receiver, Arc::clone(&arrived));
        runtime.spawn(send);
        let subject = settings.heartbeat_subject();
        let push = |arrived: &Arrived, payload| arrived.push_beat(payload);
        runtime.spawn(listen(client.clone(), subject, Arc::clone(&arrived), push));
        let subject = settings.host_subject("*");
        let push = |arrived: &Arrived, payload| arrived.push_record(payload);
        runtime.spawn(listen(client.clone(), subject, Arc::clone(&arrived), push));
        Ok(Self {
            settings: settings.clone(),
            client,
            context,
            publishes,
            arrived,
            following: None,
            checked: 0,
            runtime,
        })
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Runs a request to its end.
    pub(crate) fn block_on<T>(&self, request: impl Future<Output = T>) -> T {
        run(&self.runtime, request)
    }

    fn stream(&self, name: &str) -> Result<Stream<()>, LogError> {
        let stream = self.context.get_stream_no_info(name);
        self.block_on(stream).map_err(|error| unreachable(&error))
    }

    /// Sends a small message without waiting for an answer.
    fn send_record(&self, subject: String, bytes: Vec<u8>) {
        let client = self.client.clone();
        self.runtime.spawn(async move {
            if let Err(error) = client.publish(subject, bytes.into()).await {
                tracing::debug!(%error, "a record was not sent");
            }
        });
    }

    /// Number of the connection to a server: a server that comes back may have other streams.
    fn connection(&self) -> u64 {
        self.client.statistics().connects.load(Ordering::Relaxed)
    }

    /// Checks server and streams, once a connection.
    fn ensure_checked(&mut self, journal: &Info) -> Result<(), LogError> {
        let connection = self.connection();
        if self.checked == connection {
            return Ok(());
        }
        check_server(&self.client)?;
        let [wanted, ..] = configs(&self.settings, 0);
        check_stream(journal, &wanted)?;
        self.ensure_heartbeat(journal.config.num_replicas)?;
        self.checked = connection;
        Ok(())
    }

    /// Checks the stream of the heartbeat. It is in memory, so servers that all restarted have lost it: a host that may
    /// lead makes it again, with as many replicas as the journal's stream.
    fn ensure_heartbeat(&self, replicas: usize) -> Result<(), LogError> {
        let [_, wanted, _] = configs(&self.settings, replicas);
        let failed = |error: &dyn fmt::Display| {
            LogError::Unreachable(format!("stream {}: {error}", wanted.name))
        };
        let found = self.block_on(self.context.get_stream(&wanted.name));
        let found = match found {
            Ok(found) => found,
            Err(error) if is_missing(&error) && self.settings.may_lead => {
                tracing::warn!(
                    stream = wanted.name,
                    "the servers lost the stream: making it again"
                );
                let made = self.block_on(self.context.get_or_create_stream(wanted.clone()));
                made.map_err(|error| failed(&error))?
            }
            Err(error) => return Err(failed(&error)),
        };
        let [_, any_replicas, _] = configs(&self.settings, 0);
        check_stream(found.cached_info(), &any_replicas)
    }

    fn last_record(&self, stream: &str, subject: &str) -> Result<Option<Bytes>, LogError> {
        let stream = self.stream(stream)?;
        match self.block_on(stream.get_last_raw_message_by_subject(subject)) {
            Ok(message) => Ok(Some(message.payload)),
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
            Err(error) => Err(unreachable(&error)),
        }
    }
}

/// Runs a request to its end, behind one type: the runtime's loop is compiled once, not once a request.
fn run<T>(runtime: &Runtime, request: impl Future<Output = T>) -> T {
    let mut answer = None;
    let answering = async { answer = Some(request.await) };
    let answering: Pin<Box<dyn Future<Output = ()> + '_>> = Box::pin(answering);
    runtime.block_on(answering);
    answer.expect("the request ran to its end")
}

impl ConnectLog for Settings {
    fn connect(&self) -> Result<Box<dyn ReplicatedLog>, LogError> {
        Ok(Box::new(JetStreamLog::connect(self, true)?))
    }
}

fn is_missing(error: &GetStreamError) -> bool {
    match error.kind() {
        GetStreamErrorKind::JetStream(why) => why.error_code() == ErrorCode::STREAM_NOT_FOUND,
        _ => false,
    }
}

pub(crate) fn unreachable(error: &dyn fmt::Display) -> LogError {
    LogError::Unreachable(error.to_string())
}

/// Receives all messages of a subject of heartbeats or of records.
async fn listen(client: Client, subject: String, arrived: Arc<Arrived>, push: fn(&Arrived, Bytes)) {
    loop {
        match client.subscribe(subject.clone()).await {
            Ok(mut messages) => {
                while let Some(message) = messages.next().await {
                    push(&arrived, message.payload);
                }
            }
            Err(error) => tracing::debug!(%error, subject, "nothing is received"),
        }
        tokio::time::sleep(SUBSCRIBE_PAUSE).await;
    }
}

/// Sends messages in their order; each outcome is awaited by a task of its own.
async fn send(
    context: Context,
    subject: String,
    mut receiver: mpsc::UnboundedReceiver<Publish>,
    arrived: Arc<Arrived>,
) {
    while let Some(publish) = receiver.recv().await {
        let mut message = PublishMessage::build()
            .expected_last_sequence(publish.expected)
            .message_id(&publish.id)
            .payload(publish.payload.into());
        if let Some(after) = &publish.after {
            message = message.expected_last_message_id(after);
        }
        let sent = context.send_publish(subject.clone(), message).await;
        let arrived = Arc::clone(&arrived);
        tokio::spawn(async move {
            let outcome = match sent {
                Ok(answer) => answer.await,
                Err(error) => Err(error),
            };
            arrived.push(publish.id, outcome_of(outcome));
        });
    }
}

fn outcome_of(
    outcome: Result<
        async_nats::jetstream::publish::PublishAck,
        async_nats::jetstream::context::PublishError,
    >,
) -> Outcome {
    match outcome {
        Ok(answer) if answer.duplicate => Outcome::NotAppended,
        Ok(answer) => Outcome::Accepted(answer.sequence),
        Err(error)
            if [
                PublishErrorKind::WrongLastSequence,
                PublishErrorKind::WrongLastMessageId,
            ]
            .contains(&error.kind()) =>
        {
            Outcome::NotAppended
        }
        Err(error) => {
            tracing::debug!(%error, "a message of the journal has an unknown outcome");
            Outcome::Unknown
        }
    }
}

impl ReplicatedLog for JetStreamLog {
    fn set_waker(&mut self, wake: Wake) {
        *self.arrived.wake.lock() = wake;
    }

    fn bounds(&mut self) -> Result<Bounds, LogError> {
        let stream = self.stream(&self.settings.stream)?;
        let info = self
            .block_on(stream.get_info())
            .map_err(|error| unreachable(&error))?;
        self.ensure_checked(&info)?;
        Ok(Bounds {
            first: info.state.first_sequence.max(1),
            last: info.state.last_sequence,
        })
    }

    fn read(&mut self, number: u64) -> Result<Option<Vec<u8>>, LogError> {
        let stream = self.stream(&self.settings.stream)?;
        match self.block_on(stream.get_raw_message(number)) {
            Ok(message) => Ok(Some(message.payload.into())),
            Err(error) => match error.kind() {
                LastRawMessageErrorKind::NoMessageFound => Ok(None),
                LastRawMessageErrorKind::JetStream(why)
                    if why.error_code() == ErrorCode::NO_MESSAGE_FOUND =>
                {
                    Ok(None)
                }
                _ => Err(unreachable(&error)),
            },
        }
    }

    fn next(&mut self, after: u64) -> Result<Option<Vec<u8>>, LogError> {
        let continues = |it: &Following| it.last() <= after;
        if !self.following.as_ref().is_some_and(continues) {
            let arrived = Arc::clone(&self.arrived);
            self.following = Some(Following::start(
                self.runtime.handle(),
                self.context.clone(),
                self.settings.stream.clone(),
                after,
                Arc::new(move || arrived.wake()),
            ));
        }
        let following = self.following.as_mut();
        let next = following.and_then(|following| following.next(after));
        Ok(next.map(Vec::from))
    }

    fn publish(&mut self, publish: Publish) {
        // This host writes: what the stream sends back is its own.
        self.following = None;
        // A server that came back may have a stream that loses messages.
        if self.checked != self.connection()
            && let Err(error) = self.bounds()
        {
            tracing::warn!(%error, "a message of the journal is not sent");
            self.arrived.push(publish.id, Outcome::Unknown);
            return;
        }
        // The receiver lives as long as the runtime.
        let _ = self.publishes.send(publish);
    }

    fn outcome(&mut self) -> Option<(String, Outcome)> {
        self.arrived.outcomes.lock().pop_front()
    }

    fn beat(&mut self, payload: Vec<u8>, last: bool) {
        let subject = self.settings.heartbeat_subject();
        if !last {
            self.send_record(subject, payload);
            return;
        }
        let client = self.client.clone();
        let sent = async {
            client.publish(subject, payload.into()).await.ok();
            client.flush().await.ok();
        };
        let _ = self.block_on(async { tokio::time::timeout(REQUEST_TIMEOUT, sent).await });
    }

    fn set_beat_age(&mut self, age: BeatAge) {
        *self.arrived.beat_age.lock() = age;
    }

    fn beats(&mut self) -> Result<Vec<Vec<u8>>, LogError> {
        let settings = &self.settings;
        let (stream, subject) = (settings.heartbeat_stream(), settings.heartbeat_subject());
        let stored = self.last_record(&stream, &subject);
        if stored.is_err() {
            // Servers may lose the stream while the connection stays.
            self.checked = 0;
        }
        let stored = stored?;
        let arrived = self.arrived.newest_beat.lock().take();
        let arrived = arrived.map(|newest| newest.payload);
        Ok(stored.into_iter().chain(arrived).map(Vec::from).collect())
    }

    fn announce(&mut self, host: &str, payload: Vec<u8>) {
        self.send_record(self.settings.host_subject(host), payload);
    }

    fn set_record_age(&mut self, age: RecordAge) {
        *self.arrived.record_age.lock() = age;
    }

    fn announced(&mut self) -> Vec<Vec<u8>> {
        let records = std::mem::take(&mut *self.arrived.records.lock());
        records.into_values().map(|(_, it)| it.into()).collect()
    }

    fn hosts(&mut self) -> Result<Vec<Vec<u8>>, LogError> {
        let name = self.settings.hosts_stream();
        let stream = self.stream(&name)?;
        let all = self.settings.host_subject("*");
        let subjects = self.block_on(async {
            let mut named = stream
                .info_builder()
                .subjects(&all)
                .fetch()
                .await
                .map_err(|error| unreachable(&error))?;
            let mut subjects = Vec::new();
            while let Some(subject) = named.next().await {
                let (subject, _) = subject.map_err(|error| unreachable(&error))?;
                subjects.push(subject);
            }
            Ok(subjects)
        })?;
        let mut hosts = Vec::new();
        for subject in subjects {
            hosts.extend(self.last_record(&name, &subject)?.map(Vec::from));
        }
        Ok(hosts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_hides_no_heartbeat() {
        let arrived = Arrived::new();
        // A byte is the count of a signed one.
        *arrived.beat_age.lock() = Arc::new(|payload| match payload {
            [count] => Some((1, (*count).into())),
            _ => None,
        });
        let flood = || {
            for number in 0_u32..5_000 {
                arrived.push_beat(Bytes::copy_from_slice(&number.to_le_bytes()));
                arrived.push_beat(Bytes::from_static(&[7]));
            }
        };
        flood();
        arrived.push_beat(Bytes::from_static(&[9]));
        flood();
        let newest = arrived.newest_beat.lock().take();
        assert_eq!(newest.map(|newest| newest.age), Some((1, 9)));
    }

    #[test]
    fn a_flood_hides_no_record() {
        let arrived = Arrived::new();
        // Two bytes are life and count of a signed one.
        *arrived.record_age.lock() = Arc::new(|payload| match payload {
            [life, count] => Some(("a".to_owned(), (*life).into(), (*count).into())),
            _ => None,
        });
        for count in [3, 9, 4] {
            arrived.push_record(Bytes::copy_from_slice(&[1, count]));
            for number in 0_u32..5_000 {
                arrived.push_record(Bytes::copy_from_slice(&number.to_le_bytes()));
            }
        }
        for life in 2..=255 {
            arrived.push_record(Bytes::copy_from_slice(&[life, 1]));
        }
        let records = arrived.records.lock();
        assert_eq!(records.len(), MAX_RECORDS);
        assert_eq!(records[&("a".to_owned(), 1)].0, 9);
    }
}
