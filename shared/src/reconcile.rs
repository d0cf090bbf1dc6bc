//! Closing what is open: doorbells nobody answered, attempts nobody concluded, unknowns that evidence decides, lives that
//! are over.

use futures_util::StreamExt;
use futures_util::stream;

use crate::dispatch::lease_ended;
use crate::invocation::Invocation;
use crate::land::{Landed, land};
use crate::marks::{Mark, mark, marked};
use crate::merge::merge;
use crate::notification::{
    Fact, Finding, Next, NotificationId, Pairing, Policy, Receipt, ReceiptSource, Record, ResendBasis, StopReason,
    is_pairable, next, ring_gap, seek_gap,
};
use crate::ports::{
    Clock, DeliveryLog, Destinations, Doorbell, DueWork, EvidenceLog, Records, Transitions, Unreadable,
};
use crate::seek::Seek;
use crate::time::Millis;

/// How often one look follows a record that others keep moving.
const ROUNDS: u32 = 4;

/// How long after its end an unknown waits for a log that cannot be read: nothing stays open for ever, and what the log
/// says later is noted all the same.
const LAST_LOOK: Millis = Millis::from_secs(180);

/// The reconciliation flow.
#[derive(Clone, Debug)]
pub struct Reconcile<L, E, D, C> {
    /// Where records are.
    pub ledger: L,
    /// Looks unknowns up.
    pub seek: Seek<L, E, C>,
    /// What wakes a dispatcher.
    pub doorbell: D,
    /// Time, and chance.
    pub clock: C,
    /// The numbers decisions depend on.
    pub policy: Policy,
    /// What must be left in the invocation to begin with another notification.
    pub reserve: Millis,
    /// How many notifications are looked at side by side. What is due is never collected: a page at a time is held.
    pub at_once: usize,
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
    /// Settled on evidence.
    pub reconciled: u32,
    /// Looked up in vain.
    pub sought: u32,
    /// Given another attempt because silence is taken for a no.
    pub resent_on_silence: u32,
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
#[derive(Clone, Copy)]
enum Done {
    Rung,
    LeaseEnded,
    Reconciled,
    Sought,
    ResentOnSilence,
    Stopped(StopReason),
    Nothing,
    Failed,
    NoTimeLeft,
}

/// What is due for one notification.
enum Due {
    Step(Fact, Done),
    Merge(Receipt),
    Nothing,
}

impl<L, E, D, C> Reconcile<L, E, D, C>
where
    L: Records + Transitions + DueWork + EvidenceLog + Destinations,
    E: DeliveryLog,
    D: Doorbell,
    C: Clock,
{
    /// Looks at what is due, shard by shard, while there is time; the rest is the next tick's.
    ///
    /// It begins with a shard chosen by chance, so that ticks that run out of time starve none.
    pub async fn tick(&self, invocation: &Invocation) -> Tally {
        let mut tally = Tally { complete: true, ..Tally::default() };
        // Where it wraps no shard is left out or met twice: their number divides 256.
        let [first, ..] = self.clock.random();
        for offset in 0..NotificationId::DUE_SHARDS {
            let shard = first.wrapping_add(offset) % NotificationId::DUE_SHARDS;
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
            if page.ids.is_empty() && page.next.is_none() {
                return true; // as most shards are, most of the time
            }
            // Each look owns its id: a future that borrows it from the closure's argument could not move between threads.
            let looks = page.ids.into_iter().map(|id| async move { self.look_in_time(&id, invocation).await });
            let mut done = stream::iter(looks).buffer_unordered(self.at_once.max(1));
            let mut is_cut_short = false;
            while let Some(done) = done.next().await {
                is_cut_short |= matches!(done, Done::NoTimeLeft);
                tally.count(done);
            }
            if is_cut_short {
                return false;
            }
            match page.next {
                Some(cursor) => from = marked(Mark::NextPage, Some(cursor)),
                None => return true,
            }
        }
    }

    async fn look_in_time(&self, id: &NotificationId, invocation: &Invocation) -> Done {
        match invocation.has_time(self.clock.now(), self.reserve) {
            true => self.look_at(id, invocation).await,
            false => Done::NoTimeLeft,
        }
    }

    async fn look_at(&self, id: &NotificationId, invocation: &Invocation) -> Done {
        let Ok(mut found) = self.ledger.record(id).await else { return Done::Failed };
        for _ in 0..ROUNDS {
            let Some(record) = found else { return Done::Nothing };
            let (fact, done) = match self.due(&record, invocation).await {
                Ok(Due::Step(fact, done)) => (fact, done),
                Ok(Due::Merge(receipt)) => return self.merge(record, &receipt, invocation).await,
                Ok(Due::Nothing) => return marked(Mark::StaleDueDropped, Done::Nothing),
                Err(Unreadable) => return Done::Failed,
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

    /// What is due for a record, if it still is: the index that named it may be behind.
    async fn due(&self, record: &Record, invocation: &Invocation) -> Result<Due, Unreadable> {
        let now = self.clock.now();
        if record.due_at.is_none_or(|due| due > now) {
            return Ok(Due::Nothing);
        }
        Ok(match next(record, now, &self.policy) {
            Next::Start => {
                let rings = record.progress.rings.saturating_add(1);
                let next_at = now.plus(ring_gap(rings, &self.policy));
                Due::Step(Fact::DoorbellRung { rings, next_at }, Done::Rung)
            }
            Next::LeaseEnded => lease_ended(record).map_or(Due::Nothing, |fact| Due::Step(fact, Done::LeaseEnded)),
            Next::Seek => match self.seek.look(record, invocation).await? {
                Pairing::Receipt(receipt) => Due::Merge(receipt),
                Pairing::Undecided(finding) => self.sought(record, finding),
            },
            Next::ResendOnSilence => resent_on_silence(record),
            Next::Stop(reason @ StopReason::ExpiredUnresolved) if is_pairable(record, now, &self.policy) => {
                mark(Mark::SoughtAtTheEnd);
                let stopped = Due::Step(Fact::Stopped { reason }, Done::Stopped(reason));
                match self.seek.look(record, invocation).await {
                    Ok(Pairing::Receipt(receipt)) => Due::Merge(receipt),
                    Ok(Pairing::Undecided(_)) => stopped,
                    Err(Unreadable) if now < record.expires_at.plus(LAST_LOOK) => return Err(Unreadable),
                    Err(Unreadable) => marked(Mark::StoppedUnlooked, stopped),
                }
            }
            Next::Stop(reason) => Due::Step(Fact::Stopped { reason }, Done::Stopped(reason)),
            Next::Wait(_) | Next::Running | Next::Unknown | Next::Settled => Due::Nothing,
        })
    }

    fn sought(&self, record: &Record, finding: Finding) -> Due {
        let Some(attempt) = record.progress.attempt.as_ref() else { return Due::Nothing };
        let checks = record.progress.checks.saturating_add(1);
        let next_at = self.clock.now().plus(seek_gap(checks));
        let (attempt, source) = (attempt.id.clone(), ReceiptSource::SnsLog);
        Due::Step(Fact::EvidenceSought { attempt, source, finding, checks, next_at }, Done::Sought)
    }

    async fn merge(&self, record: Record, receipt: &Receipt, invocation: &Invocation) -> Done {
        match merge(&self.ledger, &self.clock, &self.policy, record, receipt, invocation).await {
            Ok(_) => Done::Reconciled,
            Err(_) => Done::Failed,
        }
    }

    /// The ring is recorded before it rings: a crash between the two costs one gap, the other order would ring
    /// without bound.
    async fn after(&self, record: &Record, done: Done) -> Done {
        done.mark();
        let rings = matches!(done, Done::Rung | Done::ResentOnSilence);
        if rings && self.doorbell.ring(&record.id, Millis::ZERO).await.is_err() {
            return Done::Failed;
        }
        done
    }
}

fn resent_on_silence(record: &Record) -> Due {
    let Some(attempt) = record.progress.attempt.as_ref() else { return Due::Nothing };
    let (attempt, basis) = (attempt.id.clone(), ResendBasis::Silence);
    Due::Step(Fact::ResendAuthorised { attempt, basis, principal: None }, Done::ResentOnSilence)
}

impl Done {
    fn mark(self) {
        match self {
            Self::Rung => mark(Mark::DoorbellRungAgain),
            Self::LeaseEnded => mark(Mark::LeaseEndedByTick),
            Self::ResentOnSilence => mark(Mark::SilenceResent),
            Self::Stopped(StopReason::ExpiredBeforeAttempt) => mark(Mark::ExpiredBeforeAttempt),
            Self::Stopped(StopReason::ExpiredUnresolved) => mark(Mark::ExpiredUnresolved),
            Self::Stopped(_) | Self::Reconciled | Self::Sought | Self::Nothing | Self::Failed | Self::NoTimeLeft => {}
        }
    }
}

impl Tally {
    fn count(&mut self, done: Done) {
        let counter = match done {
            Done::Rung => &mut self.rung,
            Done::LeaseEnded => &mut self.lease_ended,
            Done::Reconciled => &mut self.reconciled,
            Done::Sought => &mut self.sought,
            Done::ResentOnSilence => &mut self.resent_on_silence,
            Done::Stopped(StopReason::ExpiredBeforeAttempt) => &mut self.expired_before_attempt,
            Done::Stopped(StopReason::ExpiredUnresolved) => &mut self.expired_unresolved,
            Done::Stopped(StopReason::Cancelled | StopReason::AttemptsExhausted | StopReason::ClosedByOperator) => {
                &mut self.stopped
            }
            Done::Nothing => &mut self.left,
            Done::Failed => &mut self.failed,
            Done::NoTimeLeft => return,
        };
        *counter = counter.saturating_add(1);
        self.examined = self.examined.saturating_add(1);
    }
}
