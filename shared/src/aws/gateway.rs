//! HTTP API events of payload version 2.0, and who the gateway says is calling.

use aws_lambda_events::apigw::{ApiGatewayRequestAuthorizer, ApiGatewayV2httpRequest, ApiGatewayV2httpResponse};
use aws_lambda_events::encodings::Body;
use data_encoding::BASE64;
use http::header::{HeaderName, HeaderValue};
use serde_json::value::RawValue;

use crate::config::CallerRule;
use crate::http::{Problem, Request, Response, Route, RouteFault};
use crate::notification::PrincipalId;
use crate::tenant::TenantId;

/// One request, with its caller.
#[derive(Clone, Debug)]
pub struct GatewayRequest {
    /// What was asked.
    pub request: Request,
    /// By which of its routes the gateway let it through, and so which right was asked for.
    pub route_key: Option<String>,
    /// By whom.
    pub tenant: TenantId,
    /// By which person or session, where the authoriser says that.
    pub principal: Option<PrincipalId>,
}

/// Reads an event.
///
/// # Errors
/// A [`Problem`] for events of any other shape, and for those whose authoriser names nobody.
pub fn read_event(event: &RawValue, rule: &CallerRule) -> Result<GatewayRequest, Problem> {
    let event: ApiGatewayV2httpRequest = serde_json::from_str(event.get()).map_err(|_| Problem::unreadable_event())?;
    let (Some(path), Some("2.0")) = (event.raw_path.as_deref(), event.version.as_deref()) else {
        return Err(Problem::unreadable_event());
    };
    let context = &event.request_context;
    let authorizer = context.authorizer.as_ref();
    let tenant = authorizer.and_then(|authorizer| caller(authorizer, rule)).ok_or_else(Problem::unauthenticated);
    let principal = authorizer.and_then(|authorizer| principal(authorizer, rule));
    let request = Request {
        method: context.http.method.as_str().to_owned(),
        path: without_stage(path, context.stage.as_deref()).to_owned(),
        headers: headers(&event),
        body: body(&event).ok_or_else(Problem::unreadable_event)?,
    };
    Ok(GatewayRequest { request, route_key: event.route_key, tenant: tenant?, principal })
}

impl GatewayRequest {
    /// The endpoint that it is for: by its path, and by the gateway's own route for that endpoint. What came by another,
    /// the one for everything else included, was not asked for the right to be here.
    ///
    /// # Errors
    /// [`RouteFault`].
    pub fn route(&self) -> Result<Route, RouteFault> {
        let route = Route::of(&self.request.method, &self.request.path)?;
        if self.route_key.as_deref() == Some(route.key()) { Ok(route) } else { Err(RouteFault::NotFound) }
    }
}

/// A named stage stands before the path.
fn without_stage<'a>(path: &'a str, stage: Option<&str>) -> &'a str {
    let rest = stage.and_then(|stage| path.strip_prefix('/')?.strip_prefix(stage));
    rest.filter(|rest| rest.starts_with('/')).unwrap_or(path)
}

fn headers(event: &ApiGatewayV2httpRequest) -> Vec<(String, String)> {
    // A value that is not text is kept as one that no rule allows, rather than lost.
    let text = |value: &HeaderValue| value.to_str().unwrap_or("\u{fffd}").to_owned();
    event.headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect()
}

fn body(event: &ApiGatewayV2httpRequest) -> Option<Vec<u8>> {
    let body = event.body.as_deref().unwrap_or_default();
    if event.is_base64_encoded { BASE64.decode(body.as_bytes()).ok() } else { Some(body.as_bytes().to_vec()) }
}

fn caller(authorizer: &ApiGatewayRequestAuthorizer, rule: &CallerRule) -> Option<TenantId> {
    match rule {
        CallerRule::Iam => TenantId::of_iam(user_arn(authorizer)?),
        CallerRule::Jwt { claim } => Some(TenantId::of_jwt(named(authorizer, "iss")?, named(authorizer, claim)?)),
    }
}

/// Who it was, down to the session: whose tenant that is, is another question.
fn principal(authorizer: &ApiGatewayRequestAuthorizer, rule: &CallerRule) -> Option<PrincipalId> {
    match rule {
        CallerRule::Iam => Some(PrincipalId::derive(&["iam", user_arn(authorizer)?])),
        CallerRule::Jwt { .. } => {
            Some(PrincipalId::derive(&["jwt", named(authorizer, "iss")?, named(authorizer, "sub")?]))
        }
    }
}

fn user_arn(authorizer: &ApiGatewayRequestAuthorizer) -> Option<&str> {
    authorizer.iam.as_ref()?.user_arn.as_deref()
}

fn named<'a>(authorizer: &'a ApiGatewayRequestAuthorizer, claim: &str) -> Option<&'a str> {
    let value = authorizer.jwt.as_ref()?.claims.get(claim)?;
    Some(value.as_str()).filter(|value| !value.is_empty())
}

/// The answer as the gateway wants it.
#[must_use]
pub fn reply(response: Response) -> ApiGatewayV2httpResponse {
    let mut reply = ApiGatewayV2httpResponse::default();
    reply.status_code = i64::from(response.status);
    for (name, value) in response.headers {
        if let Ok(value) = HeaderValue::from_str(&value) {
            reply.headers.insert(HeaderName::from_static(name), value);
        }
    }
    reply.body = (!response.body.is_empty()).then_some(Body::Text(response.body));
    reply
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_stage_is_not_part_of_the_path() {
        assert_eq!(without_stage("/prod/v1/notifications", Some("prod")), "/v1/notifications");
        assert_eq!(without_stage("/v1/notifications", Some("$default")), "/v1/notifications");
        assert_eq!(without_stage("/production", Some("prod")), "/production");
        assert_eq!(without_stage("/v1/notifications", None), "/v1/notifications");
    }
}
