//! Bodies, whole and bounded: each of them, and all of them together.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::Body;

use crate::client_shares::{Client, ClientShares, Share};
use crate::limits::FREE_BODY_BYTES;

/// What is still read of a body that is too long before it is refused: a client that has sent it
/// whole then finds the refusal instead of a connection that broke under its hands.
const DISCARDED_BYTES: usize = 1 << 20;

/// Why there is no body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NoBody {
    /// Longer than allowed.
    TooLarge,
    /// The client, or the process, holds as much as it may.
    NoRoom,
    /// The client went away, or its chunks are malformed.
    Broken,
}

/// What one body takes of its client's share and of the process beyond its first
/// [`FREE_BODY_BYTES`]; given back when dropped.
pub(crate) struct Held {
    room: Arc<ClientShares>,
    client: Client,
    bytes: usize,
    shares: Vec<Share>,
}

impl Held {
    pub(crate) const fn nothing(room: Arc<ClientShares>, client: Client) -> Self {
        Self {
            room,
            client,
            bytes: 0,
            shares: Vec::new(),
        }
    }

    /// The body has `length` bytes now.
    fn grow_to(&mut self, length: usize) -> Result<(), NoBody> {
        let more = length.saturating_sub(FREE_BODY_BYTES) - self.bytes;
        if more > 0 {
            let taken = self.room.take(self.client, more);
            self.shares.push(taken.map_err(|_| NoBody::NoRoom)?);
            self.bytes += more;
        }
        Ok(())
    }
}

/// Reads a body of at most `limit` bytes, which is held to what its client may hold. `declared` is its
/// Content-Length, if it has one. Whoever calls bounds the time this takes.
pub(crate) async fn read<B>(
    mut body: B,
    declared: Option<u64>,
    limit: usize,
    mut held: Held,
) -> Result<(Bytes, Held), NoBody>
where
    B: Body<Data = Bytes> + Unpin,
{
    if declared.is_some_and(|length| length > limit as u64) {
        discard(&mut body).await;
        return Err(NoBody::TooLarge);
    }
    let mut first = Bytes::new();
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| NoBody::Broken)?.into_data() else {
            continue;
        };
        let length = first.len().max(whole.len()) + data.len();
        if length > limit {
            discard(&mut body).await;
            return Err(NoBody::TooLarge);
        }
        held.grow_to(length)?;
        // Most bodies come in one piece, which then needs no copy.
        if first.is_empty() {
            first = data;
        } else {
            if whole.is_empty() {
                whole.extend_from_slice(&first);
            }
            whole.extend_from_slice(&data);
        }
    }
    let bytes = if whole.is_empty() {
        first
    } else {
        whole.freeze()
    };
    Ok((bytes, held))
}

/// Reads and forgets, up to a bound.
async fn discard<B: Body<Data = Bytes> + Unpin>(body: &mut B) {
    let mut left = DISCARDED_BYTES;
    while let Some(Ok(frame)) = body.frame().await {
        let length = frame.data_ref().map_or(0, Bytes::len);
        match left.checked_sub(length) {
            Some(rest) => left = rest,
            None => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client_shares::Bound;
    use hyper::body::Frame;
    use std::collections::VecDeque;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    /// A body in pieces; `None` breaks it off.
    struct Pieces(VecDeque<Option<&'static [u8]>>);

    impl Body for Pieces {
        type Data = Bytes;
        type Error = &'static str;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, &'static str>>> {
            Poll::Ready(self.0.pop_front().map(|piece| match piece {
                Some(piece) => Ok(Frame::data(Bytes::from_static(piece))),
                None => Err("it broke off"),
            }))
        }
    }

    fn room(total: usize, per_client: usize) -> Arc<ClientShares> {
        ClientShares::new(Bound { total, per_client })
    }

    fn client(last: u8) -> Client {
        Client::of([192, 0, 2, last].into())
    }

    fn read_pieces(
        pieces: &[Option<&'static [u8]>],
        declared: Option<u64>,
    ) -> (Result<Bytes, NoBody>, usize) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let mut body = Pieces(pieces.iter().copied().collect());
        let held = Held::nothing(room(usize::MAX, usize::MAX), client(1));
        let read = runtime.block_on(read(&mut body, declared, 8, held));
        (read.map(|(bytes, _)| bytes), body.0.len())
    }

    #[test]
    fn long_bodies_share_the_room_no_client_fills_it_and_short_ones_need_none() {
        const LONG: usize = FREE_BODY_BYTES + 100;
        static BYTES: [u8; LONG] = [0; LONG];
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let small = room(350, 250);
        let take = |last: u8, length: usize| {
            let halves = BYTES[..length].split_at(length / 2);
            let pieces = [halves.0, halves.1].map(Some).into_iter().collect();
            let held = Held::nothing(Arc::clone(&small), client(last));
            runtime.block_on(read(Pieces(pieces), None, LONG, held))
        };
        let mut held = vec![take(1, LONG).unwrap(), take(1, LONG).unwrap()];
        assert_eq!(take(1, LONG).err(), Some(NoBody::NoRoom));
        assert!(take(1, FREE_BODY_BYTES).is_ok());
        held.push(take(2, LONG).unwrap());
        assert_eq!(take(3, LONG).err(), Some(NoBody::NoRoom));
        held.pop();
        assert!(take(3, LONG).is_ok());
        drop(held);
        assert_eq!(small.held(), 0);
    }

    #[test]
    fn pieces_become_one_body() {
        for (pieces, whole) in [
            (vec![], ""),
            (vec![Some(&b"12345678"[..])], "12345678"),
            (
                vec![Some(&b""[..]), Some(b"123"), Some(b""), Some(b"45678")],
                "12345678",
            ),
            (vec![Some(&b"1"[..]), Some(b"2"), Some(b"3")], "123"),
        ] {
            assert_eq!(
                read_pieces(&pieces, None).0,
                Ok(Bytes::from(whole)),
                "{pieces:?}"
            );
        }
    }

    #[test]
    fn what_is_too_long_is_read_to_its_end_and_refused() {
        let long = [Some(&b"12345"[..]), Some(b"6789"), Some(b"rest")];
        assert_eq!(read_pieces(&long, None), (Err(NoBody::TooLarge), 0));
        assert_eq!(read_pieces(&long, Some(13)), (Err(NoBody::TooLarge), 0));
        static ENDLESS: [u8; 1 << 18] = [0; 1 << 18];
        let endless = vec![Some(&ENDLESS[..]); 100];
        let (read, unread) = read_pieces(&endless, None);
        assert_eq!(read, Err(NoBody::TooLarge));
        assert!(unread > 90, "{unread} of 100 pieces were left alone");
    }

    #[test]
    fn what_breaks_off_is_no_body() {
        assert_eq!(
            read_pieces(&[Some(b"1"), None], Some(8)).0,
            Err(NoBody::Broken)
        );
    }
}
