//! Finished frames that wait for one connection.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use foretell_model::Sequence;
use tokio::io::AsyncWrite;

use crate::http::connections::client_quotas::{Client, ClientQuotas, Reservation};
use crate::policy::limits::{STREAM_FREE_BYTES, STREAM_SHARE_BYTES, STREAM_WRITE_SLICES};

/// Milliseconds since the start of a thread's hub.
pub(crate) type Millis = u64;

pub(crate) fn millis(time: Duration) -> Millis {
    Millis::try_from(time.as_millis()).unwrap_or(Millis::MAX)
}

/// The frames, oldest first. Their bytes count as unread bytes of the client.
pub(crate) struct Outbox {
    entries: VecDeque<Entry>,
    /// Bytes of the oldest entry that are written.
    begun: usize,
    bytes: usize,
    client: Client,
    unread: Arc<ClientQuotas>,
    shares: Vec<Reservation>,
}

struct Entry {
    frame: Bytes,
    /// The journal frame that it reports; `None` for control frames.
    sequence: Option<Sequence>,
    since: Millis,
}

/// The client may not leave more bytes unread.
#[derive(Debug)]
pub(crate) struct Full;

/// What a write achieved.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Written {
    /// Frames wholly written.
    pub(crate) frames: u64,
    pub(crate) bytes: u64,
}

impl Outbox {
    pub(crate) fn new(client: Client, unread: Arc<ClientQuotas>) -> Self {
        Self {
            entries: VecDeque::new(),
            begun: 0,
            bytes: 0,
            client,
            unread,
            shares: Vec::new(),
        }
    }

    /// Adds a frame.
    pub(crate) fn push(
        &mut self,
        frame: Bytes,
        sequence: Option<Sequence>,
        since: Millis,
    ) -> Result<(), Full> {
        self.bytes += frame.len();
        self.entries.push_back(Entry {
            frame,
            sequence,
            since,
        });
        while self.bytes > STREAM_FREE_BYTES + self.shares.len() * STREAM_SHARE_BYTES {
            let share = self.unread.take(self.client, STREAM_SHARE_BYTES);
            self.shares.push(share.map_err(|_| Full)?);
        }
        Ok(())
    }

    /// Bytes not yet written.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Since when the oldest frame waits.
    pub(crate) fn oldest(&self) -> Option<Millis> {
        self.entries.front().map(|entry| entry.since)
    }

    /// The last frame of the journal of which everything is written, when `delivered` is the last
    /// one of which everything was added.
    pub(crate) fn last_written(&self, delivered: Sequence) -> Sequence {
        // A replay comes after the answer to its request, which names a later frame.
        let waiting = self.entries.iter().filter_map(|entry| entry.sequence);
        match waiting.min() {
            Some(oldest) => delivered.min(Sequence(oldest.0.saturating_sub(1))),
            None => delivered,
        }
    }

    /// Drops the messages that are not begun.
    pub(crate) fn discard(&mut self) {
        self.entries.truncate(usize::from(self.begun > 0));
        self.bytes = self.entries.iter().map(|entry| entry.frame.len()).sum();
        self.bytes -= self.begun;
        self.shares.clear();
    }

