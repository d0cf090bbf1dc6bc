//! The production adapters under the real SDK, on `dynoxide` and the small models of [`crate::aws_seam`].

use sendonce::aws::{AnyCarrier, KmsOpener, KmsSealer, Ledger, SqsDoorbell, parse_doorbell};
use sendonce::notification::{NotificationId, Provider};
use sendonce::time::{EpochMillis, Millis};

use super::backend::{Backend, Cannot, How, Port};
use super::cases::Case;
use super::script::Script;
use super::suite::House;
use crate::aws_seam::{Adapters, Fault, Seam, SeamClock};

/// One seam, and the adapters on it.
#[derive(Debug)]
pub struct OnSeam {
    seam: Seam,
    adapters: Adapters,
    provider: Provider,
}

/// Seams, a new one for each case.
#[derive(Clone, Copy, Debug)]
pub struct SeamHouse {
    /// Through whom texts go.
    pub provider: Provider,
}

impl House for SeamHouse {
    type Backend = OnSeam;

    fn name(&self) -> &'static str {
        match self.provider {
            Provider::Sns => "dynoxide",
            Provider::Eum => "with eum",
        }
    }

    fn play(&self, case: &Case<OnSeam>, script: &Script) -> Result<(), Cannot> {
        // Time-outs pass at once.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.expect("a runtime").block_on(async {
            let seam = Seam::new();
            let adapters = seam.adapters().await;
            (case.play)(&OnSeam { seam, adapters, provider: self.provider }, script).await
        })
    }
}

/// As often as the client of this service tries; [`crate::aws_seam`] counts each try.
const DYNAMODB_TRIES: usize = 3;
const SQS_TRIES: usize = 2;

const NAMELESS: &str = "<PublishResponse xmlns=\"http://sns.amazonaws.com/doc/2010-03-31/\"><PublishResult>\
     </PublishResult></PublishResponse>";

impl Backend for OnSeam {
    type Ledger = Ledger;
    type Doorbell = SqsDoorbell;
    type Sealer = KmsSealer<SeamClock>;
    type Opener = KmsOpener;
    type Carrier = AnyCarrier<SeamClock>;
    type Clock = SeamClock;

    fn ledger(&self) -> Ledger {
        self.adapters.ledger.clone()
    }

    fn doorbell(&self) -> SqsDoorbell {
        self.adapters.doorbell.clone()
    }

    fn sealer(&self) -> KmsSealer<SeamClock> {
        self.adapters.sealer.clone()
    }

    fn opener(&self) -> KmsOpener {
        KmsOpener::new(self.adapters.kms.clone())
    }

    fn carrier(&self) -> AnyCarrier<SeamClock> {
        match self.provider {
            Provider::Sns => AnyCarrier::Sns(self.adapters.carrier.clone()),
            Provider::Eum => AnyCarrier::Eum(self.adapters.eum.clone()),
        }
    }

    fn clock(&self) -> SeamClock {
        self.seam.clock()
    }

    fn fail_next(&self, port: Port, how: How) -> Result<(), Cannot> {
        let (operation, times, fault) = planned(port, how, self.provider)?;
        self.seam.fail_times(operation, times, fault);
        Ok(())
    }

    async fn pass(&self, length: Millis) {
        self.seam.clock().advance(length);
    }

    async fn forget(&self, now: EpochMillis) {
        self.seam.clock().set(now);
        self.seam.sweep_ttl();
    }

    async fn rung(&self) -> Vec<NotificationId> {
        let messages = self.seam.receive(usize::MAX);
        messages.iter().map(|message| parse_doorbell(&message.body).expect("a doorbell")).collect()
    }

    async fn texts(&self) -> usize {
        self.seam.texts().len()
    }
}

/// What goes wrong with how many requests for which operation.
///
/// # Errors
/// [`Cannot`] where no answer of the service is like that.
pub fn planned(port: Port, how: How, provider: Provider) -> Result<(&'static str, usize, Fault), Cannot> {
    let denied = Fault::CodeBefore(400, "AccessDeniedException");
    let (times, fault) = match (port, how) {
        (Port::Admit | Port::Commit, How::Conflict) => (1, Fault::cancelled(&["TransactionConflict", "None"])),
        (Port::Bind, How::Conflict) => (1, Fault::CodeBefore(400, "TransactionConflictException")),
        (Port::Admit | Port::Commit | Port::Bind, How::NeverDone) => (DYNAMODB_TRIES, Fault::LostBefore),
        (Port::Admit | Port::Commit | Port::Bind, How::AnswerLost) => (DYNAMODB_TRIES, Fault::LostAfter),
        (Port::Ring, How::NeverDone) => (SQS_TRIES, Fault::LostBefore),
        (Port::Ring, How::AnswerLost) => (SQS_TRIES, Fault::LostAfter),
        (Port::Admit | Port::Commit | Port::Bind | Port::Ring, How::Repeated) => (1, Fault::LostAfter),
        (Port::Send, How::Refused) => (1, throttled(provider)),
        (Port::Send, How::Rejected) => (1, opted_out(provider)),
        (Port::Send, How::NeverDone) => (1, Fault::LostBefore),
        (Port::Send, How::AnswerLost) => (1, Fault::SilentAfter),
        (Port::Send, How::Nameless) => (1, nameless(provider)),
        (_, How::Refused) => (1, denied),
        _ => return Err(Cannot("its service has no such answer")),
    };
    Ok((operation(port, provider), times, fault))
}

const fn operation(port: Port, provider: Provider) -> &'static str {
    match (port, provider) {
        (Port::Admit | Port::Commit, _) => "dynamodb:TransactWriteItems",
        (Port::Bind, _) => "dynamodb:PutItem",
        (Port::Guard | Port::Record, _) => "dynamodb:GetItem",
        (Port::Due | Port::SentTo | Port::Rows, _) => "dynamodb:Query",
        (Port::Ring, _) => "sqs:SendMessage",
        (Port::Seal, _) => "kms:GenerateDataKey",
        (Port::Open, _) => "kms:Decrypt",
        (Port::Send, Provider::Sns) => "sns:Publish",
        (Port::Send, Provider::Eum) => "sms-voice:SendTextMessage",
    }
}

fn throttled(provider: Provider) -> Fault {
    match provider {
        Provider::Sns => Fault::CodeBefore(400, "Throttled"),
        Provider::Eum => Fault::CodeBefore(400, "ThrottlingException"),
    }
}

fn opted_out(provider: Provider) -> Fault {
    match provider {
        Provider::Sns => Fault::CodeBefore(400, "OptedOut"),
        Provider::Eum => Fault::eum("ConflictException", "DESTINATION_PHONE_NUMBER_OPTED_OUT"),
    }
}

fn nameless(provider: Provider) -> Fault {
    match provider {
        Provider::Sns => Fault::BodyAfter(200, NAMELESS.into()),
        Provider::Eum => Fault::BodyAfter(200, String::from("{}")),
    }
}
