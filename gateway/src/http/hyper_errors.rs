//! Responses that hyper sends before a request exists (400, 431: a head too long, or no HTTP).
//! hyper sends them without a body; this stream adds the JSON body of the surface.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use foretell_wire::limits::{MAX_HEAD_BYTES, MAX_HEADERS};
use foretell_wire::{ApiError, ErrorCode};
use http::StatusCode;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::http::connections::connection::Activity;
use crate::http::failure::{Failure, X_ERROR_CODE};
use crate::http::surface::Surface;
use crate::policy::limits::MAX_UNREAD_BYTES;

/// A stream that completes such responses.
pub(crate) struct ErrorBodyStream<S> {
    stream: S,
    surface: Surface,
    activity: Arc<Activity>,
    /// Bytes of the replacement response still to be written.
    rest: Bytes,
    /// Set after such a response: bytes still read from the client before closing. An earlier close
    /// would reset the connection and discard the response before the client has read it.
    unread: Option<usize>,
}

impl<S> ErrorBodyStream<S> {
    pub(crate) fn new(stream: S, surface: Surface, activity: Arc<Activity>) -> Self {
        Self {
            stream,
            surface,
            activity,
            rest: Bytes::new(),
            unread: None,
        }
    }
}

impl<S> ErrorBodyStream<S> {
    /// The stream itself, after hyper has given it up.
    pub(crate) fn into_inner(self) -> S {
        self.stream
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for ErrorBodyStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for ErrorBodyStream<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        if this.rest.is_empty() && this.activity.is_reading_head() {
            let mut filled = buffers.iter().filter(|buffer| !buffer.is_empty());
            if let (Some(only), None) = (filled.next(), filled.next())
                && let Some(answer) = with_body(only, this.surface)
            {
                this.rest = answer;
                this.unread = Some(MAX_UNREAD_BYTES);
            }
        }
        if this.rest.is_empty() {
            return Pin::new(&mut this.stream).poll_write_vectored(cx, buffers);
        }
        while this.rest.has_remaining() {
            match ready!(Pin::new(&mut this.stream).poll_write(cx, &this.rest))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                written => this.rest.advance(written),
            }
        }
        Poll::Ready(Ok(buffers.iter().map(|buffer| buffer.len()).sum()))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_shutdown(cx))?;
        let mut room = [0; 4_096];
        while let Some(left) = self.unread.filter(|left| *left > 0) {
            let mut buffer = ReadBuf::new(&mut room);
            ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buffer))?;
            let read = buffer.filled().len();
            self.unread = Some(if read == 0 {
                0
            } else {
                left.saturating_sub(read)
            });
        }
        Poll::Ready(Ok(()))
    }
}

/// The response with a body, or `None` when these bytes are not a response of this kind.
fn with_body(bytes: &[u8], surface: Surface) -> Option<Bytes> {
    const EMPTY: &str = "content-length: 0\r\n";
    let text = core::str::from_utf8(bytes).ok()?;
    let status = text.strip_prefix("HTTP/1.1 4")?.get(..2)?;
    let status = StatusCode::from_bytes(&[b"4", status.as_bytes()].concat()).ok()?;
    let (before, after) = text.split_once(EMPTY)?;
    if !after.ends_with("\r\n\r\n") && after != "\r\n" {
        return None;
    }
    let error = error_of(status);
    let code = error.code().name();
    let body = Failure::from(error).render(surface).body;
    let headers = format!(
        "content-type: application/json\r\n{X_ERROR_CODE}: {code}\r\ncontent-length: {}\r\n",
        body.len()
    );
    let head = [before, &headers, after].concat();
    Some([head.as_bytes(), &body].concat().into())
}

fn error_of(status: StatusCode) -> ApiError {
    match status {
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE | StatusCode::URI_TOO_LONG => {
            let limits = [MAX_HEAD_BYTES, MAX_HEADERS].map(|limit| limit.to_string());
            ApiError::new(ErrorCode::HeadTooLarge, limits.into())
        }
        _ => ErrorCode::MalformedHttp.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_without_a_body_gets_one() {
        let bare = "HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\n\
                    content-length: 0\r\ndate: Fri, 20 Nov 2026 19:11:23 GMT\r\n\r\n";
        let found = with_body(bare.as_bytes(), Surface::Data).expect("it is bare");
        let body = r#"{"error":"bad_request: request line and headers are longer than 16384 bytes, or more than 100 headers"}"#;
        let expected = format!(
            "HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\n\
             content-type: application/json\r\nx-error-code: head_too_large\r\n\
             content-length: {}\r\n\
             date: Fri, 20 Nov 2026 19:11:23 GMT\r\n\r\n{body}",
            body.len()
        );
        assert_eq!(found, expected);
        let no_http = "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n";
        let found = with_body(no_http.as_bytes(), Surface::Trading).expect("it is bare");
        assert!(found.ends_with(b"\r\n\r\n{\"error\":\"not an HTTP request\"}"));
    }

    #[test]
    fn other_answers_stay_what_they_are() {
        for other in [
            "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 431 x\r\ncontent-length: 5\r\n\r\nabcde",
            "HTTP/1.1 431 x\r\ncontent-length: 0\r\n",
            "HTTP/1.1 4",
            "",
        ] {
            assert_eq!(with_body(other.as_bytes(), Surface::Data), None, "{other}");
        }
    }
}
