//! Taking a command: once per key, once per event.

use crate::answer::accepted_answer;
use crate::idempotency::{
    DedupWindow, Fingerprint, FingerprintKey, Guard, IdempotencyKey, Nonce, Scope, StoredAnswer, Verdict,
};
use crate::invocation::Invocation;
use crate::land::{WRITE_LIMIT, WRITE_TRIES, once_more};
use crate::marks::{Mark, mark, marked};
use crate::notification::{Accepted, Command, Fact, NotificationId, Payload, Policy, Record, Row};
use crate::ports::{self, Admissions, Clock, Doorbell, HeldAdmission, Sealer, WriteFault, Written};
use crate::tenant::TenantId;
use crate::time::{EpochMillis, Millis};

/// The secrets of admission, all derived from one.
#[derive(Clone, Debug)]
pub struct Keys {
    fingerprint: FingerprintKey,
    destination: FingerprintKey,
}

impl Keys {
    /// The keys that follow from `root`.
    #[must_use]
    pub fn derive(root: &FingerprintKey) -> Self {
        Self { fingerprint: root.derive("command"), destination: destination_key(root) }
    }
}

/// The key under which numbers are hashed, wherever they are looked for.
#[must_use]
pub fn destination_key(root: &FingerprintKey) -> FingerprintKey {
    root.derive("destination")
}

/// The admission flow.
#[derive(Clone, Debug)]
pub struct Admit<L, S, D, C> {
    /// Where commands are taken into.
    pub ledger: L,
    /// What closes envelopes.
    pub sealer: S,
    /// What wakes a dispatcher.
    pub doorbell: D,
    /// Time, and chance.
    pub clock: C,
    /// Secrets.
    pub keys: Keys,
    /// How long a key is remembered.
    pub window: DedupWindow,
    /// The longest life a command may ask for.
    pub lifetime_max: Millis,
    /// The numbers decisions depend on.
    pub policy: Policy,
}

/// A command that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// The notification it is.
    pub id: NotificationId,
    /// What the client is told, the first time and every time.
    pub answer: StoredAnswer,
    /// Whether it had been told before.
    pub replayed: bool,
}

/// A command that was not taken; nothing of it was applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAdmitted {
    /// It has already expired.
    #[error("expires_at is not in the future")]
    Expired,
    /// It asks to live longer than allowed.
    #[error("expires_at is too far away")]
    TooLongLived,
    /// Its key belongs to another command.
    #[error("the idempotency key was used for another command")]
    KeyReused,
    /// Its event was accepted as another command.
    #[error("the event was accepted as another command")]
    EventAlreadyAccepted,
    /// The store or the key service did not do its part; the same key makes a retry safe.
    #[error("a service this depends on is not available")]
    Unavailable,
}

/// What a further try of a write needs: the write, and a doorbell after it, each at its slowest.
const TRY_NEEDS: Millis = WRITE_LIMIT.plus(Millis::new(2_400));

/// One command on its way in.
struct Arrival<'a> {
    tenant: &'a TenantId,
    command: &'a Command,
    invocation: &'a Invocation,
    print: Fingerprint,
    now: EpochMillis,
    admission: ports::Admission,
}

