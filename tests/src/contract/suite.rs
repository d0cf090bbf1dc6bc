//! Playing all cases, and comparing what was seen.

use core::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::backend::{Backend, Cannot};
use super::cases::{Case, all};
use super::script::Script;

/// Makes backends, and runs cases on them.
pub trait House {
    /// What it makes.
    type Backend: Backend;

    /// What it is called in the table.
    fn name(&self) -> &'static str;

    /// Plays one case on a backend of its own.
    ///
    /// # Errors
    /// [`Cannot`] where the case asks for what it cannot do.
    fn play(&self, case: &Case<Self::Backend>, script: &Script) -> Result<(), Cannot>;
}

/// How a case went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It held; what was seen.
    Held(Vec<String>),
    /// It could not be played.
    Cannot(&'static str),
    /// It did not hold.
    Failed(String),
}

/// How all cases went on one backend.
#[derive(Clone, Debug)]
pub struct Column {
    /// The backend.
    pub name: &'static str,
    /// By case.
    pub outcomes: Vec<(&'static str, Outcome)>,
}

/// Plays all cases.
#[must_use]
pub fn play_all<H: House>(house: &H) -> Column {
    let outcomes = all::<H::Backend>().iter().map(|case| (short(case.name), play(house, case))).collect();
    Column { name: house.name(), outcomes }
}

fn play<H: House>(house: &H, case: &Case<H::Backend>) -> Outcome {
    let script = Script::default();
    match catch_unwind(AssertUnwindSafe(|| house.play(case, &script))) {
        Ok(Ok(())) => Outcome::Held(script.into_notes()),
        Ok(Err(Cannot(why))) => Outcome::Cannot(why),
        Err(panic) => {
            let said = panic.downcast_ref::<String>().cloned();
            let said = said.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
            Outcome::Failed(said.unwrap_or_else(|| String::from("it panicked")))
        }
    }
}

/// `port::case`
fn short(path: &'static str) -> &'static str {
    path.split_once("cases::").map_or(path, |(_, name)| name)
}

/// Every case that did not hold somewhere, and every one in which two backends saw different things.
#[must_use]
pub fn differences(columns: &[Column]) -> Vec<String> {
    let mut found = Vec::new();
    for column in columns {
        for (case, outcome) in &column.outcomes {
            if let Outcome::Failed(said) = outcome {
                found.push(format!("{case} does not hold on {}: {said}", column.name));
            }
        }
    }
    let Some((first, others)) = columns.split_first() else { return found };
    for other in others {
        for ((case, here), (_, there)) in first.outcomes.iter().zip(&other.outcomes) {
            if let (Outcome::Held(here), Outcome::Held(there)) = (here, there)
                && let Some((here, there)) = here.iter().zip(there).find(|(here, there)| here != there)
            {
                found.push(format!("{case}\n  {}: {here}\n  {}: {there}", first.name, other.name));
            }
        }
    }
    found
}

/// The cases by backend: what held, and what could not be played and why.
#[must_use]
pub fn table(columns: &[Column]) -> String {
    let mut text = format!("{:<76}", "case");
    columns.iter().for_each(|column| text.push_str(&format!("{:<12}", column.name)));
    let mut reasons: Vec<&str> = Vec::new();
    let cases = columns.first().map_or(0, |column| column.outcomes.len());
    for at in 0..cases {
        let row: Vec<_> = columns.iter().filter_map(|column| column.outcomes.get(at)).collect();
        let name = row.first().map_or("", |(name, _)| name);
        let _ = write!(text, "\n{name:<76}");
        for (_, outcome) in row {
            let word = match outcome {
                Outcome::Held(_) => String::from("holds"),
                Outcome::Failed(_) => String::from("FAILS"),
                Outcome::Cannot(why) => {
                    let number = reasons.iter().position(|known| known == why).unwrap_or_else(|| {
                        reasons.push(why);
                        reasons.len() - 1
                    });
                    format!("cannot ({})", number + 1)
                }
            };
            let _ = write!(text, "{word:<12}");
        }
    }
    for (number, why) in reasons.iter().enumerate() {
        let _ = write!(text, "\n({}) {why}", number + 1);
    }
    for column in columns {
        let held = column.outcomes.iter().filter(|(_, outcome)| matches!(outcome, Outcome::Held(_))).count();
        let _ = write!(text, "\n{}: {held} of {cases} held", column.name);
    }
    text
}
