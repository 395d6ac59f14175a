//! An exchange in this process: an engine's thread, and the configuration of a gateway beside it.

use std::net::SocketAddr;
use std::path::Path;
use std::thread::JoinHandle;

use foretell_auth::{Domain, Domains, MasterSecret};
use foretell_engine::{
    EngineConfig, JOURNAL_DIRECTORY, SNAPSHOT_DIRECTORY, SOCKET_NAME, SigningDomain, StopHandle,
};
use foretell_gateway::{GatewayConfig, OperatorToken, RateLimits, RequestPolicyConfig, Surface};

/// The operator's token.
pub const TOKEN: &str = "0123456789abcdef0123456789abcdef";
/// The byte of the master secret.
pub const MASTER: u8 = 9;

/// A running engine; dropping it stops it.
pub struct EngineThread(Option<(JoinHandle<()>, StopHandle)>);

impl EngineThread {
    /// Starts it and waits until it is ready.
    ///
    /// # Panics
    /// It does not become ready.
    #[must_use]
    pub fn start(config: EngineConfig) -> Self {
        let (ready, is_ready) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            foretell_engine::run(&config, |engine| {
                ready.send(engine.stop.clone()).expect("somebody waits");
            })
            .expect("the engine ends in order");
        });
        let stop = is_ready.recv().expect("the engine starts");
        Self(Some((thread, stop)))
    }
}

impl Drop for EngineThread {
    fn drop(&mut self) {
        if let Some((thread, stop)) = self.0.take() {
            stop.stop();
            let ended = thread.join();
            // A panic while another unwinds would hide it.
            if !std::thread::panicking() {
                ended.expect("the engine does not panic");
            }
        }
    }
}

/// An engine on a data directory, with the default signing domains.
#[must_use]
pub fn engine_config(data: &Path) -> EngineConfig {
    let domain = |domain: &Domain| SigningDomain {
        number: domain.number(),
        separator: *domain.separator(),
        text: domain.text(),
    };
    EngineConfig {
        handle_signals: false,
        domains: Domains::default().iter().map(domain).collect(),
        ..EngineConfig::new(data.to_owned())
    }
}

/// A gateway on the data directory of an engine: trading and operator surface on free ports, no
/// rate limits.
///
/// # Panics
/// The token is none.
#[must_use]
pub fn gateway_config(data: &Path) -> GatewayConfig {
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let (journal, socket) = (data.join(JOURNAL_DIRECTORY), data.join(SOCKET_NAME));
    GatewayConfig {
        snapshots: data.join(SNAPSHOT_DIRECTORY),
        listen: vec![(Surface::Trading, any), (Surface::Operator, any)],
        policy: RequestPolicyConfig {
            limits: RateLimits::off(),
            ..RequestPolicyConfig::default()
        },
        operator_token: Some(OperatorToken::new(TOKEN).expect("a token")),
        ..GatewayConfig::new(journal, socket, MasterSecret::from_bytes([MASTER; 32]))
    }
}
