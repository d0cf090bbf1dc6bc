//! What the production flow of admission writes, for each command at each instant: the record that a run begins with.

use core::cell::RefCell;
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use std::collections::HashMap;
use std::sync::LazyLock;

use sendonce::admit::{Admit, Keys};
use sendonce::idempotency::{DedupWindow, FingerprintKey, Guard, GuardId, IdempotencyKey, WindowTerms};
use sendonce::invocation::Invocation;
use sendonce::notification::{NotificationId, Payload, Record, Sealed};
use sendonce::ports::{
    Admission, Admissions, Clock, Doorbell, HeldAdmission, SealFault, Sealer, Unreadable, WriteFault, Written,
};
use sendonce::tenant::TenantId;
use sendonce::time::{EpochMillis, Millis};

use super::numbers::{END, EXPIRES_AT, Instant, POLICY};
use super::slim::{Slim, Who, actor, command_of, instant};

/// Every record that can be accepted here.
static ACCEPTED: LazyLock<HashMap<(u8, Instant), Admission>> = LazyLock::new(|| {
    let kinds = (0..2).flat_map(|print| (0..EXPIRES_AT).map(move |at| (print, at)));
    kinds.map(|(print, at)| ((print, at), admit(print, at))).collect()
});

/// The record of this command, accepted at this instant.
///
/// # Panics
/// When the command has ended by then.
#[must_use]
pub fn accepted(print: u8, at: Instant) -> Slim {
    Slim::of(&ACCEPTED[&(print, at)].record)
}

/// Any of them, for what they have in common.
pub(super) fn some_record() -> &'static Record {
    &ACCEPTED[&(0, 0)].record
}

/// Any guard's place.
pub(super) fn some_guard_id() -> GuardId {
    ACCEPTED[&(0, 0)].guard.id.clone()
}

fn admit(print: u8, at: Instant) -> Admission {
    let taken = Taken { at: instant(at), admission: RefCell::default() };
    let terms = WindowTerms {
        message_lifetime: Millis::new(i64::from(END)),
        client_retry_window: Millis::ZERO,
        visibility_timeout: Millis::ZERO,
        max_receive_count: 0,
        clock_skew: Millis::ZERO,
    };
    let flow = Admit {
        ledger: &taken,
        sealer: &taken,
        doorbell: &taken,
        clock: &taken,
        keys: Keys::derive(&FingerprintKey::new([7; 32])),
        window: DedupWindow::shortest(terms),
        lifetime_max: Millis::new(i64::from(END)),
        policy: POLICY,
    };
    let key = IdempotencyKey::parse("k-1").expect("a valid key");
    let invocation = Invocation { actor: actor(Who::Client(0)), deadline: instant(END) };
    let tenant = TenantId::derive(&["one"]);
    let future = pin!(flow.admit(&tenant, &key, command_of(print), &invocation));
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Ok(_)) => {}
        other => panic!("nothing is in the way of this command: {other:?}"),
    }
    taken.admission.take().expect("the flow wrote it")
}

/// Takes whatever comes, and keeps it.
struct Taken {
    at: EpochMillis,
    admission: RefCell<Option<Admission>>,
}

impl Admissions for &Taken {
    async fn admit(&self, admission: &Admission, _: EpochMillis) -> Result<Written<HeldAdmission>, WriteFault> {
        self.admission.replace(Some(admission.clone()));
        Ok(Written::Done)
    }

    async fn bind(&self, _: &Guard, _: EpochMillis) -> Result<Written<Guard>, WriteFault> {
        Err(WriteFault::Refused)
    }

    async fn guard(&self, _: &GuardId) -> Result<Option<Guard>, Unreadable> {
        Err(Unreadable)
    }
}

impl Sealer for &Taken {
    async fn seal(&self, _: &Payload, _: &TenantId, _: &NotificationId) -> Result<Sealed, SealFault> {
        Ok(Sealed::from_bytes(vec![1]))
    }
}

impl Doorbell for &Taken {
    async fn ring(&self, _: &NotificationId, _: Millis) -> Result<(), WriteFault> {
        Ok(())
    }
}

impl Clock for &Taken {
    fn now(&self) -> EpochMillis {
        self.at
    }

    fn random(&self) -> [u8; 16] {
        [0; 16]
    }

    async fn pause(&self, _: Millis) {}
}
