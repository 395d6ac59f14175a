//! A gateway without an engine, and a minimal HTTP client for tests.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use foretell_auth::MasterSecret;
use foretell_gateway::{ConnectionLimits, Gateway, GatewayConfig, OperatorToken, Surface};
use socket2::{Domain, Socket, Type};

/// Far longer than any answer takes: reaching it means that no answer comes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
pub(crate) const TOKEN: &str = "0123456789abcdef0123456789abcdef";

pub(crate) fn config(connections: ConnectionLimits) -> GatewayConfig {
    let nowhere = std::path::PathBuf::from("/nonexistent/foretell");
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let (socket, master) = (
        nowhere.join("engine.sock"),
        MasterSecret::from_bytes([1; 32]),
    );
    GatewayConfig {
        listen: vec![(Surface::Trading, any), (Surface::Operator, any)],
        threads: 2,
        connections,
        operator_token: Some(OperatorToken::new(TOKEN).unwrap()),
        ..GatewayConfig::new(nowhere, socket, master)
    }
}

/// Starts a gateway; returns the addresses of its trading and operator surfaces.
pub(crate) fn start(config: GatewayConfig) -> (Gateway, SocketAddr, SocketAddr) {
    let gateway = foretell_gateway::start(config).unwrap();
    let [(Surface::Trading, trading), (Surface::Operator, operator)] = *gateway.addresses() else {
        panic!("{:?}", gateway.addresses());
    };
    (gateway, trading, operator)
}

pub(crate) fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// A connection from 127.0.0.`host`: another client than 127.0.0.1.
pub(crate) fn connect_from(host: u8, to: SocketAddr) -> TcpStream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    let from = SocketAddr::from(([127, 0, 0, host], 0));
    socket.bind(&from.into()).unwrap();
    socket.connect(&to.into()).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.into()
}

/// Sends bytes and reads one answer with a Content-Length.
pub(crate) fn ask(stream: &mut TcpStream, request: &str) -> (u16, String, String) {
    stream.write_all(request.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    let mut byte = [0];
    while !bytes.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).unwrap();
        bytes.push(byte[0]);
    }
    let head = String::from_utf8(bytes).unwrap().to_lowercase();
    let status = head[9..12].parse().unwrap();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    if !request.starts_with("HEAD") {
        stream.read_exact(&mut body).unwrap();
    }
    (status, head, String::from_utf8(body).unwrap())
}

pub(crate) fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")
}
