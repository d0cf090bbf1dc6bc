//! Closing what is open: doorbells nobody answered, attempts nobody concluded, lives that are over.

use crate::dispatch::lease_ended;
use crate::invocation::Invocation;
use crate::land::{Landed, land, random_u32};
use crate::marks::{Mark, mark, marked};
use crate::notification::{Fact, Next, NotificationId, Policy, Record, StopReason, next, ring_gap};
use crate::ports::{Clock, Doorbell, DueWork, Records, Transitions};
use crate::time::Millis;

/// How often one look follows a record that others keep moving.
const ROUNDS: u32 = 4;

/// The reconciliation flow.
#[derive(Clone, Debug)]
pub struct Reconcile<L, D, C> {
    /// Where records are.
    pub ledger: L,
    /// What wakes a dispatcher.
    pub doorbell: D,
    /// Time, and chance.
    pub clock: C,
    /// The numbers decisions depend on.
    pub policy: Policy,
    /// What must be left in the invocation to begin with another notification.
    pub reserve: Millis,
}

/// What one tick did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Tally {
    /// Notifications looked at.
    pub examined: u32,
    /// Doorbells rung again.
    pub rung: u32,
    /// Attempts made unknown because their lease was over.
    pub lease_ended: u32,
    /// Stopped before an attempt.
    pub expired_before_attempt: u32,
    /// Stopped while unknown.
    pub expired_unresolved: u32,
    /// Stopped for another reason.
    pub stopped: u32,
    /// Left as they are: the index was behind, or others were faster.
    pub left: u32,
    /// Could not be read or written; the next tick looks again.
    pub failed: u32,
    /// Whether all that was due was looked at.
    pub complete: bool,
}

/// What was done with one notification.
enum Done {
    Rung,
    LeaseEnded,
    Stopped(StopReason),
    Nothing,
    Failed,
}

impl<L, D, C> Reconcile<L, D, C>
where
    L: Records + Transitions + DueWork,
    D: Doorbell,
    C: Clock,
{
    /// Looks at what is due, shard by shard, while there is time; the rest is the next tick's.
    ///
    /// It begins with a shard chosen by chance, so that ticks that run out of time starve none.
    pub async fn tick(&self, invocation: &Invocation) -> Tally {
        let mut tally = Tally { complete: true, ..Tally::default() };
        let first = random_u32(&self.clock) % u32::from(NotificationId::DUE_SHARDS);
        for offset in 0..u32::from(NotificationId::DUE_SHARDS) {
            let shard = u8::try_from(first.wrapping_add(offset) % u32::from(NotificationId::DUE_SHARDS)).unwrap_or(0);
            if !self.sweep(shard, invocation, &mut tally).await {
                tally.complete = false;
            }
        }
        tally
    }

    /// Looks at what is due in one shard; whether it came to its end.
    async fn sweep(&self, shard: u8, invocation: &Invocation, tally: &mut Tally) -> bool {
        let mut from = None;
        loop {
            if !invocation.has_time(self.clock.now(), self.reserve) {
                return marked(Mark::TickCutShort, false);
            }
            let Ok(page) = self.ledger.due(shard, self.clock.now(), from.as_ref()).await else {
                tally.failed = tally.failed.saturating_add(1);
                return false;
            };
            for id in &page.ids {
                if !invocation.has_time(self.clock.now(), self.reserve) {
                    return false;
                }
                let done = self.look_at(id, invocation).await;
                tally.count(&done);
            }
            match page.next {
                Some(cursor) => from = marked(Mark::NextPage, Some(cursor)),
                None => return true,
            }
        }
    }

    async fn look_at(&self, id: &NotificationId, invocation: &Invocation) -> Done {
        let Ok(mut found) = self.ledger.record(id).await else { return Done::Failed };
        for _ in 0..ROUNDS {
            let Some(record) = found else { return Done::Nothing };
            let Some((fact, done)) = self.due_step(&record) else {
                return marked(Mark::StaleDueDropped, Done::Nothing);
            };
            let Ok(step) = record.step(fact, self.clock.now(), invocation.actor.clone(), &self.policy) else {
                return Done::Nothing;
            };
            match land(&self.ledger, &self.clock, &step, invocation).await {
                Ok(Landed::Done) => return self.after(&record, done).await,
                Ok(Landed::Lost(now)) => found = now,
                Err(_) => return Done::Failed,
            }
        }
        Done::Nothing
    }

    /// The one step that is due for a record, if it still is: the index that named it may be behind.
    fn due_step(&self, record: &Record) -> Option<(Fact, Done)> {
        let now = self.clock.now();
        record.due_at.filter(|due| *due <= now)?;
        match next(record, now, &self.policy) {
            Next::Start => {
                let rings = record.progress.rings.saturating_add(1);
                let next_at = now.plus(ring_gap(rings, &self.policy));
                Some((Fact::DoorbellRung { rings, next_at }, Done::Rung))
            }
            Next::LeaseEnded => Some((lease_ended(record)?, Done::LeaseEnded)),
            Next::Stop(reason) => Some((Fact::Stopped { reason }, Done::Stopped(reason))),
            Next::Wait(_) | Next::Running | Next::Unknown | Next::Settled => None,
        }
    }

    /// The ring is recorded before it rings: a crash between the two costs one gap, the other order would ring
    /// without bound.
    async fn after(&self, record: &Record, done: Done) -> Done {
        done.mark();
        if matches!(done, Done::Rung) && self.doorbell.ring(&record.id, Millis::ZERO).await.is_err() {
            return Done::Failed;
        }
        done
    }
}

impl Done {
    fn mark(&self) {
        match self {
            Self::Rung => mark(Mark::DoorbellRungAgain),
            Self::LeaseEnded => mark(Mark::LeaseEndedByTick),
            Self::Stopped(StopReason::ExpiredBeforeAttempt) => mark(Mark::ExpiredBeforeAttempt),
            Self::Stopped(StopReason::ExpiredUnresolved) => mark(Mark::ExpiredUnresolved),
            Self::Stopped(_) | Self::Nothing | Self::Failed => {}
        }
    }
}

impl Tally {
    fn count(&mut self, done: &Done) {
        self.examined = self.examined.saturating_add(1);
        let counter = match done {
            Done::Rung => &mut self.rung,
            Done::LeaseEnded => &mut self.lease_ended,
            Done::Stopped(StopReason::ExpiredBeforeAttempt) => &mut self.expired_before_attempt,
            Done::Stopped(StopReason::ExpiredUnresolved) => &mut self.expired_unresolved,
            Done::Stopped(StopReason::Cancelled | StopReason::AttemptsExhausted) => &mut self.stopped,
            Done::Nothing => &mut self.left,
            Done::Failed => &mut self.failed,
        };
        *counter = counter.saturating_add(1);
    }
}
