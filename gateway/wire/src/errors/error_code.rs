//! Every error code of the HTTP interface: its status, its text, its cause, and whether a client
//! may retry. Answers carry the code in the header `x-error-code`; codes never change.
//!
//! `docs/api/error-codes.md` shows this table; a test compares them.

/// Whether a client may send a failed request again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Retry {
    /// The same request fails again.
    Never,
    /// After a delay. A rate limit names the delay in `Retry-After`; other errors name none.
    Later,
    /// The request had no effect; after the seconds in `Retry-After`.
    After(u32),
    /// The request may have had an effect. The same request is safe after the seconds in
    /// `Retry-After`, because the exchange recognizes its order id or reference.
    Same(u32),
}

use Retry::{After, Later, Never, Same};
use foretell_model::RejectionReason;

macro_rules! error_codes {
    ($(
        $variant:ident = $name:literal, $status:literal, $retry:expr, $text:literal, $cause:literal
            $(, of $($reason:ident)|+)?;
    )+) => {
        /// The code of an error.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum ErrorCode { $(#[doc = $cause] $variant),+ }

        impl ErrorCode {
            /// Every code, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The code as clients see it, in snake case.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// The code of a rejection by the exchange. Of an order some have another: [`Self::of_order`].
            #[must_use]
            pub const fn of(reason: RejectionReason) -> Self {
                match reason {
                    $($($(RejectionReason::$reason)|+ => Self::$variant,)?)+
                    _ => Self::Rejected,
                }
            }

            /// The HTTP status. In a batch answer the status is 200.
            #[must_use]
            pub const fn status(self) -> u16 {
                match self { $(Self::$variant => $status),+ }
            }

            /// The text of the error. Parts in `<>` stand for values.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }

            /// The cause, in one sentence.
            #[must_use]
            pub const fn cause(self) -> &'static str {
                match self { $(Self::$variant => $cause),+ }
            }

            /// Whether a client may retry.
            #[must_use]
            pub const fn retry(self) -> Retry {
                match self { $(Self::$variant => $retry),+ }
            }
        }
    };
}

