//! A consumer of `OrderCreated`: one shipment for one order, however often the event comes.

use aws_lambda_events::sqs::{SqsBatchResponse, SqsEvent, SqsMessage};
use lambda_runtime::Context;
use sendonce::idempotency::{Executions, Fields, FingerprintKey, Leased, NoAuthority, Outcome, Part, Permit, Scope};
use sendonce::lambda::sqs::{Consumed, Consumer, Nameless};
use sendonce::ports::Clock;
use sendonce::tenant::TenantId;
use serde::Deserialize;

/// The event.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OrderCreated {
    shop: String,
    order: String,
    items: u32,
}

impl Fields for OrderCreated {
    fn fields(&self, field: &mut dyn FnMut(&[u8])) {
        field(self.order.as_bytes());
        field(&self.items.to_be_bytes());
    }
}

/// Whoever ships.
pub trait Shipments {
    /// Orders a shipment, once.
    fn ship(&self, reference: &str, order: &str, items: u32) -> impl Future<Output = Outcome<()>>;
}

/// The handler.
#[derive(Debug)]
pub struct Handler<S, C, H> {
    consumer: Consumer<S, C, NoAuthority>,
    shipments: H,
}

impl<S: Executions, C: Clock, H: Shipments> Handler<S, C, H> {
    /// A handler that ships by `shipments`.
    pub const fn new(leased: Leased<S, C>, fingerprint: FingerprintKey, shipments: H) -> Self {
        // Nobody can be asked about a shipment: what is unknown goes to the dead-letter queue, and a person decides.
        let consumer = Consumer { leased, fingerprint, authority: NoAuthority, operation: "ship_order" };
        Self { consumer, shipments }
    }

    /// Ships the orders of one batch.
    ///
    /// # Errors
    /// [`Nameless`].
    pub async fn handle(&self, event: &SqsEvent, context: &Context) -> Result<SqsBatchResponse, Nameless> {
        let ship = async |order: OrderCreated, permit: Permit| {
            self.shipments.ship(permit.reference.as_str(), &order.order, order.items).await
        };
        self.consumer.consume(event, context, read, ship).await
    }
}

/// The operation is named by the order, not by the message: a producer that sends twice sends two messages.
fn read(record: &SqsMessage) -> Option<Consumed<OrderCreated>> {
    let command: OrderCreated = serde_json::from_str(record.body.as_deref()?).ok()?;
    let scope = Scope::Operation { name: Part::new("ship").ok()?, id: Part::new(&command.order).ok()? };
    Some(Consumed { tenant: TenantId::derive(&["shop", Part::new(&command.shop).ok()?.as_str()]), scope, command })
}
