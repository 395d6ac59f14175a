//! Peers that break the protocol or do not read lose their connection; other peers are not
//! affected.

use std::io::Read;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use foretell_engine::client::{Client, ClientError};
use foretell_link::{Answer, Goodbye, Hello, PROTOCOL_VERSION, Request, Role};
use foretell_model::{Command, SystemMode};

use crate::harness::{Engine, config};
use crate::world::World;

/// Whether the connection ends: by end of file, or by a reset if the engine left bytes unread.
fn ends(stream: &mut UnixStream) -> bool {
    let mut sink = [0; 4_096];
    loop {
        match stream.read(&mut sink) {
            Ok(0) | Err(_) => return true,
            Ok(_) => {}
        }
    }
}

#[test]
fn garbage_and_absurd_lengths_end_the_connection_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let engine = Engine::start(config(directory.path()));
    let world = World::build(&engine);
    let mut bystander = engine.client(Role::Trading);

    let mut hello = Vec::new();
    Request::Hello(Hello {
        version: PROTOCOL_VERSION,
        role: Role::Trading,
        name: "odd\n\u{202e}name",
    })
    .encode(&mut hello)
    .unwrap();
    let after_hello = |bytes: &[u8]| [&hello[..], bytes].concat();
    let status = Request::Status { request: 1 };
    let mut status_first = Vec::new();
    status.encode(&mut status_first).unwrap();
    let cases = [
        ("garbage", vec![0xEE; 5_000]),
        ("http", b"GET / HTTP/1.1\r\n\r\n".to_vec()),
        ("no greeting", status_first),
        (
            "absurd length",
            after_hello(&[0xFF, 0xFF, 0xFF, 0xFF, 2, 0, 0, 0]),
        ),
        ("unknown kind", after_hello(&[0, 0, 0, 0, 99, 0, 0, 0])),
        (
            "a reply from a gateway",
            after_hello(&[0, 0, 0, 0, 129, 0, 0, 0]),
        ),
        ("empty submit", after_hello(&[0, 0, 0, 0, 2, 0, 0, 0])),
        ("two greetings", after_hello(&hello)),
    ];
    for (number, (name, bytes)) in (1..).zip(cases) {
        let mut stream = UnixStream::connect(&engine.ready.socket).unwrap();
        // The engine may close before all of it is written.
        let _ = stream.write_all(&bytes);
        assert!(ends(&mut stream), "{name}");
        bystander.ask(world.resting_buy(number).place(), b"signed");
    }
    let status = bystander.wait_for(|status| status.connections == 1);
    assert_eq!(status.live_orders, 8);
    engine.stop();
}

#[test]
fn a_role_submits_only_what_it_may() {
    let directory = tempfile::tempdir().unwrap();
    let engine = Engine::start(config(directory.path()));
    let world = World::build(&engine);
    let mode = SystemMode::Paused;
    for (role, command) in [
        (Role::Trading, Command::SetMode { mode }),
        (Role::Reader, world.resting_buy(1).place()),
        (Role::Operator, Command::Continue),
        (Role::Operator, Command::AdvanceTime),
    ] {
        let mut client = engine.client(role);
        client.send(command, &[]).unwrap();
        let answer = client.client.receive();
        assert!(matches!(answer, Err(ClientError::Io(_))), "{answer:?}");
    }
    let status = engine.client(Role::Reader).status();
    assert_eq!((status.mode, status.live_orders), (SystemMode::Running, 0));
    engine.stop();
}

#[test]
fn other_versions_and_too_many_peers_are_told_so() {
    let directory = tempfile::tempdir().unwrap();
    let mut config = config(directory.path());
    config.max_connections = 2;
    let engine = Engine::start(config);

    let mut stream = UnixStream::connect(&engine.ready.socket).unwrap();
    let mut hello = Vec::new();
    Request::Hello(Hello {
        version: PROTOCOL_VERSION + 1,
        role: Role::Reader,
        name: "",
    })
    .encode(&mut hello)
    .unwrap();
    stream.write_all(&hello).unwrap();
    let mut goodbye = Vec::new();
    Answer::Goodbye(Goodbye::Version).encode(&mut goodbye);
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    assert_eq!(answer, goodbye);

    let mut first = engine.client(Role::Reader);
    first.wait_for(|status| status.connections == 1);
    let second = engine.client(Role::Reader);
    let third = Client::connect(&engine.ready.socket, "third", Role::Reader);
    assert!(
        matches!(&third, Err(ClientError::NotWelcome(answer)) if **answer == Answer::Goodbye(Goodbye::TooManyConnections)),
        "{third:?}"
    );
    drop(second);
    first.wait_for(|status| status.connections == 1);
    engine.client(Role::Reader);
    engine.stop();
}

#[test]
fn a_peer_that_never_reads_is_cut_off_and_harms_no_other() {
    let directory = tempfile::tempdir().unwrap();
    let mut config = config(directory.path());
    config.patience = Duration::from_millis(200);
    let engine = Engine::start(config);
    let world = World::build(&engine);
    let mut bystander = engine.client(Role::Trading);
    let rude = engine.client(Role::Trading);

    let socket = engine.ready.socket.clone();
    let flood = std::thread::spawn(move || {
        let mut rude = rude;
        let mut sent = 0_u64;
        // Blocks while the engine does not read, and fails once it has cut the connection.
        while rude
            .client
            .send(&[Request::Status { request: sent }])
            .is_ok()
        {
            sent += 1;
        }
        drop(socket);
        sent
    });
    let mut number = 0;
    while !flood.is_finished() {
        number += 1;
        if number <= 1_000 {
            bystander.ask(world.resting_buy(number).place(), b"signed");
        } else {
            bystander.status();
        }
    }
    assert!(flood.join().unwrap() > 0);
    bystander.wait_for(|status| status.connections == 1);

    // A peer that never sends its hello is cut, too.
    let mut silent = UnixStream::connect(&engine.ready.socket).unwrap();
    assert!(ends(&mut silent));
    engine.stop();
}
