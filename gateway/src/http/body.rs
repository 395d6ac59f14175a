//! Complete request bodies, with a limit for each, for each client and for the process.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::Body;

use crate::http::connections::client_quotas::{Client, ClientQuotas, Reservation};
use crate::policy::limits::FREE_BODY_BYTES;

/// Bytes read and discarded of a body that is too long, before the rejection. A client that sends
/// its whole body then reads the response instead of a connection reset.
const DISCARDED_BYTES: usize = 1 << 20;

/// Why there is no body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BodyError {
    /// Longer than the endpoint's limit.
    TooLarge,
    /// The client, or the process, has reached its bound of body bytes.
    LimitReached,
    /// The client disconnected, or its chunks are malformed.
    Broken,
}

/// The bytes of one body beyond its first [`FREE_BODY_BYTES`], counted for its client and the
/// process; released on drop.
pub(crate) struct BodyPermit {
    budget: Arc<ClientQuotas>,
    client: Client,
    bytes: usize,
    shares: Vec<Reservation>,
}

impl BodyPermit {
    pub(crate) const fn new(budget: Arc<ClientQuotas>, client: Client) -> Self {
        Self {
            budget,
            client,
            bytes: 0,
            shares: Vec::new(),
        }
    }

    /// Accounts for a body that now has `length` bytes.
    pub(crate) fn grow_to(&mut self, length: usize) -> Result<(), BodyError> {
        let more = (length.saturating_sub(FREE_BODY_BYTES)).saturating_sub(self.bytes);
        if more > 0 {
            let taken = self.budget.take(self.client, more);
            self.shares
                .push(taken.map_err(|_| BodyError::LimitReached)?);
            self.bytes += more;
        }
        Ok(())
    }
}

/// Reads a body of at most `limit` bytes within the client's bound. `declared` is the
/// Content-Length, if present. The caller bounds the time.
pub(crate) async fn read<B>(
    mut body: B,
    declared: Option<u64>,
    limit: usize,
    mut permit: BodyPermit,
) -> Result<(Bytes, BodyPermit), BodyError>
where
    B: Body<Data = Bytes> + Unpin,
{
    if declared.is_some_and(|length| length > limit as u64) {
        discard(&mut body).await;
        return Err(BodyError::TooLarge);
    }
    let mut first = Bytes::new();
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| BodyError::Broken)?.into_data() else {
            continue;
        };
        let length = first.len().max(whole.len()) + data.len();
        if length > limit {
            discard(&mut body).await;
            return Err(BodyError::TooLarge);
        }
        permit.grow_to(length)?;
        // Most bodies arrive in one piece, which needs no copy.
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
    Ok((bytes, permit))
}

/// Reads and discards up to a bound.
pub(crate) async fn discard<B: Body<Data = Bytes> + Unpin>(body: &mut B) {
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
    use crate::http::connections::client_quotas::Bound;
    use hyper::body::Frame;
    use std::collections::VecDeque;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    /// A body in pieces; `None` is an error.
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

    fn budget(total: usize, per_client: usize) -> Arc<ClientQuotas> {
        ClientQuotas::new(Bound { total, per_client })
    }

    fn client(last: u8) -> Client {
        Client::of([192, 0, 2, last].into())
    }

    fn read_pieces(
        pieces: &[Option<&'static [u8]>],
        declared: Option<u64>,
    ) -> (Result<Bytes, BodyError>, usize) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let mut body = Pieces(pieces.iter().copied().collect());
        let permit = BodyPermit::new(budget(usize::MAX, usize::MAX), client(1));
        let read = runtime.block_on(read(&mut body, declared, 8, permit));
        (read.map(|(bytes, _)| bytes), body.0.len())
    }

    #[test]
    fn long_bodies_share_the_room_no_client_fills_it_and_short_ones_need_none() {
        const LONG: usize = FREE_BODY_BYTES + 100;
        static BYTES: [u8; LONG] = [0; LONG];
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let small = budget(350, 250);
        let take = |last: u8, length: usize| {
            let halves = BYTES[..length].split_at(length / 2);
            let pieces = [halves.0, halves.1].map(Some).into_iter().collect();
            let permit = BodyPermit::new(Arc::clone(&small), client(last));
            runtime.block_on(read(Pieces(pieces), None, LONG, permit))
        };
        let mut held = vec![take(1, LONG).unwrap(), take(1, LONG).unwrap()];
        assert_eq!(take(1, LONG).err(), Some(BodyError::LimitReached));
        assert!(take(1, FREE_BODY_BYTES).is_ok());
        held.push(take(2, LONG).unwrap());
        assert_eq!(take(3, LONG).err(), Some(BodyError::LimitReached));
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
        assert_eq!(read_pieces(&long, None), (Err(BodyError::TooLarge), 0));
        assert_eq!(read_pieces(&long, Some(13)), (Err(BodyError::TooLarge), 0));
        static ENDLESS: [u8; 1 << 18] = [0; 1 << 18];
        let endless = vec![Some(&ENDLESS[..]); 100];
        let (read, unread) = read_pieces(&endless, None);
        assert_eq!(read, Err(BodyError::TooLarge));
        assert!(unread > 90, "{unread} of 100 pieces were left alone");
    }

    #[test]
    fn what_breaks_off_is_no_body() {
        assert_eq!(
            read_pieces(&[Some(b"1"), None], Some(8)).0,
            Err(BodyError::Broken)
        );
    }
}
