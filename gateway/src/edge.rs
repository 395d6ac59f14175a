//! What stands between the network and the routes: whose request it is, whether that client may
//! ask, and whether not too often.

use std::net::IpAddr;
use std::time::Instant;

use http::{HeaderMap, HeaderName, HeaderValue, Method};
use ipnet::{IpNet, Ipv4Net, Ipv6Net};

use crate::allowlist::Allowlist;
use crate::answer::Answer;
use crate::client_address::{ClientAddress, TrustedProxies};
use crate::client_shares::Client;
use crate::config::Surface;
use crate::connection::Group;
use crate::cors::{Cors, Origin};
use crate::failure::{self, Failure};
use crate::metrics::Metrics;
use crate::rate_limits::{RateLimiter, RateLimits, Standing};

/// The settings of the edge.
#[derive(Clone, Debug)]
pub struct EdgeConfig {
    /// How often a client may ask.
    pub limits: RateLimits,
    /// Processes that serve the same surfaces, at least 1: each holds its part of the limits.
    pub gateways: u32,
    /// Proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<IpNet>,
    /// Origins whose pages may read answers in a browser.
    pub origins: Vec<Origin>,
    /// Who may ask the data surface.
    pub data_allowlist: Vec<IpNet>,
}

impl Default for EdgeConfig {
    /// The limits of the interface, no proxies, no origins, loopback.
    fn default() -> Self {
        let loopback: [IpNet; 2] = [
            Ipv4Net::new_assert([127, 0, 0, 0].into(), 8).into(),
            Ipv6Net::new_assert(std::net::Ipv6Addr::LOCALHOST, 128).into(),
        ];
        Self {
            limits: RateLimits::default(),
            gateways: 1,
            trusted_proxies: Vec::new(),
            origins: Vec::new(),
            data_allowlist: loopback.to_vec(),
        }
    }
}

/// The edge of the process.
pub(crate) struct Edge {
    proxies: TrustedProxies,
    data_allowlist: Allowlist,
    cors: Cors,
    pub(crate) limiter: RateLimiter,
}

impl Edge {
    /// `credentials` are the names of the headers that carry them.
    pub(crate) fn new<'a>(
        config: &EdgeConfig,
        credentials: impl Iterator<Item = &'a HeaderName>,
    ) -> Self {
        Self {
            proxies: TrustedProxies::new(config.trusted_proxies.clone()),
            data_allowlist: Allowlist::new(config.data_allowlist.clone()),
            cors: Cors::new(config.origins.clone(), credentials),
            limiter: RateLimiter::new(config.limits.clone(), config.gateways),
        }
    }

    /// Whose request it is.
    pub(crate) fn client(&self, peer: IpAddr, headers: &HeaderMap) -> ClientAddress {
        self.proxies.client(peer, headers)
    }

    /// Whose bounds the connections of a peer are held to.
    pub(crate) fn group(&self, surface: Surface, peer: IpAddr) -> Group {
        match surface {
            Surface::Operator => Group::Operator,
            _ if self.proxies.trusts(peer.to_canonical()) => Group::Proxy,
            _ => Group::Public,
        }
    }

    /// Lets a request in and says how its client stands, or answers it right here: 401 to who is
    /// not allowed, 429 to who asks too often, 204 to a browser's preflight.
    pub(crate) fn admit(
        &self,
        request: &Arriving<'_>,
        metrics: &Metrics,
    ) -> Result<Option<Standing>, Failure> {
        let surface = request.surface;
        if !self.may_ask(surface, request.from) {
            return Err(failure::not_allowlisted().into());
        }
        let counted = Client::of(request.from.counted());
        let (now, method) = (self.limiter.at(request.at), request.method);
        let standing = self
            .limiter
            .request(now, counted, surface, method, request.route);
        let standing = standing.map_err(|refused| {
            metrics.rate_limited(refused.scope);
            Failure::from(failure::too_many_requests(surface, &refused))
        })?;
        match self.preflight(request) {
            Some(answer) => Err(answer.into()),
            None => Ok(standing),
        }
    }

    fn may_ask(&self, surface: Surface, client: ClientAddress) -> bool {
        surface != Surface::Data || self.data_allowlist.admits(client)
    }

    fn preflight(&self, request: &Arriving<'_>) -> Option<Answer> {
        match request.surface {
            Surface::Operator => None,
            _ => self.cors.preflight(request.method, request.headers),
        }
    }

    /// The origin whose page may read the answer to a request.
    pub(crate) fn reader(&self, surface: Surface, request: &HeaderMap) -> Option<HeaderValue> {
        (surface != Surface::Operator).then(|| self.cors.reader(request))?
    }

    /// Adds to an answer what it says to the browser of `reader`.
    pub(crate) fn tell(
        &self,
        surface: Surface,
        reader: Option<HeaderValue>,
        answer: &mut HeaderMap,
    ) {
        if surface != Surface::Operator {
            self.cors.tell(reader, answer);
        }
    }
}

/// A request at the edge.
pub(crate) struct Arriving<'r> {
    pub(crate) surface: Surface,
    pub(crate) from: ClientAddress,
    pub(crate) method: &'r Method,
    /// Its route, when its path has one.
    pub(crate) route: Option<&'static str>,
    pub(crate) headers: &'r HeaderMap,
    /// When its head was complete.
    pub(crate) at: Instant,
}