impl<L, S, D, C> Admit<L, S, D, C>
where
    L: Admissions,
    S: Sealer,
    D: Doorbell,
    C: Clock,
{
    /// Takes `command` under `key`, or answers for the one that was taken before.
    ///
    /// # Errors
    /// [`NotAdmitted`]; in each case nothing was applied that a later retry would double.
    pub async fn admit(
        &self,
        tenant: &TenantId,
        key: &IdempotencyKey,
        command: &Command,
        invocation: &Invocation,
    ) -> Result<Admitted, NotAdmitted> {
        let now = self.clock.now();
        let print = self.keys.fingerprint.fingerprint(command);
        let scope = Scope::Request { key: key.clone() };
        if let Err(fault) = self.check_lifetime(command, now) {
            return self
                .answer_for_ended(&scope, tenant, command, &print, now)
                .await
                .and_then(|found| found.ok_or(fault));
        }
        let id = NotificationId::of(tenant, &command.event);
        let payload = Payload { to: command.to.clone(), message: command.message.clone() };
        let sealed = self.sealer.seal(&payload, tenant, &id).await.map_err(|_| NotAdmitted::Unavailable)?;
        let (record, row) =
            Record::accept(command, tenant, &id, print, &self.keys, sealed, now, invocation, &self.policy);
        let guard = self.guard(&scope, tenant, print, accepted_answer(&id, now, command.expires_at), now);
        let admission = ports::Admission { guard, record, row };
        self.write(&Arrival { tenant, command, invocation, print, now, admission }).await
    }

    fn check_lifetime(&self, command: &Command, now: EpochMillis) -> Result<(), NotAdmitted> {
        if command.expires_at <= now {
            Err(NotAdmitted::Expired)
        } else if command.expires_at > now.plus(self.lifetime_max) {
            Err(NotAdmitted::TooLongLived)
        } else {
            Ok(())
        }
    }

    /// A retry may arrive after its command's end and is still owed the first answer. This is the one path that reads.
    async fn answer_for_ended(
        &self,
        scope: &Scope,
        tenant: &TenantId,
        command: &Command,
        print: &Fingerprint,
        now: EpochMillis,
    ) -> Result<Option<Admitted>, NotAdmitted> {
        let found = self.ledger.guard(&scope.guard_id(tenant)).await.map_err(|_| NotAdmitted::Unavailable)?;
        let nonce = Nonce::new(self.clock.random());
        match found.as_ref().map(|guard| guard.judge(print, nonce, now)) {
            Some(Verdict::Replay(answer)) => {
                mark(Mark::EndedReplayed);
                Ok(Some(replay(&NotificationId::of(tenant, &command.event), answer.clone())))
            }
            Some(Verdict::Reused) => marked(Mark::EndedReused, Err(NotAdmitted::KeyReused)),
            Some(Verdict::Own | Verdict::Ended) | None => Ok(None),
        }
    }

    fn guard(
        &self,
        scope: &Scope,
        tenant: &TenantId,
        print: Fingerprint,
        answer: StoredAnswer,
        now: EpochMillis,
    ) -> Guard {
        Guard {
            id: scope.guard_id(tenant),
            fingerprint: print,
            answer,
            window_ends_at: self.window.ends_at(now),
            nonce: Nonce::new(self.clock.random()),
        }
    }

    async fn write(&self, arrival: &Arrival<'_>) -> Result<Admitted, NotAdmitted> {
        for tried in 1..=WRITE_TRIES {
            match self.ledger.admit(&arrival.admission, arrival.now).await {
                Ok(Written::Done) => return Ok(self.taken(arrival).await),
                Ok(Written::Held(held)) => return self.judge(arrival, held).await,
                Err(WriteFault::Refused) => break,
                Err(WriteFault::Conflict | WriteFault::Unknown) => {}
            }
            if !once_more(&self.clock, tried, arrival.invocation, TRY_NEEDS).await {
                break;
            }
        }
        Err(NotAdmitted::Unavailable)
    }

    /// The notification is durable; a doorbell that does not ring is the reconciler's to ring.
    async fn taken(&self, arrival: &Arrival<'_>) -> Admitted {
        let ports::Admission { guard, record, .. } = &arrival.admission;
        tracing::info!(notification.id = %record.id, rev = 0, state = record.state().as_str(), "transition");
        if self.doorbell.ring(&record.id, Millis::ZERO).await.is_err() {
            tracing::warn!(notification.id = %record.id, "doorbell not rung; reconciliation will ring it");
        }
        Admitted { id: record.id.clone(), answer: guard.answer.clone(), replayed: false }
    }

    async fn judge(&self, arrival: &Arrival<'_>, held: HeldAdmission) -> Result<Admitted, NotAdmitted> {
        let id = &arrival.admission.record.id;
        if let Some(found) = &held.guard {
            match found.judge(&arrival.print, arrival.admission.guard.nonce, arrival.now) {
                Verdict::Own => return marked(Mark::AdmissionOwn, Ok(self.taken(arrival).await)),
                Verdict::Replay(answer) => return marked(Mark::AdmissionReplayed, Ok(replay(id, answer.clone()))),
                Verdict::Reused => return marked(Mark::KeyReused, Err(NotAdmitted::KeyReused)),
                Verdict::Ended => {}
            }
        }
        match known_event(&held) {
            Some((print, _)) if print != arrival.print => {
                marked(Mark::EventConflict, Err(NotAdmitted::EventAlreadyAccepted))
            }
            Some((_, accepted_at)) => self.bind(arrival, accepted_at).await,
            None => Err(NotAdmitted::Unavailable),
        }
    }

    /// The event is known under another key: this key is bound to it too, with the answer that was given first.
    async fn bind(&self, arrival: &Arrival<'_>, accepted_at: EpochMillis) -> Result<Admitted, NotAdmitted> {
        let id = &arrival.admission.record.id;
        let answer = accepted_answer(id, accepted_at, arrival.command.expires_at);
        let guard = Guard { answer: answer.clone(), ..arrival.admission.guard.clone() };
        for tried in 1..=WRITE_TRIES {
            match self.ledger.bind(&guard, arrival.now).await {
                Ok(Written::Done) => return marked(Mark::KeyBound, Ok(replay(id, answer))),
                Ok(Written::Held(found)) => {
                    return match found.judge(&arrival.print, guard.nonce, arrival.now) {
                        Verdict::Own => marked(Mark::BindOwn, Ok(replay(id, answer))),
                        Verdict::Replay(first) => marked(Mark::BindReplayed, Ok(replay(id, first.clone()))),
                        Verdict::Reused => marked(Mark::BindReused, Err(NotAdmitted::KeyReused)),
                        Verdict::Ended => Err(NotAdmitted::Unavailable),
                    };
                }
                Err(WriteFault::Refused) => break,
                Err(WriteFault::Conflict | WriteFault::Unknown) => {}
            }
            if !once_more(&self.clock, tried, arrival.invocation, WRITE_LIMIT).await {
                break;
            }
        }
        tracing::debug!(tenant = arrival.tenant.as_str(), notification.id = %id, "key not bound");
        Err(NotAdmitted::Unavailable)
    }
}

