//! `POST /ui/wallet`: the development wallets of the demo, as a browser's wallet would be: JSON-RPC
//! 2.0. The route exists only with `up --demo`. Its keys are public, so it protects no secret. It
//! refuses other pages anyway, because a page that a developer visits must not trade for them.

use foretell_auth::Signer;
use foretell_auth::text::checksum_address;
use foretell_wire::errors::api_error::quoted;
use foretell_wire::read::RequestBody;
use foretell_wire::schema::JsonSchema;
#[cfg(feature = "documents")]
use foretell_wire::schema::{Schema, SchemaGenerator};
use foretell_wire::text::ids;
use foretell_wire::{ApiError, ErrorCode};
use http::header::{CONTENT_TYPE, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, HeaderName};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::FromBody;
use crate::http::request_context::RequestContext;
use crate::page::typed_data::{TypedDataError, digest_of};
use crate::policy::host::{is_this_machine, named_host};
use crate::resources::page::page;

/// Sent by browsers: the relation of the page to this origin.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

// Codes of EIP-1193, EIP-1474 and JSON-RPC 2.0.
const UNAUTHORIZED: i64 = 4100;
const UNSUPPORTED_METHOD: i64 = 4200;
const OTHER_CHAIN: i64 = 4901;
const INVALID_REQUEST: i64 = -32_600;
const INVALID_PARAMS: i64 = -32_602;
const PARSE_ERROR: i64 = -32_700;

/// Version of JSON-RPC.
const VERSION: &str = "2.0";

/// A call of JSON-RPC.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "WalletCall")]
struct Call {
    #[schemars(extend("const" = VERSION))]
    jsonrpc: String,
    #[serde(default)]
    id: Value,
    /// `eth_accounts`, `eth_requestAccounts`, `eth_chainId` or `eth_signTypedData_v4`; others get
    /// the error 4200.
    method: String,
    #[serde(default)]
    params: Value,
}

/// A body: a call, or what is wrong with it, which the answer says.
pub(crate) struct Received(Result<Call, CallError>);

impl RequestBody for Received {
    const ERRORS: &'static [ErrorCode] = &[];

    #[cfg(feature = "documents")]
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<Call>()
    }

    fn read(body: &[u8]) -> Result<Self, ApiError> {
        Ok(Self(serde_json::from_slice(body).map_err(
            |error| match error.is_data() {
                true => {
                    let message =
                        "no request, allowed: one object with jsonrpc, id, method, params";
                    CallError::new(INVALID_REQUEST, message)
                }
                false => CallError::new(PARSE_ERROR, "the body is no JSON"),
            },
        )))
    }
}

/// Answer of `POST /ui/wallet`.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum WalletAnswer {
    Done {
        #[schemars(extend("const" = VERSION))]
        jsonrpc: &'static str,
        id: Value,
        result: Returned,
    },
    Failed {
        #[schemars(extend("const" = VERSION))]
        jsonrpc: &'static str,
        id: Value,
        error: CallError,
    },
}

/// What a call returns.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub(crate) enum Returned {
    Text(String),
    Accounts(Vec<String>),
}

/// An error of JSON-RPC.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "WalletError")]
pub(crate) struct CallError {
    code: i64,
    message: String,
}

impl CallError {
    fn new(code: i64, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { code, message }
    }
}

impl From<TypedDataError> for CallError {
    fn from(error: TypedDataError) -> Self {
        let code = match error {
            TypedDataError::Chain(_) => OTHER_CHAIN,
            _ => INVALID_PARAMS,
        };
        Self::new(code, error.to_string())
    }
}

/// `POST /ui/wallet`.
pub(crate) async fn call(
    context: RequestContext,
    FromBody(Received(call)): FromBody<Received>,
) -> Result<Json<WalletAnswer>, Failure> {
    check_sender(&context)?;
    let (id, result) = match call {
        Ok(call) if call.jsonrpc == VERSION => (call.id.clone(), run(&context, &call)?),
        Ok(call) => {
            let error =
                CallError::new(INVALID_REQUEST, "jsonrpc is missing or wrong, allowed: 2.0");
            (call.id, Err(error))
        }
        Err(error) => (Value::Null, Err(error)),
    };
    let jsonrpc = VERSION;
    let answer = match result {
        Ok(result) => WalletAnswer::Done {
            jsonrpc,
            id,
            result,
        },
        Err(error) => WalletAnswer::Failed { jsonrpc, id, error },
    };
    Ok(Json::of(&answer))
}

