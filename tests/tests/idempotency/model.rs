//! Two owners, kills, lost answers, late writes, skew, takeover and resolution: every run there is.

use stateright::{Checker, Model};
use tests::idempotency::explore::{Planted, Scene, explore};
use tests::idempotency::model::Bounds;

const SCENES: [(bool, bool); 4] = [(false, false), (false, true), (true, false), (true, true)];

fn scene(faults: u32, (other_command, marked): (bool, bool)) -> Scene {
    Scene { other_command, marked, faults, planted: None }
}

#[test]
fn every_schedule_with_up_to_two_faults_keeps_every_promise() {
    for kind in SCENES {
        let seen = explore(scene(2, kind)).unwrap_or_else(|broken| panic!("{broken}"));
        println!("{kind:?}: {seen:?}");
        assert!(seen.runs > 10_000 && seen.kills > 0 && seen.effects > 0 && seen.resolved > 0, "{seen:?}");
        let (other_command, _) = kind;
        assert!(if other_command { seen.reused > 0 } else { seen.replays > 0 && seen.in_flight > 0 }, "{seen:?}");
    }
}

#[test]
fn each_planted_flaw_is_found_with_at_most_two_faults() {
    for planted in [Planted::TakesOverBegun, Planted::TakesOverForOthers, Planted::NoFence, Planted::NoLease] {
        let found = SCENES.into_iter().any(|kind| explore(Scene { planted: Some(planted), ..scene(2, kind) }).is_err());
        assert!(found, "{planted:?} went unseen");
    }
}

#[test]
fn the_decision_keeps_its_promises_in_every_state_of_the_model() {
    let checked = Bounds { ticks: 9, owners: 5, ages: false }.checker().threads(2).spawn_bfs().join();
    checked.assert_properties();
    println!(
        "{} states, {} unique, depth {}",
        checked.state_count(),
        checked.unique_state_count(),
        checked.max_depth()
    );
    assert!(checked.unique_state_count() > 50_000, "{}", checked.unique_state_count());
}

#[test]
fn the_model_finds_a_layer_whose_unknowns_age() {
    let checked = Bounds { ticks: 9, owners: 5, ages: true }.checker().spawn_bfs().join();
    assert!(checked.discovery("one effect within one holding of the key").is_some());
}
