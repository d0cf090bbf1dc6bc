//! A tower layer for `lambda_http`.

use core::convert::Infallible;
use core::future::poll_fn;
use std::sync::Arc;

use lambda_http::http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use lambda_http::tower::layer::{Layer, layer_fn};
use lambda_http::tower::{Service, service_fn};
use lambda_http::{Body, Request, Response};
use lambda_runtime::Context;
use serde::de::DeserializeOwned;

use super::stored::Stored;
use super::{Of, deadline};
use crate::http::{BodyFault, Problem, strict};
use crate::idempotency::{
    Authority, Executions, Fields, FingerprintKey, IdempotencyKey, Leased, Named, NotRun, Outcome, Permit, Ran, Scope,
};
use crate::ports::Clock;
use crate::tenant::TenantId;

pub use super::stored::http_answer;

/// What a layer goes by. A value: two layers do not know of each other.
#[derive(Debug)]
pub struct Settings<S, C, A> {
    /// Where executions are kept, and the numbers of the contract.
    pub leased: Leased<S, C>,
    /// The secret under which bodies are told apart.
    pub fingerprint: FingerprintKey,
    /// Who can say what became of an operation. [`crate::idempotency::NoAuthority`] where nobody can.
    pub authority: A,
    /// What a command of this handler is called, such as `charge`. Not the function's name: that may change.
    pub operation: &'static str,
    /// The authenticated caller, from what the gateway established; never from the body. `None` is answered 401.
    pub tenant: fn(&Request) -> Option<TenantId>,
}

/// A request that is to have its effect now.
#[derive(Debug)]
pub struct Commanded<T> {
    /// The typed body.
    pub command: T,
    /// By whom.
    pub tenant: TenantId,
    /// Until when the effect may begin, and what it is to be called at its own service.
    pub permit: Permit,
}

/// The longest body read. The store never sees it.
const BODY_MAX: usize = 256 * 1_024;

static REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// Makes a layer: around a service of typed commands, it is a service of `lambda_http` requests.
///
/// The inner service says what its response is worth ([`Outcome`]); an error of it, or no answer by the end of the
/// lease, is [`Outcome::Unknown`]. `T` should refuse unknown members (`#[serde(deny_unknown_fields)]`): what is not read
/// is not part of what tells two commands apart.
///
/// | | answer |
/// |---|---|
/// | first | the inner service's |
/// | same key, same command | the same status, headers and body, and `Idempotency-Replayed: true` |
/// | same key, other command | 409 `idempotency_key_reused` |
/// | still running | 409 `in_flight`, `Retry-After` |
/// | outcome unknown | 409 `outcome_unknown` |
/// | key missing, or malformed or repeated | 400 `idempotency_key_missing`, `_invalid` |
/// | store unreachable, or no time left | 503 `unavailable`, `Retry-After` |
///
/// The layer never fails; each of these is an answer.
pub fn idempotent<T, Inner, S, C, A>(
    settings: Settings<S, C, A>,
) -> impl Layer<
    Inner,
    Service = impl Service<
        Request,
        Response = Response<Body>,
        Error = Infallible,
        Future = impl Future<Output = Result<Response<Body>, Infallible>>,
    > + Clone,
> + Clone
where
    T: DeserializeOwned + Fields,
    Inner: Service<Commanded<T>, Response = Outcome<Response<Body>>> + Clone,
    S: Executions,
    C: Clock,
    A: Authority,
{
    let settings = Arc::new(settings);
    layer_fn(move |inner: Inner| {
        let settings = Arc::clone(&settings);
        service_fn(move |request: Request| {
            let (settings, inner) = (Arc::clone(&settings), inner.clone());
            async move { Ok(settings.answer(inner, request).await.unwrap_or_else(|problem| reply(&problem))) }
        })
    })
}