/// Rejects all but this machine's programs and the page's own requests.
fn check_sender(context: &RequestContext) -> Result<(), Failure> {
    let headers = &context.head.headers;
    if !context.sender.is_on_this_machine() {
        return Err(ErrorCode::WalletNotLocal.into());
    }
    let host = named_host(&context.head.uri, headers).filter(is_this_machine);
    let host = host.ok_or(ErrorCode::WalletForeignOrigin)?;
    if !is_own_page(headers, &host) {
        return Err(ErrorCode::WalletForeignOrigin.into());
    }
    // A form of a foreign page cannot send this type without a preflight.
    let content_type = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let kind = content_type.unwrap_or("").split(';').next().unwrap_or("");
    if !kind.trim().eq_ignore_ascii_case("application/json") {
        let given = quoted(content_type.unwrap_or("none"));
        return Err(ErrorCode::UnsupportedMediaType.with([&given]).into());
    }
    Ok(())
}

/// Whether a request comes from the page itself, or from a program, which sends no `Origin`.
fn is_own_page(headers: &HeaderMap, host: &Authority) -> bool {
    let own = [format!("http://{host}"), format!("https://{host}")];
    let is_own =
        |origin: &http::HeaderValue| own.iter().any(|own| own.as_bytes() == origin.as_bytes());
    let is_same_site =
        |site: &http::HeaderValue| matches!(site.as_bytes(), b"same-origin" | b"none");
    headers.get_all(ORIGIN).iter().all(is_own)
        && headers.get_all(SEC_FETCH_SITE).iter().all(is_same_site)
}

fn run(context: &RequestContext, call: &Call) -> Result<Result<Returned, CallError>, Failure> {
    let wallets = &page(context)?.config.development_wallets;
    let chain = context.app.auth.domains.chain_id();
    Ok(match call.method.as_str() {
        "eth_accounts" | "eth_requestAccounts" => {
            let address = |signer: &std::sync::Arc<Signer>| checksum_address(signer.address());
            Ok(Returned::Accounts(wallets.iter().map(address).collect()))
        }
        "eth_chainId" => Ok(Returned::Text(format!("0x{chain:x}"))),
        "eth_signTypedData_v4" => sign(context, &call.params),
        other => {
            let message = format!(
                "method is {}, allowed: eth_accounts, eth_requestAccounts, eth_chainId, \
                 eth_signTypedData_v4",
                quoted(other)
            );
            Err(CallError::new(UNSUPPORTED_METHOD, message))
        }
    })
}

fn sign(context: &RequestContext, params: &Value) -> Result<Returned, CallError> {
    let wrong = || {
        CallError::new(
            INVALID_PARAMS,
            "params are wrong, allowed: [address, typed data]",
        )
    };
    let Some([account, data]) = params.as_array().map(Vec::as_slice) else {
        return Err(wrong());
    };
    let address = account.as_str().and_then(ids::address).ok_or_else(wrong)?;
    let page = context.app.page.as_ref();
    let mut wallets = page
        .into_iter()
        .flat_map(|page| &page.config.development_wallets);
    let signer = wallets.find(|signer| signer.address() == address);
    let signer = signer
        .ok_or_else(|| CallError::new(UNAUTHORIZED, "the account is no development wallet"))?;
    let parsed;
    let data = match data {
        Value::String(text) => {
            parsed = serde_json::from_str(text).map_err(|_| wrong())?;
            &parsed
        }
        other => other,
    };
    let salt = *context.app.shared_view.read().view.branch();
    let digest = digest_of(data, address, &context.app.auth.domains, &salt)?;
    let signature = hex::encode(signer.sign_digest(&digest));
    Ok(Returned::Text(format!("0x{signature}")))
}
