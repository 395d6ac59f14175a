//! The listen addresses of an exchange, reserved for its lifetime.

use std::net::SocketAddr;

use socket2::{Domain, Socket, Type};

use crate::failure::Failure;

/// Reserves an address as long as the socket lives; for port 0 the kernel chooses one. Returns the address.
///
/// Gateways share a port (`SO_REUSEPORT`), so two exchanges could do so unnoticed. The first bind,
/// without sharing, fails if any other process has the port. The second socket stays bound without
/// listening: a restarted gateway can bind the port and another exchange cannot.
///
/// # Errors
/// Another process has the address, or this machine does not have it.
pub(crate) fn reserve(listen: SocketAddr) -> Result<(SocketAddr, Socket), Failure> {
    let bind = |address: SocketAddr, shared: bool| -> std::io::Result<Socket> {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
        // The probe must ignore closing connections of an earlier run. The reserved socket must not
        // have this option, or the next exchange's probe would succeed.
        socket.set_reuse_address(!shared)?;
        socket.set_reuse_port(shared)?;
        socket.bind(&address.into())?;
        Ok(socket)
    };
    let take = || -> std::io::Result<(SocketAddr, Socket)> {
        if listen.port() == 0 {
            // The kernel chooses a port that no other process has, also when this one would share it.
            let socket = bind(listen, true)?;
            return Ok((address_of(&socket)?, socket));
        }
        let alone = bind(listen, false)?;
        let address = address_of(&alone)?;
        drop(alone);
        Ok((address, bind(address, true)?))
    };
    take().map_err(|error| {
        Failure::new(format!("cannot listen on {listen}: {error}"))
            .hint("another exchange may be running there: choose other addresses with --trading-listen, --data-listen, --catalog-listen and --operator-listen")
    })
}

fn address_of(socket: &Socket) -> std::io::Result<SocketAddr> {
    let address = socket.local_addr()?.as_socket();
    address.ok_or_else(|| std::io::ErrorKind::AddrNotAvailable.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_taken_once_and_shared_only_with_our_own_gateways() {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let (address, reserved) = reserve(any).unwrap();
        let refused = reserve(address).unwrap_err().to_string();
        assert!(refused.contains("another exchange"), "{refused}");

        let gateway = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        gateway.set_reuse_port(true).unwrap();
        gateway.bind(&address.into()).unwrap();
        gateway.listen(1).unwrap();
        drop((reserved, gateway));
        reserve(address).unwrap();
    }
}
