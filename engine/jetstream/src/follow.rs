//! Receives the stream's messages in order, from a number on.

use std::time::Duration;

use async_nats::jetstream::Context;
use async_nats::jetstream::consumer::DeliverPolicy;
use async_nats::jetstream::consumer::pull::OrderedConfig;
use bytes::Bytes;
use foretell_replication::Wake;
use futures_util::StreamExt;
use tokio::sync::mpsc;

/// Messages that wait for the engine, each at most 1 MiB.
const WAITING: usize = 32;
/// Pause after a fault.
const RETRY: Duration = Duration::from_millis(250);
/// Silence after which the stream is asked whether a message is missing: a request for messages
/// that the network lost is never answered.
const SILENCE: Duration = Duration::from_secs(2);

/// The messages after a number.
#[derive(Debug)]
pub(crate) struct Following {
    messages: mpsc::Receiver<(u64, Bytes)>,
    task: tokio::task::JoinHandle<()>,
    /// The last message that was returned or dropped.
    last: u64,
}

impl Drop for Following {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Following {
    /// Begins to receive the messages after `after`.
    pub(crate) fn start(
        runtime: &tokio::runtime::Handle,
        context: Context,
        stream: String,
        after: u64,
        wake: Wake,
    ) -> Self {
        let (sender, messages) = mpsc::channel(WAITING);
        let task = runtime.spawn(async move {
            let mut last = after;
            loop {
                match receive(&context, &stream, &mut last, &sender, &wake).await {
                    Ok(()) => return,
                    Err(why) => tracing::debug!(why, last, "receiving starts again"),
                }
                tokio::time::sleep(RETRY).await;
            }
        });
        Self {
            messages,
            task,
            last: after,
        }
    }

    pub(crate) const fn last(&self) -> u64 {
        self.last
    }

    /// The next message behind number `after`; those before it are dropped.
    pub(crate) fn next(&mut self, after: u64) -> Option<Bytes> {
        loop {
            let (number, bytes) = self.messages.try_recv().ok()?;
            self.last = number;
            if number > after {
                return Some(bytes);
            }
        }
    }
}

/// Passes messages on until the receiver is gone; an error means that it must start again.
async fn receive(
    context: &Context,
    stream: &str,
    last: &mut u64,
    sender: &mpsc::Sender<(u64, Bytes)>,
    wake: &Wake,
) -> Result<(), String> {
    let stream = context
        .get_stream_no_info(stream)
        .await
        .map_err(|error| error.to_string())?;
    let start_sequence = *last + 1;
    let consumer = stream
        .create_consumer(OrderedConfig {
            deliver_policy: DeliverPolicy::ByStartSequence { start_sequence },
            ..OrderedConfig::default()
        })
        .await
        .map_err(|error| error.to_string())?;
    let mut messages = consumer
        .messages()
        .await
        .map_err(|error| error.to_string())?;
    loop {
        let Ok(next) = tokio::time::timeout(SILENCE, messages.next()).await else {
            let info = stream.get_info().await.map_err(|error| error.to_string())?;
            if info.state.last_sequence > *last {
                return Err(format!("nothing after {last} for {SILENCE:?}"));
            }
            continue;
        };
        let message = next
            .ok_or("the consumer ended")?
            .map_err(|error| error.to_string())?;
        let number = message
            .info()
            .map_err(|error| error.to_string())?
            .stream_sequence;
        if number <= *last {
            continue;
        }
        if number != *last + 1 {
            return Err(format!("message {number} after {last}"));
        }
        if sender
            .send((number, message.payload.clone()))
            .await
            .is_err()
        {
            return Ok(());
        }
        *last = number;
        wake();
    }
}
