//! What clients were told, all of it together, against the contract.

use sendonce::admit::NotAdmitted;
use sendonce::time::{EpochMillis, Millis};

use super::actors::Stage;
use super::history::{AnswerLog, History};
use super::port::Backend;
use super::script::{COMMANDS, Session, Wish};

/// One request with what it was for.
#[derive(Clone, Copy)]
struct Asked<'h> {
    log: &'h AnswerLog,
    tenant: usize,
    key: usize,
    command: usize,
}

impl Asked<'_> {
    fn is_ok(&self) -> bool {
        matches!(self.log.result, Some(Ok(_)))
    }
}

type Broken = Vec<(&'static str, String)>;

impl<'w, B: Backend + 'w> Stage<'w, B> {
    /// Checks all answers.
    pub(super) fn judge_promises(&self, sessions: &[Session]) {
        let mut history = self.sim.history.borrow_mut();
        let mut broken = Broken::new();
        let asked: Vec<Asked<'_>> = history
            .answers
            .iter()
            .filter_map(|log| match sessions[log.session] {
                Session { tenant, wish: Wish::Send { key, command }, .. } => Some(Asked { log, tenant, key, command }),
                _ => None,
            })
            .collect();
        for one in &asked {
            self.single(&history, one, &mut broken);
            for other in &asked {
                self.pair(&history, one, other, &asked, &mut broken);
            }
            self.replayed(one, &asked, &mut broken);
            self.explained(one, &asked, &mut broken);
        }
        self.sources(&history, &asked, &mut broken);
        drop(asked);
        broken.into_iter().for_each(|(rule, detail)| history.violated(rule, detail));
    }

    fn expires_at(&self, asked: &Asked<'_>) -> EpochMillis {
        self.cast.command(asked.command, &self.sim.setup).expires_at
    }

    /// One answer by itself.
    fn single(&self, history: &History, asked: &Asked<'_>, broken: &mut Broken) {
        let setup = &self.sim.setup;
        let (sent, expires) = (EpochMillis::new(asked.log.sent_at), self.expires_at(asked));
        match &asked.log.result {
            Some(Ok(admitted)) => {
                let id = self.cast.id(asked.tenant, asked.command);
                if admitted.id != *id || admitted.answer.status != 202 || !admitted.answer.body.contains(id.as_str()) {
                    broken.push(("7 an answer is its tenant's", format!("{:?}", admitted.id)));
                }
                let Some(at) = history.story(id) else {
                    return broken.push(("2 what is answered 202 is durable", format!("{id:?}")));
                };
                if self.command_of(&history.stories[at].sealed) != Some(asked.command) {
                    broken.push(("6 an answer is its command's", format!("{id:?}")));
                }
            }
            Some(Err(NotAdmitted::Expired)) if expires > sent.plus(setup.skew) => {
                broken.push(("an end that has not come", format!("{expires:?} at {sent:?}")));
            }
            Some(Err(NotAdmitted::TooLongLived)) if expires <= sent.plus(setup.lifetime_max).minus(setup.skew) => {
                broken.push(("a life that is not too long", format!("{expires:?} at {sent:?}")));
            }
            _ => {}
        }
    }

    /// Which command a sealed payload belongs to.
    fn command_of(&self, sealed: &[u8]) -> Option<usize> {
        let text = core::str::from_utf8(sealed).ok()?;
        let message = text.rsplit('\u{0}').next()?;
        // Commands 0 and 2 say the same to different numbers.
        (0..COMMANDS).find(|&number| {
            let command = &self.cast.commands[number];
            command.message.expose() == message && text.contains(command.to.expose())
        })
    }

    /// Two answers, each against the other.
    fn pair(&self, history: &History, one: &Asked<'_>, other: &Asked<'_>, asked: &[Asked<'_>], broken: &mut Broken) {
        let (Some(Ok(first)), Some(Ok(second))) = (&one.log.result, &other.log.result) else { return };
        if one.tenant != other.tenant || core::ptr::eq(one.log, other.log) {
            return;
        }
        if one.command == other.command {
            if first.answer != second.answer {
                broken.push(("5 same command, same bytes", first.answer.body.clone()));
            }
            if !first.replayed && !second.replayed {
                broken.push(("5 one first answer", format!("{:?}", first.id)));
            }
        } else if one.key == other.key && one.log.sent_at <= other.log.sent_at {
            let setup = &self.sim.setup;
            let same = |two: &&Asked<'_>| (two.tenant, two.key, two.command) == (one.tenant, one.key, one.command);
            let taken_at = asked.iter().filter(same).map(|two| two.log.sent_at).min().unwrap_or(0);
            // What takes a key goes by its clock at the start; what repeats another's answer, by what it met in the store.
            let met_at = if second.replayed { other.log.answered_at } else { other.log.sent_at };
            // What was repeated before the first was durable met a key that was not the first's yet.
            let durable = history.story(&first.id).map(|at| history.stories[at].created_at);
            let is_before = second.replayed && durable.is_some_and(|durable| other.log.answered_at < durable);
            if !is_before && Millis::new(met_at - taken_at).plus(setup.skew) < setup.window_due {
                broken.push(("6 same key, other command", format!("{:?} and {:?}", first.id, second.id)));
            }
        }
    }

    /// A replay has an earlier request behind it.
    fn replayed(&self, one: &Asked<'_>, asked: &[Asked<'_>], broken: &mut Broken) {
        let Some(Ok(admitted)) = &one.log.result else { return };
        let earlier = |other: &Asked<'_>| {
            (other.tenant, other.command) == (one.tenant, one.command)
                && other.log.task != one.log.task
                && other.log.sent_at <= one.log.answered_at
        };
        if admitted.replayed && !asked.iter().any(earlier) {
            broken.push(("5 a replay has its original", format!("{:?}", admitted.id)));
        }
    }

    /// A refusal has a request behind it that explains it.
    fn explained(&self, one: &Asked<'_>, asked: &[Asked<'_>], broken: &mut Broken) {
        let setup = &self.sim.setup;
        let earlier = |other: &&Asked<'_>| other.tenant == one.tenant && other.log.sent_at <= one.log.answered_at;
        let explained = match &one.log.result {
            Some(Err(NotAdmitted::KeyReused)) => asked.iter().filter(earlier).any(|other| {
                let apart = Millis::new(one.log.sent_at - other.log.sent_at);
                other.key == one.key && other.command != one.command && apart <= setup.window.length().plus(setup.skew)
            }),
            Some(Err(NotAdmitted::EventAlreadyAccepted)) => asked.iter().filter(earlier).any(|other| {
                let same_event = self.cast.id(0, other.command) == self.cast.id(0, one.command);
                same_event && other.command != one.command
            }),
            _ => return,
        };
        if !explained {
            broken.push(("6 409 only for another command", format!("{:?} at {}", one.log.result, one.log.sent_at)));
        }
    }

    /// Every notification was asked for, and what was refused was not applied.
    fn sources(&self, history: &History, asked: &[Asked<'_>], broken: &mut Broken) {
        for story in &history.stories {
            let command = self.command_of(&story.sealed);
            let mut askers = asked
                .iter()
                .filter(|one| Some(one.command) == command && *self.cast.id(one.tenant, one.command) == story.id);
            if askers.clone().next().is_none() {
                broken.push(("7 every notification was asked for", format!("{:?}", story.id)));
            }
            let refused = |one: &Asked<'_>| {
                let definite = matches!(one.log.result, Some(Err(fault)) if fault != NotAdmitted::Unavailable);
                definite && !one.is_ok() && !self.sim.slots.borrow()[one.log.task].struck
            };
            if askers.all(refused) {
                broken.push(("6 what is refused is not applied", format!("{:?}", story.id)));
            }
        }
    }
}