    /// Writes until everything is written.
    pub(crate) fn poll_write<S: AsyncWrite + Unpin>(
        &mut self,
        stream: &mut S,
        cx: &mut Context<'_>,
        written: &mut Written,
    ) -> Poll<io::Result<()>> {
        while let Some(oldest) = self.entries.front() {
            if self.entries.len() == 1 {
                // The plain call costs the kernel less.
                let bytes = &oldest.frame[self.begun..];
                match ready!(Pin::new(&mut *stream).poll_write(cx, bytes))? {
                    0 if !bytes.is_empty() => {
                        return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
                    }
                    taken => self.took(taken, written),
                }
                continue;
            }
            let mut slices = [IoSlice::new(&[]); STREAM_WRITE_SLICES];
            let mut count = 0;
            for (slice, entry) in slices.iter_mut().zip(&self.entries) {
                let from = if count == 0 { self.begun } else { 0 };
                *slice = IoSlice::new(&entry.frame[from..]);
                count += 1;
            }
            let taken = Pin::new(&mut *stream).poll_write_vectored(cx, &slices[..count]);
            match ready!(taken)? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                taken => self.took(taken, written),
            }
        }
        Poll::Ready(Ok(()))
    }

    fn took(&mut self, mut taken: usize, written: &mut Written) {
        written.bytes += taken as u64;
        self.bytes -= taken;
        while let Some(oldest) = self.entries.front() {
            let left = oldest.frame.len() - self.begun;
            if taken < left {
                self.begun += taken;
                break;
            }
            taken -= left;
            self.begun = 0;
            written.frames += 1;
            self.entries.pop_front();
        }
        let needed = self.bytes.saturating_sub(STREAM_FREE_BYTES);
        self.shares.truncate(needed.div_ceil(STREAM_SHARE_BYTES));
        if self.entries.is_empty() {
            // A burst must not keep its memory.
            self.entries.shrink_to(STREAM_WRITE_SLICES);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::connections::client_quotas::Bound;
    use std::task::Waker;

    fn outbox(per_client: usize) -> (Outbox, Arc<ClientQuotas>) {
        let unread = ClientQuotas::new(Bound {
            total: usize::MAX,
            per_client,
        });
        let client = Client::of([192, 0, 2, 1].into());
        (Outbox::new(client, Arc::clone(&unread)), unread)
    }

    /// The bytes taken, how many it still takes, and how many at a time.
    struct Slow(Vec<u8>, usize, usize);

    impl AsyncWrite for Slow {
        fn poll_write(
            self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            self.poll_write_vectored(cx, &[IoSlice::new(bytes)])
        }

        fn poll_write_vectored(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            slices: &[IoSlice<'_>],
        ) -> Poll<io::Result<usize>> {
            if self.1 == 0 {
                return Poll::Pending;
            }
            let bytes: Vec<u8> = slices.iter().flat_map(|it| it.iter().copied()).collect();
            let taken = bytes.len().min(self.1).min(self.2);
            self.0.extend(&bytes[..taken]);
            self.1 -= taken;
            Poll::Ready(Ok(taken))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    #[test]
    fn bytes_leave_in_order_and_the_last_whole_frame_is_known() {
        let (mut outbox, _) = outbox(usize::MAX);
        for (text, sequence) in [
            ("abcd", Some(5)),
            ("", None),
            ("efg", Some(5)),
            ("hi", Some(7)),
        ] {
            let frame = Bytes::from_static(text.as_bytes());
            outbox.push(frame, sequence.map(Sequence), 1).unwrap();
        }
        let last = |outbox: &Outbox| outbox.last_written(Sequence(9)).0;
        assert_eq!((outbox.bytes(), last(&outbox)), (9, 4));
        let mut written = Written::default();
        let cx = &mut Context::from_waker(Waker::noop());
        let mut stream = Slow(Vec::new(), 5, 3);
        assert!(
            outbox
                .poll_write(&mut stream, cx, &mut written)
                .is_pending()
        );
        assert_eq!(
            (outbox.bytes(), last(&outbox)),
            (4, 4),
            "half of the second"
        );
        stream.1 = 3;
        assert!(
            outbox
                .poll_write(&mut stream, cx, &mut written)
                .is_pending()
        );
        assert_eq!((outbox.bytes(), last(&outbox)), (1, 6), "7 is begun");
        outbox.discard();
        assert_eq!(outbox.bytes(), 1, "a begun frame must be completed");
        outbox.push(Bytes::from_static(b"bye"), None, 2).unwrap();
        assert_eq!(outbox.oldest(), Some(1));
        stream.1 = 100;
        assert!(outbox.poll_write(&mut stream, cx, &mut written).is_ready());
        assert_eq!(stream.0, b"abcdefghibye");
        assert_eq!((written.frames, written.bytes), (5, 12));
        assert_eq!(last(&outbox), 9);
        // A resume from 3 is answered at 9.
        for sequence in [9, 4, 8, 10] {
            let frame = Bytes::from_static(b"x");
            outbox.push(frame, Some(Sequence(sequence)), 1).unwrap();
        }
        assert_eq!(last(&outbox), 3, "nothing of the replay is written");
    }

    #[test]
    fn bytes_count_as_unread_until_they_are_written() {
        let (mut outbox, unread) = outbox(2 * STREAM_SHARE_BYTES);
        let frame = Bytes::from(vec![0; STREAM_FREE_BYTES]);
        let push = |outbox: &mut Outbox| outbox.push(frame.clone(), None, 0);
        push(&mut outbox).unwrap();
        assert_eq!(unread.held(), 0);
        for _ in 0..STREAM_SHARE_BYTES / STREAM_FREE_BYTES * 2 {
            push(&mut outbox).unwrap();
        }
        assert_eq!(unread.held(), 2 * STREAM_SHARE_BYTES);
        assert!(push(&mut outbox).is_err());
        let mut stream = Slow(Vec::new(), usize::MAX, usize::MAX);
        let cx = &mut Context::from_waker(Waker::noop());
        let written = outbox.poll_write(&mut stream, cx, &mut Written::default());
        assert!(written.is_ready());
        assert_eq!(unread.held(), 0);
    }
}
