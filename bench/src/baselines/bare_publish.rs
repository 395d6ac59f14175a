//! Bare cost of replication: messages at a constant rate through `async-nats`, each with a local write
//! and `fdatasync` beside it, while a receiver reads the stream. The goal of a replicated
//! acknowledgement is a ratio to this: on one machine with three servers, milliseconds alone would say
//! how busy the machine is.

use async_nats::jetstream;
use async_nats::jetstream::consumer::pull::OrderedConfig;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{Config, DiscardPolicy};
use bytes::Bytes;
use foretell_journal::replica::MAX_IN_FLIGHT;
use futures_util::StreamExt as _;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use super::sync_file::SyncFile;
use crate::error::MeasureError;
use crate::harness::latency::{Stopwatch, nanos};
use crate::harness::order_flow::sleep_until;

const STREAM: &str = "bare";
const SUBJECT: &str = "bare.messages";

/// A connection with a stream of its own.
pub(crate) struct BarePublisher {
    context: jetstream::Context,
    file: Arc<Mutex<SyncFile>>,
    last: u64,
    /// Last, so that everything on it has ended before.
    runtime: Runtime,
}

impl BarePublisher {
    /// Makes the stream with this number of replicas, and starts a receiver.
    pub(crate) fn start(
        servers: &[String],
        replicas: usize,
        file: SyncFile,
    ) -> Result<Self, MeasureError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(MeasureError::io("starting a runtime"))?;
        let context = runtime.block_on(async {
            let client = async_nats::connect(servers)
                .await
                .map_err(MeasureError::wrong)?;
            let context = jetstream::new(client);
            let config = Config {
                name: STREAM.to_owned(),
                subjects: vec![SUBJECT.to_owned()],
                num_replicas: replicas,
                discard: DiscardPolicy::New,
                ..Config::default()
            };
            let stream = context
                .create_stream(config)
                .await
                .map_err(MeasureError::wrong)?;
            let consumer = stream.create_consumer(OrderedConfig::default());
            let consumer = consumer.await.map_err(MeasureError::wrong)?;
            let mut messages = consumer.messages().await.map_err(MeasureError::wrong)?;
            tokio::spawn(async move { while messages.next().await.is_some() {} });
            Ok::<_, MeasureError>(context)
        })?;
        Ok(Self {
            context,
            file: Arc::new(Mutex::new(file)),
            last: 0,
            runtime,
        })
    }

    /// Publishes messages of `bytes` evenly over `turn`, with at most [`MAX_IN_FLIGHT`] unconfirmed.
    /// Each takes from when it was due until both its acknowledgement and its sync are there.
    pub(crate) fn publish(
        &mut self,
        messages: u32,
        bytes: usize,
        turn: Duration,
    ) -> Result<Stopwatch, MeasureError> {
        let content = Bytes::from(vec![0x5A; bytes]);
        let (mut times, mut flights) = (Stopwatch::new(), JoinSet::new());
        let begun = Instant::now();
        for number in 0..messages {
            let due = begun + turn * number / messages;
            sleep_until(due);
            if flights.len() == MAX_IN_FLIGHT {
                self.record_next(&mut flights, &mut times)?;
            }
            let sent = self.send(&content)?;
            let flight = async move { sent.await.map(|()| due.elapsed()) };
            flights.spawn_on(flight, self.runtime.handle());
        }
        while !flights.is_empty() {
            self.record_next(&mut flights, &mut times)?;
        }
        Ok(times)
    }

    /// Sends a message; the future ends with its acknowledgement and its sync.
    fn send(
        &mut self,
        content: &Bytes,
    ) -> Result<impl Future<Output = Result<(), MeasureError>> + use<>, MeasureError> {
        let (file, pages) = (Arc::clone(&self.file), content.clone());
        let write = move || file.lock().write_and_sync(&pages);
        let sync = self.runtime.handle().spawn_blocking(write);
        let message = PublishMessage::build()
            .expected_last_sequence(self.last)
            .payload(content.clone());
        let sent = self.context.send_publish(SUBJECT, message);
        let acknowledgement = self.runtime.block_on(sent).map_err(MeasureError::wrong)?;
        self.last += 1;
        Ok(async move {
            acknowledgement.await.map_err(MeasureError::wrong)?;
            let synced = sync.await.map_err(MeasureError::wrong)?;
            synced.map_err(MeasureError::io("the floor's sync"))
        })
    }

    /// Records the next message that ends.
    fn record_next(
        &self,
        flights: &mut JoinSet<Result<Duration, MeasureError>>,
        times: &mut Stopwatch,
    ) -> Result<(), MeasureError> {
        let Some(ended) = self.runtime.block_on(flights.join_next()) else {
            return Ok(());
        };
        times.record(nanos(ended.map_err(MeasureError::wrong)??));
        Ok(())
    }
}
