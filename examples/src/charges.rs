//! `POST /charges`: one charge for one key, however often it is asked for.

use core::convert::Infallible;

use lambda_http::http::header::CONTENT_TYPE;
use lambda_http::request::RequestContext;
use lambda_http::tower::{Layer, Service, service_fn};
use lambda_http::{Body, Request, RequestExt, Response};
use sendonce::idempotency::{
    Authority, Ending, ExecutionId, Executions, Fields, FingerprintKey, Leased, Outcome, Resolution,
};
use sendonce::lambda::http::{Commanded, Settings, http_answer, idempotent};
use sendonce::ports::Clock;
use sendonce::tenant::TenantId;
use serde::Deserialize;

use crate::payments::{Charged, Known, Paid, Payments};

/// The body. Members that are not known are refused: what is not read would not tell two commands apart.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CreateCharge {
    order: u64,
    cents: u64,
}

impl Fields for CreateCharge {
    fn fields(&self, field: &mut dyn FnMut(&[u8])) {
        field(&self.order.to_be_bytes());
        field(&self.cents.to_be_bytes());
    }
}

/// What became of a charge, the payment service knows: it was given our reference.
#[derive(Clone, Debug)]
pub struct AskPayments<P>(pub P);

impl<P: Payments> Authority for AskPayments<P> {
    async fn what_became_of(&self, reference: &ExecutionId) -> Resolution {
        match self.0.find(reference).await {
            Known::Paid(paid) => match http_answer(&created(&paid)) {
                Some(answer) => Resolution::Happened { ending: Ending::Succeeded, answer },
                None => Resolution::StillUnknown,
            },
            Known::Nothing => Resolution::DidNotHappen,
            Known::NoAnswer => Resolution::StillUnknown,
        }
    }
}

/// The handler: the idempotency layer around the one thing that must not happen twice.
pub fn handler<S, C, P>(
    leased: Leased<S, C>,
    fingerprint: FingerprintKey,
    payments: P,
) -> impl Service<
    Request,
    Response = Response<Body>,
    Error = Infallible,
    Future = impl Future<Output = Result<Response<Body>, Infallible>>,
> + Clone
where
    S: Executions,
    C: Clock,
    P: Payments + Clone,
{
    let authority = AskPayments(payments.clone());
    let layer = idempotent(Settings { leased, fingerprint, authority, operation: "charge", tenant });
    layer.layer(service_fn(move |asked| {
        let payments = payments.clone();
        async move { Ok::<_, Infallible>(charge(&payments, asked).await) }
    }))
}

/// The caller's choice of what is kept, for each way in which a charge can go.
async fn charge(payments: &impl Payments, asked: Commanded<CreateCharge>) -> Outcome<Response<Body>> {
    let Commanded { command, permit, .. } = asked;
    match payments.charge(&permit.reference, command.cents).await {
        Charged::Paid(paid) => Outcome::Succeeded(created(&paid)),
        Charged::Declined => Outcome::Failed(answer(402, r#"{"status":"declined"}"#.into())),
        Charged::NotSent => Outcome::Released(answer(503, r#"{"status":"not_sent"}"#.into())),
        Charged::Unknown => Outcome::Unknown,
    }
}

fn created(paid: &Paid) -> Response<Body> {
    answer(201, serde_json::to_string(paid).unwrap_or_default())
}

fn answer(status: u16, body: String) -> Response<Body> {
    let mut response = Response::new(Body::Text(body));
    *response.status_mut() = status.try_into().unwrap_or_default();
    response.headers_mut().insert(CONTENT_TYPE, lambda_http::http::HeaderValue::from_static("application/json"));
    response
}

/// Who the gateway says is calling. The session in an assumed role's ARN is the caller's own choice, so the user's id
/// up to its colon is what counts.
fn tenant(request: &Request) -> Option<TenantId> {
    let RequestContext::ApiGatewayV2(context) = request.request_context_ref()? else { return None };
    let iam = context.authorizer.as_ref()?.iam.as_ref()?;
    let (account, user) = (iam.account_id.as_deref()?, iam.user_id.as_deref()?);
    let identity = user.split(':').next().filter(|identity| !identity.is_empty())?;
    Some(TenantId::derive(&["iam", account, identity]))
}
