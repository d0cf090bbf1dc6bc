//! Status: shows state and evidence. It holds nothing that could write.

use aws_lambda_events::apigw::ApiGatewayV2httpResponse;
use lambda_runtime::LambdaEvent;
use sendonce::aws::{Aws, GatewayRequest, Ledger, read_event, reply, warm};
use sendonce::config::{CallerRule, StatusConfig};
use sendonce::http::{self, Problem, Request, Response, Route, RouteFault};
use sendonce::notification::NotificationId;
use sendonce::read::Read;
use sendonce::tenant::TenantId;
use serde_json::value::RawValue;

/// Everything one environment keeps between events.
#[derive(Debug)]
pub struct Handler {
    read: Read<Ledger>,
    caller: CallerRule,
}

impl Handler {
    /// Builds the adapters and makes the request that must not wait for the first event.
    pub async fn start(aws: &Aws, config: StatusConfig) -> Self {
        let ledger = Ledger::new(aws.dynamodb(), config.tables.notifications, config.tables.evidence);
        warm::reader(&ledger).await;
        Self { read: Read { ledger, operators: config.operators }, caller: config.caller }
    }

    /// Answers one HTTP API event. Every failure is an answer too.
    ///
    /// # Errors
    /// None.
    pub async fn handle(
        &self,
        event: LambdaEvent<Box<RawValue>>,
    ) -> Result<ApiGatewayV2httpResponse, lambda_runtime::Error> {
        let answer = match read_event(&event.payload, &self.caller) {
            Ok(asked) => self.answer(&asked).await,
            Err(problem) => Err(problem),
        };
        Ok(reply(answer.unwrap_or_else(|problem| problem.response())))
    }

    async fn answer(&self, asked: &GatewayRequest) -> Result<Response, Problem> {
        let GatewayRequest { request, tenant, .. } = asked;
        match asked.route()? {
            Route::Status(id) => self.status(request, tenant, &id).await,
            Route::Evidence(id) => self.evidence(tenant, &id).await,
            Route::Create | Route::Cancel(_) | Route::Resolution(_) => Err(RouteFault::NotFound.into()),
        }
    }

    async fn status(&self, request: &Request, tenant: &TenantId, id: &NotificationId) -> Result<Response, Problem> {
        let record = self.read.status(tenant, id).await?.ok_or_else(Problem::not_found)?;
        if http::none_match(request.header("if-none-match"), record.rev) {
            return Ok(Response::not_modified(http::etag(record.rev)));
        }
        Ok(http::status(&record))
    }

    async fn evidence(&self, tenant: &TenantId, id: &NotificationId) -> Result<Response, Problem> {
        let evidence = self.read.evidence(tenant, id).await?.ok_or_else(Problem::not_found)?;
        Ok(http::evidence(id, &evidence))
    }
}
