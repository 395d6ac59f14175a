//! Checks between the network and the routes: the client's address, the allowlist, the host, CORS and
//! rate limits.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Instant;

use foretell_wire::ErrorCode;
use http::uri::Authority;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};

use crate::config::RequestPolicyConfig;
use crate::http::answer::Answer;
use crate::http::connections::client_quotas::Client;
use crate::http::connections::connection::ConnectionGroup;
use crate::http::failure::Failure;
use crate::http::surface::{ErrorShape, Surface};
use crate::metrics::Metrics;
use crate::policy::allowlist::Allowlist;
use crate::policy::client_address::{ClientAddress, TrustedProxies};
use crate::policy::cors::Cors;
use crate::policy::host::{is_this_machine, named_host};
use crate::policy::limits::MAX_WORK_WAIT;
use crate::policy::rate_limits::{QuotaStatus, RateLimited, RateLimiter, Scope};
use crate::policy::work::{WorkAccount, WorkAccounts};

pub(crate) struct RequestPolicy {
    proxies: TrustedProxies,
    data_allowlist: Allowlist,
    cors: Cors,
    /// Names of the operator surface besides those of this machine.
    operator_hosts: Vec<String>,
    pub(crate) limiter: RateLimiter,
    work: WorkAccounts,
    /// The work of clients of the operator surface and the health listener who show no token.
    local_work: WorkAccounts,
    /// The account of whom the token of the operator surface admits.
    operators: Arc<WorkAccount>,
}