fn replay(id: &NotificationId, answer: StoredAnswer) -> Admitted {
    Admitted { id: id.clone(), answer, replayed: true }
}

/// The fingerprint and time of the event's first acceptance, from its record or, when that is forgotten, its row 0.
fn known_event(held: &HeldAdmission) -> Option<(Fingerprint, EpochMillis)> {
    if let Some(record) = &held.record {
        return Some((record.fingerprint, record.accepted_at));
    }
    match held.row.as_ref().map(|row| (row.fact(), row.at())) {
        Some((Fact::Accepted(accepted), at)) => marked(Mark::EventKnownByRow, Some((accepted.fingerprint, at))),
        _ => None,
    }
}

impl Record {
    #[expect(clippy::too_many_arguments, reason = "each is a different part of what is accepted; all are needed")]
    fn accept(
        command: &Command,
        tenant: &TenantId,
        id: &NotificationId,
        fingerprint: Fingerprint,
        keys: &Keys,
        sealed: crate::notification::Sealed,
        now: EpochMillis,
        invocation: &Invocation,
        policy: &Policy,
    ) -> (Self, Row) {
        let destination = command.to.mac(&keys.destination);
        let fact = Fact::Accepted(Accepted {
            tenant: tenant.clone(),
            event_type: command.event.r#type.clone(),
            fingerprint,
            destination: destination.clone(),
            sms: command.kind,
            expires_at: command.expires_at,
        });
        let row = Row::new(id, now, 0, now, invocation.actor.clone(), fact, Row::genesis(id));
        let mut record = Self {
            id: id.clone(),
            tenant: tenant.clone(),
            event: command.event.clone(),
            fingerprint,
            destination,
            mask: command.to.mask(),
            kind: command.kind,
            sender_id: command.sender_id.clone(),
            accepted_at: now,
            expires_at: command.expires_at,
            updated_at: now,
            rev: 0,
            progress: crate::notification::Progress::start(),
            due_at: None,
            sealed: Some(sealed),
            head: row.hash(),
            ttl: None,
        };
        record.due_at = crate::notification::due_at(&record, policy);
        (record, row)
    }
}
