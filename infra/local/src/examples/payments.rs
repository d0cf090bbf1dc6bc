//! The payment service that the examples charge at: it knows each charge by the reference that came with it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use http::request::Parts;
use http::{HeaderMap, Method};
use serde_json::{Value, json};

use crate::endpoint::{Script, Verdict};

const JSON: &str = "application/json";

/// The scripted endpoint's memory.
#[derive(Debug, Default)]
pub(super) struct Payments(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    hangs: bool,
    finds: bool,
    references: Vec<String>,
}

impl Payments {
    /// From now on each charge is made and never answered (`true`), or answered.
    pub(super) fn hang(&self, hangs: bool) {
        self.lock().hangs = hangs;
    }

    /// From now on questions are answered (`true`), or nobody has time for them.
    pub(super) fn find(&self, finds: bool) {
        self.lock().finds = finds;
    }

    /// How many charges were made.
    pub(super) fn charges(&self) -> usize {
        self.lock().references.len()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Script for Payments {
    fn judge(&self, _: &HeaderMap, _: &[u8]) -> Verdict {
        Verdict::Close
    }

    fn judge_request(&self, request: &Parts, body: &[u8]) -> Verdict {
        let mut state = self.lock();
        match (&request.method, request.uri.path().strip_prefix("/charges")) {
            (&Method::POST, Some("")) => {
                let asked: Value = serde_json::from_slice(body).unwrap_or_default();
                let reference = asked.get("reference").and_then(Value::as_str).unwrap_or_default();
                state.references.push(reference.to_owned());
                if state.hangs { Verdict::Hang } else { charge(201, state.references.len()) }
            }
            (&Method::GET, Some(name)) if state.finds => {
                let name = name.trim_start_matches('/').replace("%23", "#");
                match state.references.iter().position(|reference| *reference == name) {
                    Some(place) => charge(200, place + 1),
                    None => Verdict::Answer(404, JSON, "{}".to_owned()),
                }
            }
            (&Method::GET, Some(_)) => Verdict::Answer(503, JSON, "{}".to_owned()),
            _ => Verdict::Answer(404, JSON, "{}".to_owned()),
        }
    }
}

fn charge(status: u16, number: usize) -> Verdict {
    Verdict::Answer(status, JSON, json!({ "charge": format!("ch-{number}") }).to_string())
}