impl<S: Executions, C: Clock, A: Authority> Settings<S, C, A> {
    async fn answer<T, Inner>(&self, inner: Inner, request: Request) -> Result<Response<Body>, Problem>
    where
        T: DeserializeOwned + Fields,
        Inner: Service<Commanded<T>, Response = Outcome<Response<Body>>>,
    {
        let tenant = (self.tenant)(&request).ok_or_else(Problem::unauthenticated)?;
        let (key, command) = (key(&request)?, body::<T>(&request)?);
        let deadline = request.extensions().get::<Context>().and_then(deadline);
        // Named here, once: what the handler makes of the command afterwards changes nothing.
        let named = Named::new(&tenant, &Scope::Request { key }, &Of(self.operation, &command), &self.fingerprint);
        let effect = async |permit: Permit| {
            let left = permit.not_after.since(self.leased.clock().now()).to_std();
            let call = call(inner, Commanded { command, tenant, permit });
            // An inner service that hangs is cut off while there is time to write down that it did.
            tokio::time::timeout(left, call).await.unwrap_or(Outcome::Unknown).map(Kept)
        };
        let ran = self.leased.run_or_ask(&named, deadline, &self.authority, effect).await?;
        answer_of(ran, named)
    }
}

/// The response as it came, and as it is kept.
struct Kept(Response<Body>);

impl crate::idempotency::AsAnswer for Kept {
    fn to_answer(&self) -> Option<Vec<u8>> {
        Stored::of(&self.0).to_answer()
    }

    fn from_answer(bytes: &[u8]) -> Option<Self> {
        Stored::from_answer(bytes).map(|stored| Self(stored.response()))
    }
}

fn answer_of(ran: Ran<Kept>, named: Named) -> Result<Response<Body>, Problem> {
    match ran {
        Ran::First(Outcome::Succeeded(kept) | Outcome::Failed(kept) | Outcome::Released(kept)) => Ok(kept.0),
        Ran::First(Outcome::Unknown) => Err(NotRun::OutcomeUnknown(named.id).into()),
        // Perhaps nobody will be told this again. With the same key, the client learns what it turns out to be.
        Ran::Unrecorded(_) => Err(NotRun::Unavailable.into()),
        Ran::Replayed { answer: Some(mut kept), .. } => {
            kept.0.headers_mut().insert(REPLAYED.clone(), HeaderValue::from_static("true"));
            Ok(kept.0)
        }
        Ran::Replayed { answer: None, .. } => Err(Problem::answer_not_kept()),
    }
}

async fn call<T, Inner>(mut inner: Inner, commanded: Commanded<T>) -> Outcome<Response<Body>>
where
    Inner: Service<Commanded<T>, Response = Outcome<Response<Body>>>,
{
    // Not ready is not begun.
    if poll_fn(|context| inner.poll_ready(context)).await.is_err() {
        return Outcome::Released(reply(&NotRun::Unavailable.into()));
    }
    inner.call(commanded).await.unwrap_or(Outcome::Unknown)
}

fn key(request: &Request) -> Result<IdempotencyKey, Problem> {
    // A value that is not text is one that no key has.
    let values = request.headers().get_all("idempotency-key").iter().map(|value| value.to_str().unwrap_or("\u{fffd}"));
    Ok(IdempotencyKey::from_headers(values)?)
}

fn body<T: DeserializeOwned>(request: &Request) -> Result<T, Problem> {
    let is_json = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).is_some_and(|value| {
        value.split(';').next().is_some_and(|media| media.trim().eq_ignore_ascii_case("application/json"))
    });
    if !is_json {
        return Err(Problem::not_json_type());
    }
    let bytes: &[u8] = request.body().as_ref();
    if bytes.len() > BODY_MAX {
        return Err(BodyFault::TooLarge.into());
    }
    let value = strict(bytes).ok_or(BodyFault::NotJson)?;
    // The error's text would quote the body.
    serde_json::from_value(value).map_err(|_| BodyFault::Fields(Vec::new()).into())
}

fn reply(problem: &Problem) -> Response<Body> {
    let answer = problem.response();
    let mut response = Response::new(Body::Text(answer.body));
    *response.status_mut() = answer.status.try_into().unwrap_or(lambda_http::http::StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in answer.headers {
        if let Ok(value) = value.parse() {
            response.headers_mut().insert(HeaderName::from_static(name), value);
        }
    }
    response
}
