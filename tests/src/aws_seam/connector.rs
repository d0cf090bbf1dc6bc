//! Where the SDK's requests leave it.

use std::future::{Ready, ready};
use std::io;
use std::task::{Context, Poll};

use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo};

use super::{Fault, Request, Seam, database, keys, lock, logs, provider, queue};

/// What each request is called by its service.
pub const REQUEST_ID: &str = "00000000-0000-4000-a000-000000000000";

/// A service's answer.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: String,
}

impl Answer {
    pub(super) fn ok(body: impl ToString) -> Self {
        Self { status: 200, body: body.to_string() }
    }
}

#[derive(Debug)]
pub(super) struct SeamClient(pub(super) Seam);

impl HttpClient for SeamClient {
    fn http_connector(&self, _: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(SeamConnector(self.0.clone()))
    }
}

#[derive(Debug)]
struct SeamConnector(Seam);

impl HttpConnector for SeamConnector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let (seam, request) = (self.0.clone(), Request::read(&request));
        HttpConnectorFuture::new(async move { seam.exchange(&request).await })
    }
}

impl Seam {
    async fn exchange(&self, request: &Request) -> Result<HttpResponse, ConnectorError> {
        let fault = lock(&self.0.log).arrive(request);
        // Lets others in between, as a network would.
        tokio::task::yield_now().await;
        let latency = *lock(&self.0.latency);
        if !latency.is_zero() {
            tokio::time::sleep(latency).await;
        }
        match fault {
            None => respond(self.serve(request)),
            Some(Fault::NeverConnected) => Err(connect_error().await),
            Some(Fault::LostBefore) => Err(lost()),
            Some(Fault::LostAfter) => {
                self.serve(request);
                Err(lost())
            }
            Some(Fault::SilentBefore) => std::future::pending().await,
            Some(Fault::SilentAfter) => {
                self.serve(request);
                std::future::pending().await
            }
            Some(Fault::Late(length)) => {
                tokio::time::sleep(length).await;
                respond(self.serve(request))
            }
            Some(Fault::CodeBefore(status, code)) => respond(error(request, status, code)),
            Some(Fault::CodeAfter(status, code)) => {
                self.serve(request);
                respond(error(request, status, code))
            }
            Some(Fault::BodyBefore(status, body)) => respond(Answer { status, body }),
            Some(Fault::BodyAfter(status, body)) => {
                self.serve(request);
                respond(Answer { status, body })
            }
        }
    }

    fn serve(&self, request: &Request) -> Answer {
        let served = match request.operation.split_once(':') {
            Some(("dynamodb", _)) => database::serve(self, request),
            Some(("sqs", _)) => queue::serve(self, request),
            Some(("sns", _)) => provider::serve_sns(self, request),
            Some(("sms-voice", _)) => provider::serve_eum(self, request),
            Some(("kms", _)) => keys::serve(self, request),
            Some(("logs", _)) => logs::serve(self, request),
            _ => Err((400, "UnknownOperationException")),
        };
        served.unwrap_or_else(|(status, code)| error(request, status, code))
    }
}

fn respond(answer: Answer) -> Result<HttpResponse, ConnectorError> {
    let status = answer.status.try_into().map_err(|error| ConnectorError::user(Box::new(error)))?;
    let mut response = HttpResponse::new(status, SdkBody::from(answer.body));
    response.headers_mut().insert("x-amzn-requestid", REQUEST_ID);
    Ok(response)
}

/// An error in its service's protocol.
fn error(request: &Request, status: u16, code: &str) -> Answer {
    match request.operation.split_once(':') {
        Some(("sns", _)) => provider::sns_error(request, status, code),
        Some(("sms-voice", _)) => provider::eum_error(request, status, code),
        _ => {
            let body = serde_json::json!({"__type": format!("com.amazonaws#{code}"), "message": "planned by the test"});
            Answer { status, body: body.to_string() }
        }
    }
}

fn lost() -> ConnectorError {
    ConnectorError::io(io::Error::from(io::ErrorKind::ConnectionReset).into())
}

/// The very error that the production client makes when it cannot connect: its proof rests on that type.
async fn connect_error() -> ConnectorError {
    let client: Client<Unreachable, String> = Client::builder(TokioExecutor::new()).build(Unreachable);
    match client.get("http://unreachable.invalid/".parse().expect("a URI")).await {
        Err(error) => ConnectorError::io(error.into()),
        Ok(_) => lost(),
    }
}

#[derive(Clone)]
struct Unreachable;

impl tower_service::Service<http::Uri> for Unreachable {
    type Response = TokioIo<tokio::net::TcpStream>;
    type Error = io::Error;
    type Future = Ready<Result<Self::Response, io::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), io::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: http::Uri) -> Self::Future {
        ready(Err(io::ErrorKind::ConnectionRefused.into()))
    }
}

/// Nothing here fails in another way than by a service's error.
pub(super) type Served = Result<Answer, (u16, &'static str)>;
