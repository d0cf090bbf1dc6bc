//! HTTP API events of payload version 2.0, and who the gateway says is calling.

use aws_lambda_events::apigw::{ApiGatewayRequestAuthorizer, ApiGatewayV2httpRequest, ApiGatewayV2httpResponse};
use aws_lambda_events::encodings::Body;
use data_encoding::BASE64;
use http::header::{HeaderName, HeaderValue};
use serde_json::value::RawValue;

use crate::config::CallerRule;
use crate::http::{Problem, Request, Response};
use crate::tenant::TenantId;

/// One request, with its caller.
#[derive(Clone, Debug)]
pub struct GatewayRequest {
    /// What was asked.
    pub request: Request,
    /// By whom.
    pub tenant: TenantId,
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
    let tenant = context.authorizer.as_ref().and_then(|authorizer| caller(authorizer, rule));
    let request = Request {
        method: context.http.method.as_str().to_owned(),
        path: without_stage(path, context.stage.as_deref()).to_owned(),
        headers: headers(&event),
        body: body(&event).ok_or_else(Problem::unreadable_event)?,
    };
    Ok(GatewayRequest { request, tenant: tenant.ok_or_else(Problem::unauthenticated)? })
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
        CallerRule::Iam => {
            let arn = authorizer.iam.as_ref()?.user_arn.as_deref()?;
            iam_principal(arn).map(|parts| TenantId::derive(&["iam", parts.partition, parts.account, &parts.principal]))
        }
        CallerRule::Jwt { claim } => {
            let claims = &authorizer.jwt.as_ref()?.claims;
            let named = |name: &str| claims.get(name).filter(|value| !value.is_empty());
            Some(TenantId::derive(&["jwt", named("iss")?, named(claim)?]))
        }
    }
}

struct IamPrincipal<'a> {
    partition: &'a str,
    account: &'a str,
    principal: String,
}

/// A user or role. The last part of an assumed role's ARN is the session's name, which callers choose themselves.
fn iam_principal(arn: &str) -> Option<IamPrincipal<'_>> {
    let parts: Vec<&str> = arn.splitn(6, ':').collect();
    let ["arn", partition, "iam" | "sts", "", account, resource] = parts.as_slice() else { return None };
    if account.is_empty() || resource.is_empty() {
        return None;
    }
    let principal = match resource.split_once('/') {
        Some(("assumed-role", role_and_session)) => {
            let (role, _session) = role_and_session.rsplit_once('/')?;
            format!("role/{role}")
        }
        _ => (*resource).to_owned(),
    };
    Some(IamPrincipal { partition, account, principal })
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

    fn tenant_of(arn: &str) -> Option<String> {
        iam_principal(arn).map(|parts| format!("{}|{}|{}", parts.partition, parts.account, parts.principal))
    }

    #[test]
    fn a_roles_session_name_is_not_identity() {
        let role = tenant_of("arn:aws:sts::123456789012:assumed-role/checkout/session-1").unwrap();
        assert_eq!(role, "aws|123456789012|role/checkout");
        assert_eq!(tenant_of("arn:aws:sts::123456789012:assumed-role/checkout/session-2"), Some(role));
    }

    #[test]
    fn users_and_accounts_are_told_apart() {
        assert_eq!(tenant_of("arn:aws:iam::1:user/a/b"), Some(String::from("aws|1|user/a/b")));
        assert_eq!(tenant_of("arn:aws:iam::1:root"), Some(String::from("aws|1|root")));
        for arn in ["", "arn:aws:iam::1", "arn:aws:s3:::bucket", "arn:aws:iam:::root", "arn:aws:sts::1:assumed-role/x"]
        {
            assert_eq!(tenant_of(arn), None, "{arn}");
        }
    }

    #[test]
    fn a_named_stage_is_not_part_of_the_path() {
        assert_eq!(without_stage("/prod/v1/notifications", Some("prod")), "/v1/notifications");
        assert_eq!(without_stage("/v1/notifications", Some("$default")), "/v1/notifications");
        assert_eq!(without_stage("/production", Some("prod")), "/production");
        assert_eq!(without_stage("/v1/notifications", None), "/v1/notifications");
    }
}
