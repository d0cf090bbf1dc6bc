//! The design's decisions, in every state that a small world can get into.

use std::collections::{BTreeSet, HashMap};

use stateright::Model;
use tests::model::cast::{Cast, Second};
use tests::model::check::{Extent, Found, check, refute};
use tests::model::flaw::Flaw;
use tests::model::properties::{SETTLES, SOMETIMES, replays};
use tests::model::world::{Skewed, World};

/// The fewest states that are worth calling this a check.
const STATES_MIN: usize = 1_000_000;

fn checked(name: &str, cast: Cast) -> Found {
    let found = check(cast, Extent::default());
    println!("{name}: {found}");
    assert!(found.complete, "{name}: {found}");
    found
}

#[test]
fn promises_hold_in_every_state_and_every_kind_of_end_is_reached() {
    let crowd = Cast::everybody(&[Second::OtherKey]);
    let quiet = Cast { troubles: 0, skews: Skewed::ALL.to_vec(), ..Cast::everybody(&Second::ALL) };
    let few = Cast { skews: Skewed::ALL.to_vec(), ..Cast::few() };
    let found = [
        checked("two of everybody, one fault", crowd),
        checked("two of everybody, all clients and clocks, no fault", quiet),
        checked("one of each, all clocks, two faults", few),
    ];
    assert!(found[0].unique >= STATES_MIN);
    let seen: BTreeSet<_> = found.iter().flat_map(|found| found.seen.iter().copied()).collect();
    let never: Vec<_> = SOMETIMES.iter().map(|(name, _)| *name).filter(|name| !seen.contains(name)).collect();
    assert_eq!(never, Vec::<&str>::new());
}

/// The promise that a flaw breaks, and a cast in which it does.
fn broken_by(flaw: Flaw) -> (&'static str, Cast) {
    let with = |second| Cast { flaw: Some(flaw), ..Cast::everybody(&[second]) };
    match flaw {
        Flaw::GuardIgnored => ("6 one key, one command", with(Second::SameKeyOtherEvent)),
        Flaw::EventIgnored => ("6 one event, one record", with(Second::OtherKey)),
        Flaw::RowOutside => ("8 the rows add up to the record", with(Second::Absent)),
        Flaw::IntentNotWritten => ("8 no call without its intent", with(Second::Absent)),
        Flaw::LateCallsMade => ("3 no call after its lease", with(Second::Absent)),
        Flaw::ExpiryForgotten => (SETTLES, with(Second::Absent)),
        // Two faults: an answer is lost, and who waits for it is frozen meanwhile.
        Flaw::OutcomeUnchecked => {
            ("4 the record never says more than is known", Cast { dispatchers: 2, flaw: Some(flaw), ..Cast::few() })
        }
        Flaw::StepUnfenced | Flaw::LeaseEndResends | Flaw::SendingResent | Flaw::UnknownRetried => {
            ("1 at most one text", with(Second::Absent))
        }
    }
}

#[test]
fn each_planted_flaw_breaks_its_promise() {
    for flaw in Flaw::ALL {
        let (promise, cast) = broken_by(flaw);
        let found = refute(cast, promise);
        let trace = found.failures.iter().find(|(name, _)| *name == promise).map(|(_, trace)| trace);
        let trace = trace.unwrap_or_else(|| panic!("{flaw:?} goes unseen: {found}"));
        println!("{flaw:?}: \"{promise}\" is broken, seen within {} states\n{trace}", found.unique);
    }
}

/// The check for what happens in the end rests on this, and the other one on the first flaw of a row.
#[test]
fn no_path_comes_back_to_where_it_was_and_every_records_rows_replay_to_it() {
    let cast = Cast { troubles: 1, ..Cast::few() };
    let mut marks: HashMap<World, Mark> = HashMap::new();
    let mut path: Vec<(World, bool)> = cast.init_states().into_iter().map(|world| (world, false)).collect();
    while let Some((world, left)) = path.pop() {
        if left {
            marks.insert(world, Mark::Left);
            continue;
        }
        match marks.insert(world.clone(), Mark::OnPath) {
            None => {}
            Some(Mark::OnPath) => panic!("a path comes back to {world:?}"),
            Some(Mark::Left) => {
                marks.insert(world, Mark::Left);
                continue;
            }
        }
        assert!(replays(&world), "{world:?}");
        let next = cast.next_states(&world);
        path.push((world, true));
        for next in next {
            match marks.get(&next) {
                None => path.push((next, false)),
                Some(Mark::OnPath) => panic!("a path comes back to {next:?}"),
                Some(Mark::Left) => {}
            }
        }
    }
    println!("{} states, no cycle", marks.len());
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    OnPath,
    Left,
}
