//! A route: one method of one path, and everything that is decided about its requests.

use std::sync::OnceLock;

use foretell_model::{CommandKind, RoleSet};
use foretell_wire::ErrorCode;
use foretell_wire::limits::{LIST_BODY_BYTES, SMALL_BODY_BYTES};
#[cfg(all(test, feature = "documents"))]
use foretell_wire::operator::OperatorCommand;
use foretell_wire::schema::JsonSchema;
use http::Method;

use crate::http::endpoint::{Endpoint, Freshness, Handler, handler};
use crate::http::operation::Operation;
use crate::http::surface::Surface;
use crate::metrics::Meter;
#[cfg(feature = "documents")]
use crate::openapi::described::Described;
use crate::policy::rate_limits::Scope;

/// One method of one path.
pub(crate) struct Route {
    pub(crate) method: Method,
    /// `{name}` matches one segment, `{*name}` the rest. It is also the route's name in metrics and
    /// logs, which never show text from a client.
    pub(crate) path: &'static str,
    /// The narrowest window that counts its requests; `None` on a surface without limits.
    pub(crate) scope: Option<Scope>,
    /// The operators who may send it; `None` when it needs no operator's token.
    pub(crate) operators: Option<RoleSet>,
    /// Longest body in bytes.
    pub(crate) body_limit: usize,
    /// Whether a host that does not lead its cluster leaves it to the leader.
    pub(crate) is_write: bool,
    /// Whether an answer may have megabytes.
    pub(crate) is_large: bool,
    /// Whether it is answered after the longest wait for its client's turn, where others are refused.
    pub(crate) is_urgent: bool,
    pub(crate) freshness: Freshness,
    /// The surface whose shape its failures have; `None` for the surface that it is on.
    pub(crate) shape: Option<Surface>,
    pub(crate) handle: Handler,
    /// What the parts of its request and its answer say of themselves.
    parts: fn(&mut Operation),
    /// The kind of its commands.
    command: Option<CommandKind>,
    /// Errors of the handler itself, beside those of its parts and of its command.
    pub(crate) errors: &'static [&'static [ErrorCode]],
    /// What the documents say of failures with a body of their own.
    #[cfg(feature = "documents")]
    refusal: Option<Refusal>,
    /// All errors, once they were asked for.
    listed: OnceLock<Vec<ErrorCode>>,
    /// Counts its successes: looked up once, because a lookup costs as much as a route.
    pub(crate) meter: OnceLock<Meter>,
}

/// The body of their own that failures with some statuses may have.
#[cfg(feature = "documents")]
struct Refusal {
    statuses: &'static [u16],
    describe: fn(&mut Described, statuses: &'static [u16]),
}

impl Route {
    fn new<Parts, E>(method: Method, path: &'static str, scope: Option<Scope>, endpoint: E) -> Self
    where
        E: Endpoint<Parts>,
    {
        Self {
            is_write: matches!(method, Method::POST | Method::DELETE),
            method,
            path,
            scope,
            operators: None,
            body_limit: SMALL_BODY_BYTES,
            is_large: false,
            is_urgent: false,
            freshness: Freshness::Any,
            shape: None,
            handle: handler(endpoint),
            parts: E::describe,
            command: None,
            errors: &[],
            #[cfg(feature = "documents")]
            refusal: None,
            listed: OnceLock::new(),
            meter: OnceLock::new(),
        }
    }

    /// Its name in metrics, and the counter of its successes.
    pub(crate) fn metered(&self) -> (&'static str, &OnceLock<Meter>) {
        (self.path, &self.meter)
    }

    /// Allows bodies of up to `bytes`.
    pub(crate) fn body(mut self, bytes: usize) -> Self {
        self.body_limit = bytes;
        self
    }

    /// Makes few answers of a client at once: each may have megabytes.
    pub(crate) fn large(mut self) -> Self {
        self.is_large = true;
        self
    }

    /// Is never refused for the work of its client: cancels and heartbeats protect a trader.
    pub(crate) fn urgent(mut self) -> Self {
        self.is_urgent = true;
        self
    }

    /// Waits for the state that the request asks for.
    pub(crate) fn fresh(mut self) -> Self {
        self.freshness = Freshness::Requested;
        self
    }

    /// Reads everything that is durable, keys and bindings included.
    pub(crate) fn durable(mut self) -> Self {
        self.freshness = Freshness::Durable;
        self
    }

    /// Requires the token of an operator with one of these roles.
    pub(crate) fn operators(mut self, roles: RoleSet) -> Self {
        self.operators = Some(roles);
        self
    }

    /// Errors of its handler, beside those of its parts and of its command.
    pub(crate) fn errors(mut self, codes: &'static [&'static [ErrorCode]]) -> Self {
        self.errors = codes;
        self
    }

    /// Sends commands of this kind, whose rejections are among its errors.
    pub(crate) fn sends(mut self, kind: CommandKind) -> Self {
        self.command = Some(kind);
        self
    }

