//! Admission: takes commands, takes them back, and takes operators' decisions about them.

use aws_lambda_events::apigw::ApiGatewayV2httpResponse;
use lambda_runtime::LambdaEvent;
use sendonce::admit::{Admit, Keys};
use sendonce::aws::warm::{self, NoMacRoot};
use sendonce::aws::{Aws, GatewayRequest, KmsSealer, Ledger, SqsDoorbell, invocation, read_event, reply};
use sendonce::cancel::Cancel;
use sendonce::config::{AdmissionConfig, CallerRule};
use sendonce::http::{self, Problem, Request, Response, Route, RouteFault};
use sendonce::idempotency::IdempotencyKey;
use sendonce::invocation::Invocation;
use sendonce::notification::{Function, NotificationId};
use sendonce::ports::Clock;
use sendonce::resolve::{Operator, Resolve};
use sendonce::tenant::TenantId;
use serde_json::value::RawValue;

/// Everything one environment keeps between events.
#[derive(Debug)]
pub struct Handler<C> {
    admit: Admit<Ledger, KmsSealer<C>, SqsDoorbell, C>,
    cancel: Cancel<Ledger, C>,
    resolve: Resolve<Ledger, SqsDoorbell, C>,
    caller: CallerRule,
}

impl<C: Clock + Clone> Handler<C> {
    /// Builds the adapters and makes the requests that must not wait for the first event.
    ///
    /// # Errors
    /// [`NoMacRoot`] when commands could not be told apart.
    pub async fn start(aws: &Aws, config: AdmissionConfig, clock: C) -> Result<Self, NoMacRoot> {
        let kms = aws.kms();
        let ledger = Ledger::new(aws.dynamodb(), config.tables.notifications, config.tables.evidence);
        let sealer = KmsSealer::new(kms.clone(), config.seal_key_id, clock.clone());
        let root = warm::admission(&kms, &config.mac_key_id, &sealer, &ledger).await?;
        let cancel = Cancel { ledger: ledger.clone(), clock: clock.clone(), policy: config.policy };
        let doorbell = SqsDoorbell::new(aws.sqs(), config.doorbell_queue_url);
        let resolve = Resolve {
            ledger: ledger.clone(),
            doorbell: doorbell.clone(),
            clock: clock.clone(),
            policy: config.policy,
            operators: config.operators,
        };
        let admit = Admit {
            ledger,
            sealer,
            doorbell,
            clock,
            keys: Keys::derive(&root),
            window: config.window,
            lifetime_max: config.lifetime_max,
            policy: config.policy,
        };
        Ok(Self { admit, cancel, resolve, caller: config.caller })
    }

    /// Answers one HTTP API event. Every failure is an answer too.
    ///
    /// # Errors
    /// None.
    pub async fn handle(
        &self,
        event: LambdaEvent<Box<RawValue>>,
    ) -> Result<ApiGatewayV2httpResponse, lambda_runtime::Error> {
        let invocation = invocation(Function::Admission, &event.context);
        let answer = match read_event(&event.payload, &self.caller) {
            Ok(asked) => self.answer(&asked, &invocation).await,
            Err(problem) => Err(problem),
        };
        Ok(reply(answer.unwrap_or_else(|problem| problem.response())))
    }

    async fn answer(&self, asked: &GatewayRequest, invocation: &Invocation) -> Result<Response, Problem> {
        let GatewayRequest { request, tenant, .. } = asked;
        match asked.route()? {
            Route::Create => self.create(request, tenant, invocation).await,
            Route::Cancel(id) => self.take_back(request, tenant, &id, invocation).await,
            Route::Resolution(id) => self.decide(asked, &id, invocation).await,
            Route::Status(_) | Route::Evidence(_) => Err(RouteFault::NotFound.into()),
        }
    }

    async fn create(&self, request: &Request, tenant: &TenantId, invocation: &Invocation) -> Result<Response, Problem> {
        let key = IdempotencyKey::from_headers(request.header("idempotency-key"))?;
        if !request.is_json() {
            return Err(Problem::not_json_type());
        }
        let command = http::read_command(&request.body)?;
        let admitted = self.admit.admit(tenant, &key, &command, invocation).await?;
        Ok(http::accepted(&admitted))
    }

    async fn take_back(
        &self,
        request: &Request,
        tenant: &TenantId,
        id: &NotificationId,
        invocation: &Invocation,
    ) -> Result<Response, Problem> {
        let if_rev = http::if_match(request.header("if-match")).map_err(|()| Problem::changed())?;
        let record = self.cancel.cancel(tenant, id, if_rev, invocation).await?;
        Ok(http::status(&record))
    }

    /// A decision is about the revision that its operator saw, so that one must be named.
    async fn decide(
        &self,
        asked: &GatewayRequest,
        id: &NotificationId,
        invocation: &Invocation,
    ) -> Result<Response, Problem> {
        let GatewayRequest { request, tenant, principal, .. } = asked;
        let principal = principal.clone().ok_or_else(Problem::unauthenticated)?;
        let if_rev = http::if_match(request.header("if-match")).map_err(|()| Problem::changed())?;
        let if_rev = if_rev.ok_or_else(Problem::precondition_required)?;
        if !request.is_json() {
            return Err(Problem::not_json_type());
        }
        let decision = http::read_resolution(&request.body)?;
        let operator = Operator { tenant: tenant.clone(), principal };
        let resolved = self.resolve.resolve(&operator, id, if_rev, decision, invocation).await;
        let record = resolved.map_err(|fault| Problem::not_resolved(fault, self.resolve.clock.now()))?;
        Ok(http::status(&record))
    }
}
