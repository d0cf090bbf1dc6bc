//! What each actor may do next, and what becomes of the world by it. The order of requests is that of the flows; what
//! each of them decides is asked of the production code.

pub mod canceller;
pub mod client;
pub mod dispatcher;
pub mod reconciler;

/// How the provider meets a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Takes it and says so.
    Accepts,
    /// Takes it; the answer never comes.
    AcceptsSilently,
    /// Never sees it; no answer comes.
    NeverSees,
    /// Refuses it for now.
    Throttles,
    /// Refuses it for good.
    Rejects,
}

impl Manner {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Accepts, Self::AcceptsSilently, Self::NeverSees, Self::Throttles, Self::Rejects];
}

/// One step of one actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It sets out.
    Begin,
    /// It sets out for a message that the queue delivers a second time.
    BeginOnCopy,
    /// Its request is done and answered.
    Go,
    /// Its request is done; the answer is lost, and it will try again.
    AnswerLost,
    /// Its request is not done, and it does not care.
    Vanished,
    /// Its call meets this.
    Call(Manner),
    /// It dies.
    Crash,
    /// It freezes: time goes by before its next step.
    Freeze,
}

impl Step {
    /// Whether a fault is needed for it.
    #[must_use]
    pub const fn is_trouble(self) -> bool {
        matches!(self, Self::BeginOnCopy | Self::AnswerLost | Self::Vanished | Self::Crash | Self::Freeze)
    }
}