error_codes! {
    // The request.
    MalformedHttp = "malformed_http", 400, Never, "not an HTTP request",
        "The bytes are not an HTTP request.";
    HeadTooLarge = "head_too_large", 431, Never,
        "request line and headers are longer than <bytes> bytes, or more than <count> headers",
        "The request line and the headers exceed their limits.";
    PathTooLong = "path_too_long", 414, Never, "path too long",
        "The path exceeds its limit.";
    BodyTooLarge = "body_too_large", 413, Never, "the body is too large, allowed: <bytes> bytes",
        "The body exceeds the limit of the route.";
    BodyTimeout = "body_timeout", 408, Later, "the body did not arrive in time",
        "The client sent the body too slowly.";
    BodyIncomplete = "body_incomplete", 400, Later, "the connection closed before the body was complete",
        "The connection ended inside the body.";
    UnsupportedMediaType = "unsupported_media_type", 415, Never,
        "the content type is <type>, allowed: application/json",
        "The content type or content encoding of the body is not plain JSON.";
    NotFound = "not_found", 404, Never, "not found",
        "No route has this path.";
    NotSupported = "not_supported", 404, Never, "not supported",
        "The path belongs to a feature that this exchange does not have.";
    WebsocketRequired = "websocket_required", 426, Never,
        "a websocket upgrade is required, allowed: GET with Connection: upgrade and Upgrade: websocket",
        "The path is a stream, and the request is not a WebSocket upgrade.";
    WebsocketVersion = "websocket_version", 426, Never,
        "the websocket version is not supported, allowed: 13",
        "`Sec-WebSocket-Version` is missing or not 13.";
    WebsocketKey = "websocket_key", 400, Never,
        "Sec-WebSocket-Key is wrong, allowed: 16 bytes in base64, once",
        "The key of the upgrade is missing, repeated or malformed.";
    WebsocketNeedsHttp1 = "websocket_needs_http1", 400, Never, "websocket needs HTTP/1.1",
        "The upgrade request used another HTTP version.";
    MethodNotAllowed = "method_not_allowed", 405, Never, "method not allowed, allowed: <methods>",
        "The path exists, but it does not support this method.";
    InvalidBody = "invalid_body", 400, Never, "invalid body: <problem>",
        "The body is not JSON, or its JSON type is wrong.";
    RepeatedJsonKey = "repeated_json_key", 400, Never, "invalid body: the key <key> is repeated, allowed: once",
        "An object in the body contains a key twice.";
    MissingField = "missing_field", 400, Never, "<field> is missing, allowed: <values>",
        "A required field or parameter is absent.";
    InvalidField = "invalid_field", 400, Never, "<field> is <value>, allowed: <values>",
        "A field or parameter has an invalid value.";
    InvalidContent = "invalid_content", 400, Never, "<problem>",
        "Fields contradict each other, or an operator sent an unknown field.";
    TooManyEntries = "too_many_entries", 400, Never,
        "<field> has <count> entries, allowed: <range>",
        "A list has too many or too few entries.";
    InvalidQuery = "invalid_query", 400, Never, "invalid query: <problem>",
        "The query string is too long, has too many parameters or is not percent-encoded UTF-8.";
    RepeatedParameter = "repeated_parameter", 400, Never,
        "the parameter <name> is repeated, allowed: once",
        "A parameter that may appear only once is repeated.";
    InvalidCursor = "invalid_cursor", 400, Never, "invalid next_cursor",
        "The exchange did not issue this cursor for this list.";
    InvalidTimeRange = "invalid_time_range", 400, Never, "<problem>",
        "The start and the end of the time range contradict each other.";
    TooManyPoints = "too_many_points", 400, Never,
        "the range has <count> points, allowed: at most <limit> in one answer; take a shorter range, fewer markets, or a larger fidelity, at best a multiple of 5, 30, 180 or 720",
        "The price history has too many points for one response.";
    SequenceTooFarAhead = "sequence_too_far_ahead", 400, Never,
        "x-min-sequence is <sequence>, allowed: at most 1000000 above <durable>",
        "The requested sequence is too far ahead of the newest one.";

    // Parameters of the data and catalog surfaces.
    UnknownParameter = "unknown_parameter", 400, Never, "unknown_field: <name>",
        "The data surface does not know the parameter.";
    MissingParameter = "missing_parameter", 400, Never, "missing_field: <name>",
        "A required parameter of the data surface is absent or empty.";
    InvalidParameter = "invalid_parameter", 400, Never, "invalid_field: <name>: <problem>",
        "A parameter of the data surface has an invalid value.";
    InvalidCatalogParameter = "invalid_catalog_parameter", 400, Never, "<problem>",
        "A parameter of the catalog surface is missing or invalid.";

    // Credentials.
    AddressNotAllowed = "address_not_allowed", 401, Never, "unauthorized: ip_not_allowlisted",
        "The client's address is not on the allowlist of the data surface.";
    HostNotAllowed = "host_not_allowed", 403, Never,
        "the host is not allowed, allowed: localhost, loopback addresses and operator.hosts",
        "The `Host` header of a request to the operator surface is missing or not allowed.";
    Unauthorized = "unauthorized", 401, Never, "Unauthorized/Invalid api key",
        "The API key, the passphrase, the timestamp or the HMAC is wrong.";
    UnauthorizedL1 = "unauthorized_l1", 401, Never, "Invalid L1 Request headers",
        "The L1 headers do not prove control of the address.";
    OperatorUnauthorized = "operator_unauthorized", 401, Never, "unauthorized: operator token",
        "The operator token is missing or wrong.";
    WrongChain = "wrong_chain", 400, Never, "the chain is <chain>, allowed: <chain>",
        "`X-Chain-Id` is not the chain id of this exchange.";
    InvalidNonce = "invalid_nonce", 400, Never, "invalid nonce: a decimal below 2^256 expected",
        "The nonce in the L1 headers is not a number.";
    NonceRevoked = "nonce_revoked", 400, Never, "Could not create api key: nonce revoked",
        "The API key of this nonce was revoked. Use another nonce.", of NonceRevoked;
    TooManyKeys = "too_many_keys", 400, Never,
        "Could not create api key: the address has 16 live keys, allowed: 16",
        "The address has the maximum number of live API keys.", of TooManyKeys;
    NotAnOwner = "not_an_owner", 400, Never,
        "Could not create api key: the address is a wallet of another owner",
        "The address is a wallet that is bound to another owner, so it cannot have its own API keys.", of NotAnOwner;
    KeyTaken = "key_taken", 409, Never, "the api key or its nonce belongs to another key",
        "Another API key has this id or nonce.", of KeyTaken;
    KeyNotDerivable = "key_not_derivable", 404, Never, "Could not derive api key!",
        "No live API key has this nonce.";
    KeyNotFound = "api_key_not_found", 404, Never, "api key not found",
        "No key of the caller has this id.", of UnknownKey;

    // Errors of an order that the gateway finds before it asks the engine.
    InvalidOrderPayload = "invalid_order_payload", 400, Never, "invalid order payload",
        "The body is not JSON, or not an order.";
    RepeatedOrderField = "repeated_order_field", 400, Never,
        "invalid order payload: the key <key> is repeated, allowed: once",
        "An object in the order contains a key twice.";
    MissingOrderField = "missing_order_field", 400, Never,
        "invalid order payload: <field> is missing, allowed: <values>",
        "A required field of the order is absent.";
    InvalidOrderField = "invalid_order_field", 400, Never,
        "invalid order payload: <field> is <value>, allowed: <values>",
        "A field of the order has an invalid value.";
    TooManyOrders = "too_many_orders", 400, Never,
        "Too many orders in payload: <count>, max allowed: 15",
        "A batch has more than 15 orders.";
    OrderVersionMismatch = "order_version_mismatch", 400, Never, "order_version_mismatch",
        "The order was signed with the previous order version.";
    OwnerNotKeyOwner = "owner_not_key_owner", 400, Never,
        "the order owner has to be the owner of the API KEY",
        "`owner` is not the API key that signed the request.";
    SignerNotKeyAddress = "signer_not_key_address", 400, Never,
        "the order signer address has to be the address of the API KEY",
        "The signer is not the address of the API key.";
    MakerNotBound = "maker_not_bound", 400, Never,
        "the order maker <wallet> is not a wallet of the API KEY's address with signatureType <type>",
        "The maker is not bound to the owner of the API key with this signature type.";
    InvalidSignature = "invalid_signature", 400, Never, "invalid signature: <check>",
        "A check of the order's signature failed.";
    ConditionOfAnotherToken = "condition_of_another_token", 400, Never,
        "conditionId is <condition>, allowed: <condition>, the condition of the tokenId",
        "`conditionId` is not the condition of the order's token.";
    UnknownOrderToken = "unknown_order_token", 400, Never,
        "tokenId is <token>, allowed: a token of a registered market",
        "No market has the order's token.";

    // Errors of an order that the engine refuses.
    NoAccount = "no_account", 400, Never,
        "not enough balance / allowance: <wallet> has no account, available 0",
        "The maker has never had a deposit.";
    InsufficientBalance = "insufficient_balance", 400, Never,
        "not enough balance / allowance: needed <amount>, available <amount>",
        "The wallet has too little free collateral.", of NotEnoughCollateral;
    InsufficientShares = "insufficient_shares", 400, Never,
        "not enough balance / allowance: needed <shares>, available <shares>",
        "The wallet has too few free shares.", of NotEnoughShares;
    TimestampOutOfWindow = "timestamp_out_of_window", 400, Never,
        "invalid order timestamp: <timestamp>, allowed <from>..<to>",
        "The signed timestamp is outside of the allowed window. Sign the order again.", of TimestampOutOfWindow;
    ExchangeClock = "exchange_clock", 503, After(5),
        "timestamp is <timestamp>, allowed: <from> to <to>; the exchange's clock is <difference> its host's",
        "The signed timestamp is outside of the allowed window, and the exchange's clock is wrong: its operator has an alert. `GET /time` answers that clock.";
    InvalidAmount = "invalid_amount", 400, Never,
        "order <order> is invalid. makerAmount and takerAmount are allowed above 0 only",
        "An amount of the order is 0.";
    OrderTooLarge = "order_too_large", 400, Never,
        "order <order> is invalid. makerAmount and takerAmount are allowed up to 1000000000000000 only",
        "An amount of the order exceeds the maximum.";
    PriceOffTick = "price_off_tick", 400, Never,
        "order <order> is invalid. Price (<price>) breaks minimum tick size rule: <tick>",
        "The price is not a multiple of the market's tick.", of PriceOffTick;
    PriceOutOfRange = "price_out_of_range", 400, Never,
        "order <order> is invalid. Price (<price>) breaks minimum tick size rule: <tick>, allowed: <price> to <price>",
        "The price is below the lowest or above the highest price.";
    SizeBelowMinimum = "size_below_minimum", 400, Never,
        "order <order> is invalid. Size (<size>) lower than the minimum: <size>",
        "The size is below the market's minimum.", of SizeBelowMinimum;
    SizeNotLots = "size_not_lots", 400, Never,
        "order <order> is invalid. Size (<size>) has more than two decimals",
        "The size is not a multiple of 0.01 shares.", of SizeNotLots;
    MarketAmountsTooFine = "market_amounts_too_fine", 400, Never,
        "invalid amounts, the market <side> orders maker amount supports a max accuracy of 2 decimals, taker amount a max of 4 decimals",
        "With `compatibility = \"polymarket\"`, an amount of a FOK or FAK order has too many decimals.";
    MarketableBelowMinimum = "marketable_below_minimum", 400, Never,
        "invalid amount for a marketable BUY order ($<amount>), min size: $<amount>",
        "A BUY order that would trade immediately spends less than the minimum.", of MarketableBelowMinimum;
    InvalidExpiration = "invalid_expiration", 400, Never, "invalid expiration",
        "A GTD order expires too early, or an order of another type has an expiration.", of InvalidExpiration;
    PostOnlyNeedsResting = "post_only_needs_resting", 400, Never,
        "order <order> is invalid. postOnly is allowed with GTC and GTD only",
        "A post-only order has an order type that cannot rest in the book.", of PostOnlyNeedsResting;
    CrossesBook = "crosses_book", 400, Never, "invalid post-only order: order crosses book",
        "A post-only order would trade immediately.", of CrossesBook;
    FokNotFilled = "fok_not_filled", 400, Never,
        "order couldn't be fully filled. FOK orders are fully filled or killed.",
        "The book cannot fill the FOK order completely.", of FokNotFilled;
    FakNoMatch = "fak_no_match", 400, Never,
        "no orders found to match with FAK order. FAK orders are partially filled or killed if no match is found.",
        "No order matches the FAK order.", of FakNoMatch;
    NotAllCanceled = "not_all_canceled", 409, Never,
        "not placed: an order to cancel was not canceled",
        "A replace with `if_all_canceled` placed nothing because one of its cancels did not cancel an order.", of NotAllCanceled;
    TooManyFills = "too_many_fills", 400, Never, "order <order> is invalid. too_many_fills",
        "The order would trade with more orders than one command may fill.";
    DuplicateOrder = "duplicate_order", 400, Never, "order <order> is invalid. Duplicated.",
        "The order id was used before with other contents.", of Duplicate;
    TooManyLiveOrders = "too_many_live_orders", 400, Later,
        "order <order> is invalid. The account has <count> live orders, allowed: <count>",
        "The account has the maximum number of live orders.", of TooManyLiveOrders;
    TooManyOrderIds = "too_many_order_ids", 400, Later,
        "order <order> is invalid. The owner has <count> order ids remembered, allowed: <count>; an id is remembered until its timestamp has left the window, retry later",
        "The exchange remembers the maximum number of recent order ids for this owner.", of TooManyOrderIds;
    ClosedOnly = "closed_only", 400, Never, "'<wallet>' address in closed only mode",
        "The account may only reduce positions.", of ClosedOnlyAccount;
    MarketNotReady = "market_not_ready", 400, Later,
        "the market is not yet ready to process new orders",
        "The market is registered but not active yet.", of MarketNotReady;
    MarketClosed = "market_closed", 400, Never, "market is closed",
        "The market is closed or resolved.", of MarketClosed;
    MarketPaused = "market_paused", 409, Later, "condition_paused",
        "The market is paused.", of MarketPaused;
    SystemPaused = "system_paused", 409, Later, "system_paused",
        "The exchange is paused.", of SystemPaused;
    CancelOnly = "cancel_only", 503, After(5),
        "Trading is currently cancel-only. New orders are not accepted, but cancels are allowed.",
        "The exchange only accepts cancels.", of CancelOnly;
    PostOnlyMode = "post_only_mode", 503, After(5),
        "post-only mode: only post-only orders and cancels are allowed",
        "The exchange only accepts post-only orders and cancels.", of PostOnlyMode;
    WrongHeartbeat = "wrong_heartbeat", 400, Never,
        "heartbeat_id is not that of the running chain, allowed: the one given here",
        "The heartbeat does not continue the current chain. Send the id from the response.";

    // Reads.
    InvalidTokenId = "invalid_token_id", 400, Never, "Invalid token id",
        "The text is not a token id.";
    InvalidSide = "invalid_side", 400, Never, "Invalid side",
        "The text is neither BUY nor SELL.";
    OrderbookNotFound = "orderbook_not_found", 404, Never,
        "No orderbook exists for the requested token id",
        "No market has this token, or its market is closed or resolved.";
    MarketNotFound = "market_not_found", 404, Never, "market not found",
        "No market has this id or token.", of UnknownMarket;
    OrderNotFound = "order_not_found", 404, Never, "order not found",
        "No order of the caller has this id.", of OrderNotFound;
    NoPrice = "no_price", 404, Later, "no <price> exists for the requested token id",
        "One side of the book is empty.";
    AccountNotFound = "account_not_found", 404, Never, "account not found",
        "No account has this address.", of UnknownAccount;
    EventNotFound = "event_not_found", 404, Never, "event not found",
        "No event has this id.", of UnknownEvent;
    CheckpointNotFound = "checkpoint_not_found", 404, Later, "no checkpoint yet",
        "The engine has not signed a checkpoint yet.";
    SlugNotFound = "slug_not_found", 404, Never, "slug not found",
        "No catalog record has this slug.";
    IdNotFound = "id_not_found", 404, Never, "id not found",
        "No catalog record has this id.";

    TradeNotFound = "trade_not_found", 404, Never, "trade not found",
        "No trade has this id.";

    // The page.
    WalletNotLocal = "wallet_not_local", 403, Never,
        "development wallets only sign for programs on the same machine",
        "The client of `/ui/wallet` runs on another machine.";
    WalletForeignOrigin = "wallet_foreign_origin", 403, Never,
        "development wallets only sign for their own page",
        "The request to `/ui/wallet` comes from another page or has another host.";

    // Account actions and operator commands.
    ReferenceReused = "reference_reused", 409, Never, "reference was already used with other contents",
        "Another action of the account used this reference with other contents.", of ReferenceReused;
    TooManyReferences = "too_many_references", 400, Later,
        "the account has <count> recent actions, allowed: <count>, retry in 90 s",
        "The exchange remembers the maximum number of recent actions for this account.", of TooManyReferences;
    AmountZero = "amount_zero", 400, Never, "amount is 0, allowed: above 0",
        "The amount of the action is 0.", of AmountZero;
    AmountTooLarge = "amount_too_large", 400, Never, "amount is above the largest: 1000000000",
        "The amount of the action exceeds the maximum.", of AmountTooLarge;
    BalanceLimit = "balance_limit", 400, Never,
        "amount is <amount>, allowed: all deposits less withdrawals up to <amount>",
        "The deposit exceeds the maximum that the exchange may hold.", of BalanceLimit;
    WalletOfAnotherOwner = "wallet_of_another_owner", 400, Never,
        "the wallet belongs to another owner",
        "The wallet is not bound to the owner of the key.", of KeyOfAnotherOwner;
    NotResolved = "not_resolved", 409, Later, "market is not resolved",
        "Shares can only be redeemed after the market is resolved.", of NotResolved;
    NothingToRedeem = "nothing_to_redeem", 409, Never, "nothing to redeem",
        "The account has no shares in the market.", of NothingToRedeem;
    InvalidQuestions = "invalid_questions", 400, Never,
        "indexSet or conditionIds contains an unknown question, allowed: each question of the event, once",
        "`indexSet` contains a bit without a question, or `conditionIds` contains a market that is not a question of the event.", of InvalidQuestions;
    EventNotActive = "event_not_active", 409, Later, "a question of the event is not active",
        "A conversion requires that all questions of the event are active.", of EventNotActive;
    OrderOfAnotherOwner = "order_of_another_owner", 409, Never, "order belongs to another account",
        "The order belongs to another owner.", of OrderOfAnotherOwner;
    OrderNotResting = "order_not_resting", 409, Later, "order is delayed, allowed: a resting order",
        "A delayed order does not rest in the book yet, so it cannot be decreased.", of OrderNotResting;
    InvalidQuote = "invalid_quote", 400, Never, "<place> is <value>, allowed: <allowed>",
        "A quote or a condition in the set is invalid. The whole set is rejected.";
    RevisionOutOfRange = "revision_out_of_range", 409, Never,
        "revision is <revision>, allowed: <from> to <to>",
        "The revision of a set must exceed the group's last revision and must not exceed timestamp × 1000. The revision of a heartbeat must be the last one.", of RevisionOutOfRange;
    GroupFrozen = "group_frozen", 409, Never,
        "group <group> is frozen because a limit was reached, allowed: sets without quotes until it is reset",
        "The fills of the group reached a limit of `PUT /quotes/groups/{n}`. Send `reset` to continue.", of GroupFrozen;
    NoLiveQuotes = "no_live_quotes", 409, Never, "group <group> has no live quotes",
        "A heartbeat renews live quotes, and the group has none.", of NoLiveQuotes;
    FilledSince = "filled_since", 409, Never,
        "the group was filled at this token and side after `seen`",
        "The group was filled after the sequence in `seen`. Process the fill, then send the next set.", of FilledSince;
    InvalidQuoteLimits = "invalid_quote_limits", 400, Never,
        "lease_ms is allowed as 0 or 500 to 60000, window_ms as 0 or 100 to 60000, with a limit if and only if there is a window",
        "The lease, the window or a limit of the group is out of range.", of InvalidQuoteLimits;
    ValueOutOfRange = "value_out_of_range", 400, Never, "<field> is <value>, allowed: <from> to <to>",
        "A number in a set of quotes is out of range.";
    WalletNotBindable = "wallet_not_bindable", 409, Never,
        "wallet cannot be bound: it is bound, or owns wallets or keys",
        "The wallet already has an owner, or it is an owner itself.", of WalletNotBindable;
    WalletHasLiveOrders = "wallet_has_live_orders", 409, Later,
        "wallet has live orders or pending withdrawals, allowed: none",
        "A wallet with live orders or pending withdrawals cannot be bound or unbound.", of WalletHasLiveOrders;
    WalletKindTaken = "wallet_kind_taken", 409, Never,
        "the owner has a wallet of this kind, allowed: one of each",
        "The owner already has a wallet of this kind.", of WalletKindTaken;
    WalletNotBound = "wallet_not_bound", 409, Never, "wallet is not bound",
        "The wallet has no owner.", of WalletNotBound;
    MarketDiffers = "market_differs", 409, Never,
        "<field> is <value>, the market of this slug or condition_id has <value>",
        "The market is already registered with other contents. Use the commands that change a market.", of MarketDiffers;
    EventDiffers = "event_differs", 409, Never,
        "<field> is <value>, the event of this slug or event_id has <value>",
        "The event group is already registered with other contents. Use `describe` to change its text.";
    SlugTaken = "slug_taken", 409, Never,
        "slug is <slug>, allowed: an unused slug; market <condition> has this one",
        "Another market has this slug.", of SlugTaken;
    TokenTaken = "token_taken", 409, Never, "a token is in use, or both tokens are the same",
        "Another market has one of the tokens, or both tokens are equal.", of TokenTaken;
    EventFrozen = "event_frozen", 409, Never, "the event's question list is frozen",
        "The event accepts no more questions.", of EventFrozen;
    EventFull = "event_full", 409, Never, "the event has 128 questions, allowed: 128",
        "The event has the maximum number of questions.", of EventFull;
    InvalidTransition = "invalid_transition", 409, Never,
        "the market's state does not allow this, it is: <state>",
        "The command is not allowed in the market's current state.", of InvalidTransition;
    BookNotEmpty = "book_not_empty", 409, Later,
        "the market still has orders, retry when they are cancelled",
        "The engine is still cancelling the market's orders.", of BookNotEmpty;
    NoWouldLeaveNone = "no_would_leave_none", 409, Never,
        "this No would leave the event without a Yes",
        "All other questions of the event are resolved No.", of NoWouldLeaveNone;
    HalfInNegRisk = "half_in_neg_risk", 400, Never,
        "payout is half, allowed in plain markets only",
        "A question of a neg-risk event cannot resolve to half.", of HalfInNegRisk;
    OutsideNotLast = "outside_not_last", 409, Never,
        "payout is outside, allowed for the last open question of an event whose others resolved No",
        "The outcome outside of the listed questions can only win after every other question resolved No.", of OutsideNotLast;
    InvalidQuestionIndex = "invalid_question_index", 409, Never,
        "question_index is in use in the event, or only some of its questions have one",
        "Either all questions of an event have an index, or none has one.", of InvalidQuestionIndex;
    InvalidTick = "invalid_tick", 400, Never,
        "tick_size is not allowed: finer than <tick> and a divisor of it only",
        "A tick can only become finer, so that every resting price stays valid.", of InvalidTick;
    InvalidFee = "invalid_fee", 400, Never,
        "fee is not allowed: rate_ppm 0 to 1000000, exponent 0 to 2",
        "The fee is out of range.", of InvalidFee;
    InvalidMinimumSize = "invalid_minimum_size", 400, Never,
        "minimum_order_size is not allowed: 0.01 to 1000000000",
        "The minimum size is out of range.", of InvalidMinimumSize;
    DomainDiffers = "domain_differs", 409, Never,
        "another domain is registered under this number",
        "The journal contains another signing domain with this number.", of DomainDiffers;
    InvalidSettings = "invalid_settings", 400, Never, "a setting is out of range",
        "A setting of the exchange is out of range.", of InvalidSettings;
    UnknownRules = "unknown_rules", 400, Never,
        "rules is not allowed: a number this build knows, not below the one in force",
        "This build does not support the rules number, or the number is lower than the one in force.", of UnknownRules;
    Rejected = "rejected", 400, Never, "rejected: <reason>",
        "The engine rejected the command for a reason without a public text.";

    // People and their roles.
    OperatorRole = "operator_role", 403, Never, "role is <role>, allowed for this command: <roles>",
        "The operator's role does not include the command.", of OperatorRole;
    UnknownOperator = "unknown_operator", 403, Never, "the operator is revoked, or was never added",
        "The operator of this token is revoked or unknown.", of UnknownOperator;
    OperatorNotFound = "operator_not_found", 404, Never, "operator not found",
        "No live operator has this name.";
    OperatorRequired = "operator_required", 400, Never, "the command needs an operator with a name",
        "The command requires an operator.", of OperatorRequired;
    SamePerson = "same_person", 409, Never, "another operator must do this",
        "The second person must differ from the first one. A proposer cannot settle a dispute of their own proposal.", of SamePerson;
    NewOperator = "new_operator", 409, Later,
        "operator <number> counts as one of the two approvers from <time>",
        "One of the two operators was added less than `engine.new_operator_hours` ago.", of NewOperator;
    SecondPersonRequired = "second_person_required", 409, Never,
        "the policy requires two persons: propose the payout, then another operator finalises it",
        "The policy requires two persons, so the market cannot be resolved in one step.", of SecondPersonRequired;
    InvalidOperator = "invalid_operator", 400, Never,
        "the operator is not allowed: a name of 1 to 32 of a-z, 0-9, -, _ and . is expected",
        "The name or the token of the operator is malformed.", of InvalidOperator;
    OperatorNameTaken = "operator_name_taken", 409, Never, "name is <name>, allowed: a name that no live operator has",
        "Another live operator has this name.", of OperatorNameTaken;
    OperatorTokenTaken = "operator_token_taken", 409, Never, "an operator has or had this token",
        "A token can only be used once.", of OperatorTokenTaken;
    TooManyOperators = "too_many_operators", 409, Never, "1024 operators were added, allowed: 1024",
        "The exchange has the maximum number of operators.", of TooManyOperators;
    LastAdmin = "last_admin", 409, Never, "the last admin cannot be revoked: add another one first",
        "The exchange requires at least one admin.", of LastAdmin;
    WithdrawalNotFound = "withdrawal_not_found", 404, Never, "no pending withdrawal has this number",
        "The withdrawal does not exist, belongs to another wallet, or, in an act of an operator, ended before the last 10,000.", of UnknownWithdrawal;
    WithdrawalEnded = "withdrawal_ended", 409, Never,
        "withdrawal <number> was <status> at <time> by <name>, payment reference: <text>",
        "The withdrawal was paid, failed or cancelled before. The text says when, by whom and with which payment.";
    WithdrawalReleased = "withdrawal_released", 409, Never,
        "the withdrawal with this reference has failed, allowed: another reference",
        "The withdrawal with this reference failed, and its reference cannot be used again.";
    WithdrawalClaimed = "withdrawal_claimed", 409, Never, "operator <number> has claimed the withdrawal",
        "A cashier has claimed the withdrawal, so it can no longer be cancelled or claimed.", of WithdrawalClaimed;
    WithdrawalNotClaimed = "withdrawal_not_claimed", 409, Never, "the withdrawal is not claimed: claim it, then pay it",
        "A withdrawal can only be paid after an operator claimed it.", of WithdrawalNotClaimed;
    WithdrawalsShut = "withdrawals_shut", 409, Later,
        "withdrawals are disabled after a restore until an admin opens them",
        "The restored journal may lack payments that were made. An admin must reconcile them and open withdrawals.", of WithdrawalsShut;
    OutwardClosed = "outward_closed", 409, Later,
        "outward connections are disabled after a restore until an admin opens withdrawals",
        "A restored copy rejects the catalog sync and oracles until an admin opens withdrawals, because the original may still run.";
    ValidityOutOfRange = "validity_out_of_range", 400, Never,
        "validUntil is out of range, allowed: <from> to <to>, later than in the wallet's last request",
        "A withdrawal request is valid for at most one day, and longer than the wallet's previous request.", of ValidityOutOfRange;
    TooManyWithdrawals = "too_many_withdrawals", 409, Later, "the wallet has <count> pending withdrawals, allowed: <count>",
        "The wallet has the maximum number of pending withdrawals.", of TooManyWithdrawals;

    // A market's life.
    InvalidTerms = "invalid_terms", 400, Never,
        "the terms are not allowed: taker_delay_ms 0 to 60000, rebate_ppm 0 to 1000000, times up to the year 2540",
        "A term of the market is out of range.", of InvalidTerms;
    ClockContradicts = "clock_contradicts", 400, Never,
        "opens_at is <time>, allowed: before closes_at, which is <time>",
        "The market would close before it opens.", of ClockContradicts;
    ClosesInPast = "closes_in_past", 400, Never, "closes_at is <time>, allowed: after now, which is <time>",
        "The market would close in the past.", of ClosesInPast;
    NotSandbox = "not_sandbox", 409, Never, "this exchange is not a sandbox",
        "Only a sandbox has a movable clock and accepts unsigned orders.", of NotSandbox;
    ClockInPast = "clock_in_past", 400, Never, "to is <time>, allowed: after now, which is <time>",
        "The clock of a sandbox only moves forward.", of ClockInPast;
    ClockTooFar = "clock_too_far", 400, Never, "the clock would pass <time>, the last time of an exchange",
        "The advance of the clock is too large.", of ClockTooFar;
    EndsInPast = "ends_in_past", 400, Never,
        "end_date is <time>, allowed: after now; \"past_end\": true accepts it anyway",
        "The end date of the market is in the past.";
    RebatesInProgress = "rebates_in_progress", 409, Later, "rebates are being paid",
        "Rebates are already being paid.", of RebatesInProgress;
    NothingAccrued = "nothing_accrued", 409, Later, "no rebate is accrued",
        "No wallet has an accrued rebate.", of NothingAccrued;
    NotPermitted = "not_permitted", 403, Never, "<field> is <value>, permitted by the policy: <allowed>",
        "The policy does not permit this operator or wallet to propose, dispute or withdraw.", of NotPermitted;
    AlreadyProposed = "already_proposed", 409, Never, "the market has a proposal that is not disputed",
        "The current proposal must be withdrawn, disputed or finalised before the next one.", of AlreadyProposed;
    NoProposal = "no_proposal", 409, Never, "<field> is <value>, allowed: <allowed>",
        "The market has no proposal, or its proposal has another number.", of NoProposal;
    ProposalDisputed = "proposal_disputed", 409, Never,
        "proposal <number> is disputed, allowed: <allowed>",
        "A disputed proposal can only be withdrawn, or replaced by a request that contains its number.", of ProposalDisputed;
    ChallengeOpen = "challenge_open", 409, Later, "the challenge window is open until <time>",
        "The proposal can still be disputed.", of ChallengeOpen;
    InvalidWindow = "invalid_window", 400, Never, "window_seconds is <seconds>, allowed: <seconds> to <seconds>",
        "The challenge window is shorter than the policy allows, or longer than 30 days.", of InvalidWindow;
    InvalidPolicy = "invalid_policy", 400, Never,
        "<field> is <value>, allowed: <allowed>",
        "The policy contradicts itself or exceeds a bound.", of InvalidPolicy;
    NoPolicy = "no_policy", 409, Never, "the market has no policy of its own",
        "The market follows the policy of the site.", of NoPolicy;
    ListFull = "list_full", 409, Never, "the list has 64 wallets, allowed: 64",
        "The list of permitted wallets is full.", of ListFull;
    UpstreamOwned = "upstream_owned", 409, Never,
        "the upstream owns the text of this <record>: change it there",
        "The text of this record comes from the upstream, so operators cannot edit it here.";
    SignatureInvalid = "signature_invalid", 401, Never, "the signature does not match the timestamp and the body",
        "The webhook is not signed with the adapter's secret.";
    TimestampStale = "timestamp_stale", 401, Never,
        "the timestamp is <time>, allowed: at most 300 s from now",
        "The webhook is too old, or the sender's clock is wrong.";

    // The service.
    RateLimited = "rate_limited", 429, Later,
        "rate limit exceeded: <scope>, allowed: <count> in <seconds> s, retry in <seconds> s",
        "The client or the API key exceeded a rate limit.";
    Busy = "busy", 503, After(1), "busy: retry later",
        "A queue of the exchange is full.", of Busy | WorkPending | TimeDue;
    TooManyStreams = "too_many_streams", 429, After(5),
        "too many stream connections of this client: close some, then retry",
        "The client has the maximum number of stream connections.";
    StreamsFull = "streams_full", 503, After(5), "too many stream connections: retry later",
        "This gateway has the maximum number of stream connections.";
    DiskLow = "disk_low", 503, After(5), "busy: disk nearly full, cancels are allowed",
        "The engine's disk is nearly full.";
    EngineUnavailable = "engine_unavailable", 503, After(1), "the engine is unavailable: retry later",
        "The gateway is not connected to the engine.";
    NotLeading = "not_leading", 503, After(1), "this host does not lead its cluster: retry at the leader",
        "This host follows the leader. `x-leader` contains the address of the leader if it is known.";
    Recovering = "recovering", 425, After(1), "the engine is recovering: retry later",
        "The engine or the gateway is reading the journal.";
    OutcomeUnknown = "outcome_unknown", 503, Same(1),
        "outcome unknown: query or retry with the same id",
        "The engine did not respond in time. The command may have been applied.";
    DoneUnshown = "done_unshown", 503, Same(1),
        "applied at sequence <sequence>; this gateway cannot show its effect: it cannot follow the journal at sequence <sequence>",
        "The command was applied, but this gateway cannot show its effect.";
    DoneNotYetShown = "done_not_yet_shown", 503, Same(1),
        "applied at sequence <sequence>; this gateway does not show its effect yet",
        "The command was applied, and this gateway does not show its effect yet.";
    ViewStopped = "reads_stopped", 503, After(1),
        "reads are stopped: this gateway cannot follow the journal at sequence <sequence>; cancels and orders are accepted",
        "This gateway cannot follow the journal; other gateways can.";
    SequenceNotReached = "sequence_not_reached", 503, After(1), "not yet at sequence <sequence>",
        "The gateway did not reach `x-min-sequence` in time.";
    TooManyWaiters = "too_many_waiters", 503, After(1),
        "busy: too many requests wait for a sequence",
        "The maximum number of requests is already waiting for `x-min-sequence`.";
    AnswersUnread = "answers_unread", 503, After(1),
        "too many response bytes are unread: read them, then retry",
        "The client has not read its earlier responses.";
    NotReady = "not_ready", 503, Later, "not ready",
        "The gateway has no view or no engine, lags, or does not lead. Only `/readyz` returns this code, with its own body.";
    CatalogUnavailable = "catalog_unavailable", 503, After(5), "the catalog is not available yet",
        "No catalog has been imported yet.";
    CatalogLoading = "catalog_loading", 503, After(5),
        "the catalog is being read into memory: retry in a few seconds",
        "The gateway is reading the catalog.";
    CatalogFailed = "catalog_failed", 500, Never, "the catalog could not be read",
        "The catalog's database failed. The log contains the details.";
    SnapshotsOff = "snapshots_off", 409, Never, "this engine publishes no snapshots",
        "The engine runs without a snapshot directory.";
    SnapshotFailed = "snapshot_failed", 503, After(1),
        "the snapshot could not be written: see the engine's log",
        "The engine could not write the snapshot to disk.";
    SnapshotTimeout = "snapshot_timeout", 503, After(1),
        "the snapshot is still being written: check the status",
        "Writing the snapshot takes longer than the request may wait.";
    FramesArchived = "frames_archived", 410, Never, "the frames up to <sequence> are archived",
        "The frame was moved to the archive. An operator can read it there.";
    Internal = "internal_error", 500, Never, "internal error",
        "A bug in the exchange. The log contains the details.";
}

impl ErrorCode {
    /// Seconds of the `Retry-After` header that belong to the code.
    #[must_use]
    pub const fn retry_after(self) -> Option<u32> {
        match self.retry() {
            After(seconds) | Same(seconds) => Some(seconds),
            Never | Later => None,
        }
    }
}

#[cfg(test)]
#[path = "error_code_tests.rs"]
mod tests;
