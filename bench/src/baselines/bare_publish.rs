//! Bare cost of replication: one message after the other through `async-nats`, each with a local write
//! and `fdatasync` beside it, while a receiver reads the stream.

use async_nats::jetstream;
use async_nats::jetstream::consumer::pull::OrderedConfig;
use async_nats::jetstream::stream::{Config, DiscardPolicy};
use bytes::Bytes;
use futures_util::StreamExt as _;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

use super::sync_file::SyncFile;
use crate::error::MeasureError;
use crate::harness::latency::Stopwatch;

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

    /// Publishes messages of `bytes` for `turn`. Each takes until both its acknowledgement and its
    /// sync are there.
    pub(crate) fn publish(
        &mut self,
        bytes: usize,
        turn: Duration,
    ) -> Result<Stopwatch, MeasureError> {
        let content = Bytes::from(vec![0x5A; bytes]);
        let (mut times, begun) = (Stopwatch::new(), Instant::now());
        while times.times().is_empty() || begun.elapsed() < turn {
            times.time(|| self.publish_one(&content))?;
        }
        Ok(times)
    }

    fn publish_one(&mut self, content: &Bytes) -> Result<(), MeasureError> {
        let (file, pages) = (Arc::clone(&self.file), content.clone());
        let message = jetstream::message::PublishMessage::build()
            .expected_last_sequence(self.last)
            .payload(content.clone());
        self.last = self.runtime.block_on(async {
            let sync = tokio::task::spawn_blocking(move || file.lock().write_and_sync(&pages));
            let acknowledgement = self.context.send_publish(SUBJECT, message).await;
            let acknowledgement = acknowledgement.map_err(MeasureError::wrong)?;
            let acknowledgement = acknowledgement.await.map_err(MeasureError::wrong)?;
            let synced = sync.await.map_err(MeasureError::wrong)?;
            synced.map_err(MeasureError::io("the floor's sync"))?;
            Ok::<_, MeasureError>(acknowledgement.sequence)
        })?;
        Ok(())
    }
}
