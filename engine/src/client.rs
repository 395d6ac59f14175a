//! A blocking client of the engine's socket, for tests, benchmarks and tools. Gateways have an
//! asynchronous client; both use `foretell-link`.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use foretell_link::{
    Answer, AnswerDecoder, Hello, PROTOCOL_VERSION, Request, Role, TooLong, Violation, Welcome,
};
use thiserror::Error;

/// Errors of a client connection.
#[derive(Debug, Error)]
pub enum ClientError {
    /// The socket failed, or the engine closed it.
    #[error("engine socket: {0}")]
    Io(#[from] io::Error),
    /// The engine broke the protocol.
    #[error("engine: {0}")]
    Violation(#[from] Violation),
    /// The request is too long to send.
    #[error("{0}")]
    TooLong(#[from] TooLong),
    /// The engine answered the hello with something other than a welcome.
    #[error("the engine rejected this client: {0:?}")]
    NotWelcome(Box<Answer>),
}

/// One connection. Any number of requests and answers may be in flight; the engine stops reading
/// while the client does not read answers.
#[derive(Debug)]
pub struct Client {
    stream: UnixStream,
    decoder: AnswerDecoder,
    out: Vec<u8>,
    /// The engine's welcome.
    pub welcome: Welcome,
}

impl Client {
    /// Connects and sends the hello.
    ///
    /// # Errors
    /// [`ClientError`]: no engine listens there, or it does not welcome the client.
    pub fn connect(socket: &Path, name: &str, role: Role) -> Result<Self, ClientError> {
        Self::greet(UnixStream::connect(socket)?, name, role)
    }

    fn greet(mut stream: UnixStream, name: &str, role: Role) -> Result<Self, ClientError> {
        let mut decoder = AnswerDecoder::new();
        let mut out = Vec::new();
        let version = PROTOCOL_VERSION;
        Request::Hello(Hello {
            version,
            role,
            name,
        })
        .encode(&mut out)?;
        let sent = stream.write_all(&out);
        out.clear();
        // An engine that turns this client away may close before the hello is written; its answer
        // can still be read.
        match next(&mut stream, &mut decoder) {
            Ok(Answer::Welcome(welcome)) => Ok(Self {
                stream,
                decoder,
                out,
                welcome,
            }),
            Ok(other) => Err(ClientError::NotWelcome(Box::new(other))),
            Err(error) => Err(sent.err().map_or(error, ClientError::Io)),
        }
    }

    /// Sends requests, all in one write.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn send(&mut self, requests: &[Request<'_>]) -> Result<(), ClientError> {
        self.out.clear();
        for request in requests {
            request.encode(&mut self.out)?;
        }
        self.stream.write_all(&self.out)?;
        Ok(())
    }

    /// Waits for the next answer.
    ///
    /// # Errors
    /// [`ClientError`]; the end of the connection is [`io::ErrorKind::UnexpectedEof`].
    pub fn receive(&mut self) -> Result<Answer, ClientError> {
        next(&mut self.stream, &mut self.decoder)
    }

    /// Sends one request and waits for the next answer.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn ask(&mut self, request: Request<'_>) -> Result<Answer, ClientError> {
        self.send(&[request])?;
        self.receive()
    }

    /// The socket, for timeouts and for tests that break the protocol.
    #[must_use]
    pub const fn stream(&self) -> &UnixStream {
        &self.stream
    }
}

fn next(stream: &mut UnixStream, decoder: &mut AnswerDecoder) -> Result<Answer, ClientError> {
    loop {
        if let Some(answer) = decoder.next_answer()? {
            return Ok(answer);
        }
        match stream.read(decoder.space())? {
            0 => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            count => decoder.filled(count),
        }
    }
}

#[cfg(test)]
mod tests {
    use foretell_link::Goodbye;

    use super::*;

    #[test]
    fn a_client_turned_away_before_it_greets_hears_why() {
        let (stream, mut engine) = UnixStream::pair().unwrap();
        let mut goodbye = Vec::new();
        Answer::Goodbye(Goodbye::TooManyConnections).encode(&mut goodbye);
        engine.write_all(&goodbye).unwrap();
        drop(engine);
        let refused = Client::greet(stream, "late", Role::Reader);
        assert!(
            matches!(&refused, Err(ClientError::NotWelcome(answer)) if **answer == Answer::Goodbye(Goodbye::TooManyConnections)),
            "{refused:?}"
        );
    }
}