impl RequestPolicy {
    /// `credentials` are the names of the headers with credentials.
    pub(crate) fn new<'a>(
        config: &RequestPolicyConfig,
        credentials: impl Iterator<Item = &'a HeaderName>,
    ) -> Self {
        let limiter = RateLimiter::new(config.limits.clone(), config.gateways);
        let nobody = Client::of(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        Self {
            proxies: TrustedProxies::new(config.trusted_proxies.clone()),
            data_allowlist: Allowlist::new(config.data_allowlist.clone()),
            cors: Cors::new(config.origins.clone(), credentials),
            operator_hosts: config.operator_hosts.clone(),
            work: WorkAccounts::new(limiter.work_share()),
            local_work: WorkAccounts::new(limiter.work_share()),
            operators: WorkAccounts::new(None).of(nobody),
            limiter,
        }
    }

    /// The account to which the work for a client of a surface is charged.
    pub(crate) fn work_account(&self, surface: Surface, client: Client) -> Arc<WorkAccount> {
        match surface.is_public() {
            true => self.work.of(client),
            false => self.local_work.of(client),
        }
    }

    /// The account of operators, whose work has no limit.
    pub(crate) fn operators_account(&self) -> Arc<WorkAccount> {
        Arc::clone(&self.operators)
    }

    /// Waits until it is a client's turn, after the requests that wait already.
    ///
    /// # Errors
    /// When that takes longer than [`MAX_WORK_WAIT`].
    pub(crate) async fn turn(&self, account: &WorkAccount) -> Result<(), RateLimited> {
        if account.wait(Instant::now()).is_zero() {
            return Ok(());
        }
        let turn = tokio::time::timeout(MAX_WORK_WAIT, account.turn());
        turn.await.or_else(|_| {
            let refused = self.limiter.work_refused(account.wait(Instant::now()));
            refused.map_or(Ok(()), Err)
        })
    }

    /// The client of a request.
    pub(crate) fn client(&self, peer: IpAddr, headers: &HeaderMap) -> ClientAddress {
        self.proxies.client(peer, headers)
    }

    /// The set of bounds for the connections of a peer.
    pub(crate) fn group(&self, surface: Surface, peer: IpAddr) -> ConnectionGroup {
        match surface {
            Surface::Operator => ConnectionGroup::Operator,
            Surface::Health => ConnectionGroup::Health,
            _ if self.proxies.trusts(peer.to_canonical()) => ConnectionGroup::Proxy,
            _ => ConnectionGroup::Public,
        }
    }

    /// Admits a request and returns the client's limit status, or answers it: 401 for an address
    /// that is not allowed, 403 for a foreign host, 429 over a limit, 204 for a preflight.
    pub(crate) fn admit(
        &self,
        request: &IncomingRequest<'_>,
        metrics: &Metrics,
    ) -> Result<Option<QuotaStatus>, Box<Answer>> {
        let surface = request.surface;
        if !self.may_ask(surface, request.from) {
            return Err(Box::new(
                Failure::from(ErrorCode::AddressNotAllowed).render(request.shape),
            ));
        }
        if !self.is_own_host(request) {
            return Err(Box::new(
                Failure::from(ErrorCode::HostNotAllowed).render(request.shape),
            ));
        }
        let counted = Client::of(request.from.counted());
        let now = self.limiter.at(request.at);
        let charged = request
            .scope
            .map(|scope| self.limiter.request(now, counted, scope));
        let quota = charged.unwrap_or(Ok(None)).map_err(|refused| {
            metrics.rate_limited(refused.scope);
            Box::new(Failure::from(&refused).render(request.shape))
        })?;
        match self.preflight(request) {
            Some(answer) => Err(Box::new(answer)),
            None => Ok(quota),
        }
    }

    fn may_ask(&self, surface: Surface, client: ClientAddress) -> bool {
        surface != Surface::Data || self.data_allowlist.admits(client)
    }

    /// Whether a request to the operator surface names it by one of its own names.
    fn is_own_host(&self, request: &IncomingRequest<'_>) -> bool {
        let is_own = |host: &Authority| {
            let mut others = self.operator_hosts.iter();
            is_this_machine(host) || others.any(|own| own.eq_ignore_ascii_case(host.host()))
        };
        let named = || named_host(request.uri, request.headers);
        request.surface != Surface::Operator || named().as_ref().is_some_and(is_own)
    }

    fn preflight(&self, request: &IncomingRequest<'_>) -> Option<Answer> {
        match request.surface {
            Surface::Operator => None,
            _ => self.cors.preflight(request.method, request.headers),
        }
    }

    /// The origin whose page may read the answer to a request.
    pub(crate) fn allowed_origin(
        &self,
        surface: Surface,
        request: &HeaderMap,
    ) -> Option<HeaderValue> {
        (surface != Surface::Operator).then(|| self.cors.allowed_origin(request))?
    }

    /// Adds the CORS headers for the browser page of `origin`.
    pub(crate) fn add_cors_headers(
        &self,
        surface: Surface,
        origin: Option<HeaderValue>,
        answer: &mut HeaderMap,
    ) {
        if surface != Surface::Operator {
            self.cors.add_cors_headers(origin, answer);
        }
    }
}

/// The parts of a request that these checks use.
pub(crate) struct IncomingRequest<'r> {
    pub(crate) surface: Surface,
    pub(crate) from: ClientAddress,
    pub(crate) method: &'r Method,
    pub(crate) uri: &'r Uri,
    /// The shape of its failures.
    pub(crate) shape: ErrorShape,
    /// Rate limit that the request counts in.
    pub(crate) scope: Option<Scope>,
    pub(crate) headers: &'r HeaderMap,
    /// When its head was complete.
    pub(crate) at: Instant,
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn only_operators_work_without_a_limit() {
        let policy = RequestPolicy::new(&RequestPolicyConfig::default(), std::iter::empty());
        let client = Client::of(IpAddr::V4(Ipv4Addr::LOCALHOST));
        let hour = Duration::from_secs(3_600);
        let now = Instant::now();
        for surface in [Surface::Trading, Surface::Operator, Surface::Health] {
            policy.work_account(surface, client).charge(now, hour);
            let wait = policy.work_account(surface, client).wait(now);
            assert!(wait > hour, "{}: {wait:?}", surface.name());
        }
        policy.operators_account().charge(now, hour);
        assert!(policy.operators_account().wait(now).is_zero());
    }
}
