//! A handler as a route keeps it. Its signature is the description of its request and its answer:
//! each parameter after the context is a part of the request, read and checked in that order.

use std::pin::Pin;

use tokio::sync::OwnedSemaphorePermit;

use crate::http::answer::{Answer, Reply};
use crate::http::failure::Failure;
use crate::http::operation::Operation;
use crate::http::request_context::RequestContext;
use crate::policy::work;

pub(crate) type HandlerFuture = Pin<Box<dyn Future<Output = Result<Answer, Failure>> + Send>>;
pub(crate) type Handler = Box<dyn Fn(RequestContext, Freshness) -> HandlerFuture + Send + Sync>;

/// The state of the exchange that a handler may read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Freshness {
    /// No wait: the handler reads no state, or waits itself for what it reads.
    Any,
    /// Everything this process has acknowledged, and the client's `x-min-sequence`.
    Requested,
    /// Everything durable, also for the check of credentials.
    Durable,
}

/// A part of a request.
pub(crate) trait RequestPart: Sized + Send {
    /// Reads and checks it.
    fn of(context: &RequestContext) -> impl Future<Output = Result<Self, Failure>> + Send;

    /// Adds what the documents say of it, and the errors of reading it.
    fn describe(operation: &mut Operation);
}

/// An async function of a [`RequestContext`] and the parts of a request.
pub(crate) trait Endpoint<Parts>: Copy + Send + Sync + 'static {
    /// Reads the parts, waits until the view is as fresh as the route says, and runs the function.
    fn run(self, context: RequestContext, freshness: Freshness) -> HandlerFuture;

    /// Adds what the documents say of the parts and of the answer.
    fn describe(operation: &mut Operation);
}

macro_rules! endpoints {
    ($(($($part:ident)*))+) => {$(
        impl<F, Answering, R, $($part),*> Endpoint<($($part,)*)> for F
        where
            F: Fn(RequestContext, $($part),*) -> Answering + Copy + Send + Sync + 'static,
            Answering: Future<Output = Result<R, Failure>> + Send + 'static,
            R: Reply,
            $($part: RequestPart + 'static,)*
        {
            #[allow(non_snake_case, reason = "a part is named by its type")]
            fn run(self, context: RequestContext, freshness: Freshness) -> HandlerFuture {
                Box::pin(async move {
                    before_parts(&context, freshness).await?;
                    $(let $part = $part::of(&context).await?;)*
                    let _making = before_handler(&context, freshness).await?;
                    self(context, $($part),*).await.map(Reply::into_answer)
                })
            }

            fn describe(operation: &mut Operation) {
                $($part::describe(operation);)*
                R::describe(operation);
            }
        }
    )+};
}

endpoints! { () (A) (A B) (A B C) }

/// Waits for the state in which credentials are checked.
async fn before_parts(context: &RequestContext, freshness: Freshness) -> Result<(), Failure> {
    if freshness == Freshness::Durable {
        context.app.shared_view.catch_up().await?;
    }
    Ok(())
}

/// Waits for the state that the handler reads, and for a turn to make an answer of megabytes.
async fn before_handler(
    context: &RequestContext,
    freshness: Freshness,
) -> Result<Option<OwnedSemaphorePermit>, Failure> {
    if freshness == Freshness::Requested {
        context.wait_fresh().await?;
    }
    Ok(match context.is_large {
        true => work::large_answer().await,
        false => None,
    })
}

/// The handler of a route.
pub(crate) fn handler<Parts>(endpoint: impl Endpoint<Parts>) -> Handler {
    Box::new(move |context, freshness| endpoint.run(context, freshness))
}
