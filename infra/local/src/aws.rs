//! Signed requests to MiniStack: the little of AWS that a deployment needs, spoken directly.

use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, anyhow, bail};
use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde_json::Value;

/// Made up, and known to MiniStack alone, which takes its holder for the account's root.
pub const ACCESS_KEY: &str = "AKIALOCALSENDONCE000";
/// See [`ACCESS_KEY`].
pub const SECRET_KEY: &str = "this-key-opens-nothing-but-the-local-stack";
/// The region that everything is in.
pub const REGION: &str = "us-east-1";
/// The account that everything is in.
pub const ACCOUNT: &str = "000000000000";

const TIMEOUT: Duration = Duration::from_secs(60);

/// An HTTP answer, read to its end.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Status code.
    pub status: u16,
    /// Headers.
    pub headers: HeaderMap,
    /// Body.
    pub body: Bytes,
}

impl Answer {
    /// The body, which should be text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// A header, if it is there and is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// One request, before it is signed.
#[derive(Debug)]
pub struct Request<'a> {
    /// What signs it: `s3`, `execute-api`, …
    pub service: &'a str,
    /// Method.
    pub method: Method,
    /// Path and query.
    pub path: &'a str,
    /// Headers, `Host` among them if it is not the endpoint's.
    pub headers: Vec<(&'static str, String)>,
    /// Body.
    pub body: Bytes,
}

/// MiniStack's gateway.
#[derive(Debug, Clone)]
pub struct Aws {
    endpoint: String,
    region: String,
    http: reqwest::Client,
}

impl Aws {
    /// Speaks to the gateway at `endpoint`.
    pub fn new(endpoint: &str) -> Result<Self> {
        Ok(Self { endpoint: endpoint.to_owned(), region: REGION.to_owned(), http: client()? })
    }

    /// The same in another region, where nothing of this one is known.
    #[must_use]
    pub fn in_region(self, region: &str) -> Self {
        Self { region: region.to_owned(), ..self }
    }

    /// Signs and sends a request; whatever is answered is an answer.
    pub async fn send(&self, request: Request<'_>) -> Result<Answer> {
        let url = format!("{}{}", self.endpoint, request.path);
        let signature = signature(&request, &url, &self.region)?;
        self.deliver(request, &url, signature).await
    }

    /// Sends a request as it is.
    pub async fn send_unsigned(&self, request: Request<'_>) -> Result<Answer> {
        let url = format!("{}{}", self.endpoint, request.path);
        self.deliver(request, &url, HeaderMap::new()).await
    }

    /// An action of a Query service (CloudFormation, SNS): form in, XML out; anything but 200 is an error.
    pub async fn query(
        &self,
        service: &str,
        version: &str,
        action: &str,
        members: &[(String, String)],
    ) -> Result<String> {
        let headers = vec![("content-type", "application/x-www-form-urlencoded".to_owned())];
        let body = form(action, version, members).into();
        let answer = self.send(Request { service, method: Method::POST, path: "/", headers, body }).await?;
        match answer.status {
            200 => Ok(answer.text()),
            status => bail!("{action} was answered {status}: {}", answer.text().trim()),
        }
    }

    /// An action of a service that speaks JSON (CloudWatch Logs): anything but 200 is an error.
    pub async fn json(&self, service: &str, target: &str, body: &Value) -> Result<Value> {
        let headers =
            vec![("content-type", "application/x-amz-json-1.1".to_owned()), ("x-amz-target", target.to_owned())];
        let body = body.to_string().into();
        let answer = self.send(Request { service, method: Method::POST, path: "/", headers, body }).await?;
        match answer.status {
            200 if answer.body.is_empty() => Ok(Value::Null),
            200 => serde_json::from_slice(&answer.body).with_context(|| format!("{target} was answered no JSON")),
            status => bail!("{target} was answered {status}: {}", answer.text().trim()),
        }
    }

    async fn deliver(&self, request: Request<'_>, url: &str, signature: HeaderMap) -> Result<Answer> {
        let mut headers = signature;
        for (name, value) in request.headers {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_str(&value)?);
        }
        let sent = self.http.request(request.method, url).headers(headers).body(request.body).send().await;
        let response = sent.map_err(|error| anyhow!(error.without_url())).context("MiniStack did not answer")?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = response.bytes().await.context("MiniStack's answer broke off")?;
        Ok(Answer { status, headers, body })
    }
}

fn form(action: &str, version: &str, members: &[(String, String)]) -> String {
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.append_pair("Action", action).append_pair("Version", version).extend_pairs(members).finish()
}

/// A client for loopback: no proxy, whatever the environment says, and no idle connections, which would belong to
/// the runtime they were opened on and not outlive it.
pub fn client() -> Result<reqwest::Client> {
    let client = reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).timeout(TIMEOUT);
    client.build().context("cannot build an HTTP client")
}

fn signature(request: &Request<'_>, url: &str, region: &str) -> Result<HeaderMap> {
    let identity = Credentials::new(ACCESS_KEY, SECRET_KEY, None, None, "local").into();
    let params = v4::SigningParams::builder()
        .identity(&identity)
        .region(region)
        .name(request.service)
        .time(SystemTime::now())
        .settings(SigningSettings::default())
        .build()?;
    let headers = request.headers.iter().map(|(name, value)| (*name, value.as_str()));
    let signable = SignableRequest::new(request.method.as_str(), url, headers, SignableBody::Bytes(&request.body))?;
    let (instructions, _) = sign(signable, &params.into())?.into_parts();
    let mut signed = HeaderMap::new();
    for (name, value) in instructions.headers() {
        signed.insert(HeaderName::from_bytes(name.as_bytes())?, HeaderValue::from_str(value)?);
    }
    Ok(signed)
}