    /// Failures with these statuses may have a `T` as their body.
    #[cfg_attr(
        not(feature = "documents"),
        expect(unused_mut, unused_variables, reason = "the documents alone say it")
    )]
    pub(crate) fn fails_with<T: JsonSchema>(mut self, statuses: &'static [u16]) -> Self {
        #[cfg(feature = "documents")]
        {
            let describe = Described::refuses::<T>;
            self.refusal = Some(Refusal { statuses, describe });
        }
        self
    }

    /// The operation that it is on a surface.
    fn operation(&self, surface: Surface) -> Operation {
        let mut operation = Operation::new(surface, &self.method);
        self.describe(&mut operation);
        operation
    }

    /// Adds what it says of itself.
    pub(crate) fn describe(&self, operation: &mut Operation) {
        if operation.surface.is_public() {
            operation.fails(&[ErrorCode::RateLimited]);
        }
        if self.is_write {
            operation.writes();
        }
        if let Some(roles) = self.operators {
            operation.needs_operator(roles);
            if self.is_write {
                operation.fails(&[ErrorCode::UnknownOperator]);
            }
        }
        (self.parts)(operation);
        if self.freshness != Freshness::Any {
            operation.shows_state();
        }
        if self.freshness == Freshness::Requested {
            operation.waits_for_sequence();
        }
        if let Some(kind) = self.command {
            operation.sends(kind);
        }
        self.errors.iter().for_each(|codes| operation.fails(codes));
        #[cfg(feature = "documents")]
        if let Some(refusal) = &self.refusal {
            (refusal.describe)(&mut operation.described, refusal.statuses);
        }
    }

    /// What it does, where the table of acts says so.
    #[cfg(all(test, feature = "documents"))]
    pub(crate) fn summary(&self) -> Option<&'static str> {
        let is_of_act = |kind: &CommandKind| OperatorCommand::path_of(*kind) == Some(self.path);
        let act = self.command.filter(is_of_act)?;
        OperatorCommand::summary_of(act)
    }

    /// Whether a failure with this code is in the documents.
    pub(crate) fn lists(&self, surface: Surface, code: &str) -> bool {
        let surface = self.shape.unwrap_or(surface);
        let listed = || self.operation(surface).errors();
        let listed = self.listed.get_or_init(listed);
        listed.iter().any(|it| it.name() == code)
    }

    /// A route of another surface at a path of this one: its failures keep the shape of that surface.
    pub(crate) fn mounted_from(self, surface: Surface, path: &'static str, scope: Scope) -> Self {
        Self {
            path,
            scope: Some(scope),
            shape: Some(surface),
            ..self
        }
    }
}

/// A GET that shows no state of the exchange, or waits for it itself.
pub(crate) fn get<Parts>(
    path: &'static str,
    scope: impl Into<Option<Scope>>,
    endpoint: impl Endpoint<Parts>,
) -> Route {
    Route::new(Method::GET, path, scope.into(), endpoint)
}

/// A GET of the exchange's state.
pub(crate) fn read<Parts>(
    path: &'static str,
    scope: impl Into<Option<Scope>>,
    endpoint: impl Endpoint<Parts>,
) -> Route {
    get(path, scope, endpoint).fresh()
}

/// The GET and the POST of a batch read, whose list of names may be too long for a query.
pub(crate) fn batch<Parts>(
    path: &'static str,
    scope: impl Into<Option<Scope>>,
    endpoint: impl Endpoint<Parts>,
) -> [Route; 2] {
    let scope = scope.into();
    [
        read(path, scope, endpoint).body(LIST_BODY_BYTES),
        query(path, scope, endpoint),
    ]
}

/// A POST that only reads.
pub(crate) fn query<Parts>(
    path: &'static str,
    scope: impl Into<Option<Scope>>,
    endpoint: impl Endpoint<Parts>,
) -> Route {
    let route = Route {
        is_write: false,
        ..post(path, scope, endpoint)
    };
    route.fresh().body(LIST_BODY_BYTES)
}

/// A POST that changes something.
pub(crate) fn post<Parts>(
    path: &'static str,
    scope: impl Into<Option<Scope>>,
    endpoint: impl Endpoint<Parts>,
) -> Route {
    Route::new(Method::POST, path, scope.into(), endpoint)
}

/// A PUT.
pub(crate) fn put<Parts>(
    path: &'static str,
    scope: impl Into<Option<Scope>>,
    endpoint: impl Endpoint<Parts>,
) -> Route {
    Route::new(Method::PUT, path, scope.into(), endpoint)
}

/// A DELETE.
pub(crate) fn delete<Parts>(
    path: &'static str,
    scope: impl Into<Option<Scope>>,
    endpoint: impl Endpoint<Parts>,
) -> Route {
    Route::new(Method::DELETE, path, scope.into(), endpoint)
}

/// The same answer to any method.
pub(crate) fn any<Parts>(
    path: &'static str,
    scope: Scope,
    endpoint: impl Endpoint<Parts>,
) -> impl Iterator<Item = Route> {
    use Method as M;
    let methods = [M::GET, M::POST, M::PUT, M::PATCH, M::DELETE];
    methods
        .into_iter()
        .map(move |method| Route::new(method, path, Some(scope), endpoint))
}
