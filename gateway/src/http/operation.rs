//! What a route and the parts of its request say of themselves: the errors that it may end in and, with
//! the feature `documents`, what its OpenAPI document says.

use foretell_model::{CommandKind, OperatorRole, RoleSet};
use foretell_wire::ErrorCode;
use foretell_wire::read::RequestBody;
use foretell_wire::read::path::PathParameter;
use foretell_wire::read::query::parameters::Parameters;
use foretell_wire::schema::JsonSchema;
use http::Method;

use crate::http::surface::Surface;
#[cfg(feature = "documents")]
use crate::openapi::described::Described;

/// A route as it describes itself.
pub(crate) struct Operation {
    pub(crate) surface: Surface,
    pub(crate) method: Method,
    errors: Vec<ErrorCode>,
    /// Everything but the errors.
    #[cfg(feature = "documents")]
    pub(crate) described: Described,
}

/// Errors of everything that a request may meet before its handler runs.
const ALWAYS: &[ErrorCode] = &[ErrorCode::Internal, ErrorCode::AnswersUnread];
const BODY: &[ErrorCode] = &[
    ErrorCode::BodyTooLarge,
    ErrorCode::BodyTimeout,
    ErrorCode::BodyIncomplete,
    ErrorCode::UnsupportedMediaType,
    ErrorCode::Busy,
];
const STATE: &[ErrorCode] = &[
    ErrorCode::Recovering,
    ErrorCode::ViewStopped,
    ErrorCode::SequenceNotReached,
];
const FRESH: &[ErrorCode] = &[
    ErrorCode::InvalidField,
    ErrorCode::SequenceTooFarAhead,
    ErrorCode::TooManyWaiters,
];
/// Errors of everything that waits for the engine.
const WRITE: &[ErrorCode] = &[
    ErrorCode::EngineUnavailable,
    ErrorCode::Busy,
    ErrorCode::DiskLow,
    ErrorCode::OutcomeUnknown,
    ErrorCode::NotLeading,
    ErrorCode::DoneUnshown,
    ErrorCode::DoneNotYetShown,
];

impl Operation {
    /// A route of which nothing else is known.
    pub(crate) fn new(surface: Surface, method: &Method) -> Self {
        let mut operation = Self {
            surface,
            method: method.clone(),
            errors: ALWAYS.to_vec(),
            #[cfg(feature = "documents")]
            described: Described::default(),
        };
        match surface {
            Surface::Data => operation.fails(&[ErrorCode::AddressNotAllowed]),
            Surface::Operator => operation.fails(&[ErrorCode::HostNotAllowed]),
            _ => {}
        }
        operation
    }

    /// The codes of its errors by status.
    pub(crate) fn errors(&self) -> Vec<ErrorCode> {
        let mut codes = self.errors.clone();
        codes.sort_by_key(|code| (code.status(), code.name()));
        codes.dedup();
        codes
    }

    /// Adds errors.
    pub(crate) fn fails(&mut self, codes: &[ErrorCode]) {
        self.errors.extend(codes);
    }

    /// Waits for the engine. The body is read, also where the handler ignores it.
    pub(crate) fn writes(&mut self) {
        self.fails(BODY);
        self.fails(STATE);
        self.fails(WRITE);
    }

    /// Sends commands of a kind; what they may be rejected for are errors.
    pub(crate) fn sends(&mut self, kind: CommandKind) {
        let code = match kind {
            CommandKind::PlaceOrder => ErrorCode::of_order,
            _ => ErrorCode::of,
        };
        let codes = kind.rejections().iter().map(|reason| code(*reason));
        self.errors.extend(codes);
    }

    /// Shows a state of the exchange.
    pub(crate) fn shows_state(&mut self) {
        self.fails(STATE);
    }

    /// Waits for the state that the request asks for.
    pub(crate) fn waits_for_sequence(&mut self) {
        self.fails(FRESH);
        #[cfg(feature = "documents")]
        self.described.takes_sequence();
    }

    /// Needs the token of an operator with one of the roles.
    pub(crate) fn needs_operator(&mut self, roles: RoleSet) {
        self.fails(STATE);
        self.fails(&[ErrorCode::OperatorUnauthorized]);
        if roles != RoleSet::ALL {
            self.fails(&[ErrorCode::OperatorRole]);
            if roles.contains(OperatorRole::Sync) {
                self.fails(&[ErrorCode::OutwardClosed]);
            }
        }
        #[cfg(feature = "documents")]
        self.described.needs(&["Token"]);
    }

    /// Adds the parameters of a query.
    pub(crate) fn takes_query<T: Parameters>(&mut self) {
        self.fails(T::FAMILY.codes());
        for parameter in T::PARAMETERS {
            self.fails(&(parameter.codes)());
        }
        #[cfg(feature = "documents")]
        self.described.takes_query(T::PARAMETERS);
    }

    /// Adds the parameter of the path.
    pub(crate) fn takes_path<T: PathParameter>(&mut self) {
        self.fails(T::ERRORS);
        self.fails(&[ErrorCode::PathTooLong]);
        #[cfg(feature = "documents")]
        self.described.takes_path::<T>();
    }

    /// Adds the errors of a body that a request may have in place of its query.
    pub(crate) fn may_take_body<T: RequestBody>(&mut self) {
        self.fails(BODY);
        self.fails(T::ERRORS);
    }

    /// Adds a body.
    pub(crate) fn takes_body<T: RequestBody>(&mut self) {
        self.may_take_body::<T>();
        #[cfg(feature = "documents")]
        self.described.takes_body::<T>();
    }

    /// States the answer.
    pub(crate) fn answers<T: JsonSchema>(&mut self) {
        #[cfg(feature = "documents")]
        self.described.answers::<T>();
    }

    /// Needs a signature of a wallet.
    pub(crate) fn needs_signature(&mut self) {
        self.fails(&[
            ErrorCode::UnauthorizedL1,
            ErrorCode::WrongChain,
            ErrorCode::InvalidNonce,
            ErrorCode::Busy,
        ]);
        #[cfg(feature = "documents")]
        self.described.needs_signature();
    }

    /// Needs an API key; to read (`is_read`), a read-only one is enough.
    #[cfg_attr(
        not(feature = "documents"),
        expect(unused_variables, reason = "the errors are the same")
    )]
    pub(crate) fn needs_key(&mut self, is_read: bool) {
        self.fails(STATE);
        self.fails(&[ErrorCode::Unauthorized]);
        #[cfg(feature = "documents")]
        self.described.needs_key(is_read);
    }
}
