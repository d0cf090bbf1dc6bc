//! Time, and chance.

use sendonce::ports::Clock;
use sendonce::time::Millis;

use super::cases;
use crate::contract::backend::{Backend, Cannot};
use crate::contract::script::Script;

cases![time_goes_by, no_two_draws_are_alike];

type Played = Result<(), Cannot>;

async fn time_goes_by<B: Backend>(on: &B, script: &Script) -> Played {
    let before = on.clock().now();
    on.pass(Millis::from_secs(2)).await;
    script.expect("two seconds at least", on.clock().now().since(before) >= Millis::from_secs(2), true);
    Ok(())
}

async fn no_two_draws_are_alike<B: Backend>(on: &B, script: &Script) -> Played {
    let clock = on.clock();
    let mut draws: Vec<_> = (0..1_000).map(|_| clock.random()).collect();
    draws.sort_unstable();
    draws.dedup();
    script.expect("different draws", draws.len(), 1_000);
    Ok(())
}
