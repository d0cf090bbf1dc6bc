//! What all AWS requests of the functions pass on their way to MiniStack: it knows them by name, and can hold one.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use http::HeaderMap;
use local::endpoint::{Script, Verdict};
use tests::aws_seam::operation;
use tokio::sync::oneshot;

/// On which side of its effect a request is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Before,
    After,
}

/// One request of a run: the `ordinal`th for its operation, from 1. By operation, because what a function asks for at
/// the same time, or in an order of chance, arrives in any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    pub operation: &'static str,
    pub ordinal: usize,
    pub side: Side,
}

#[derive(Debug, Default)]
pub struct Gate(Mutex<Watch>);

#[derive(Debug, Default)]
struct Watch {
    seen: Vec<String>,
    held: bool,
    aim: Option<(Point, oneshot::Sender<()>)>,
}

impl fmt::Display for Point {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?} {} no. {}", self.side, self.operation, self.ordinal)
    }
}

/// Both sides of each of these requests.
pub fn points(requests: &[&'static str]) -> Vec<Point> {
    let point = |at: usize, side| {
        let operation = requests[at];
        let ordinal = requests[..=at].iter().filter(|request| **request == operation).count();
        Point { operation, ordinal, side }
    };
    (0..requests.len()).flat_map(|at| [point(at, Side::Before), point(at, Side::After)]).collect()
}

impl Gate {
    /// Counts from here on.
    pub fn count(&self) {
        *self.lock() = Watch::default();
    }

    /// The requests since then.
    pub fn seen(&self) -> Vec<String> {
        self.lock().seen.clone()
    }

    /// Counts from here on and holds this request for ever. The answer hears when it is there; what comes after it
    /// finds the gate closed.
    pub fn hold(&self, point: &Point) -> oneshot::Receiver<()> {
        let (reached, hears) = oneshot::channel();
        *self.lock() = Watch { aim: Some((point.clone(), reached)), ..Watch::default() };
        hears
    }

    fn lock(&self) -> MutexGuard<'_, Watch> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Script for Gate {
    fn judge(&self, headers: &HeaderMap, body: &[u8]) -> Verdict {
        let target = headers.get("x-amz-target").and_then(|target| target.to_str().ok());
        let operation = operation(target, &String::from_utf8_lossy(body));
        let mut watch = self.lock();
        if watch.held {
            return Verdict::Close;
        }
        watch.seen.push(operation.clone());
        let ordinal = watch.seen.iter().filter(|seen| **seen == operation).count();
        match watch.aim.take_if(|(point, _)| point.operation == operation && point.ordinal == ordinal) {
            Some((point, reached)) => {
                watch.held = true;
                Verdict::Hold { forwarded: point.side == Side::After, reached }
            }
            None => Verdict::Forward,
        }
    }
}
