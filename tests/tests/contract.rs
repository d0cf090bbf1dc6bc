//! The ports' contract: the same cases on the simulated world and on the real adapters, and whole runs of the
//! simulation on both at once.

use sendonce::notification::Provider;
use tests::contract::suite::{Outcome, differences, play_all, table};
use tests::contract::twin::Twin;
use tests::contract::{SeamHouse, WorldHouse};
use tests::simulation::{Cast, Faults, Ground, Keep, Play, play, play_on};
use tests::world::Flaw;

/// As many as the contract is said to have.
const CASES_MIN: usize = 60;
const SEEDS: u64 = 500;

#[test]
fn the_world_and_the_real_adapters_keep_one_contract() {
    let [sns, eum] = [Provider::Sns, Provider::Eum].map(|provider| play_all(&SeamHouse { provider }));
    let columns = [play_all(&WorldHouse::default()), sns, eum];
    println!("{}", table(&columns));
    assert_eq!(differences(&columns), Vec::<String>::new());
    let held = |outcomes: &[(&str, Outcome)]| outcomes.iter().filter(|(_, o)| matches!(o, Outcome::Held(_))).count();
    assert!(columns.iter().all(|column| held(&column.outcomes) >= CASES_MIN), "too few cases could be played");
}

/// What the store can do wrong in its answers.
const FLAWS: [Flaw; 11] = [
    Flaw::GuardConditionIgnored,
    Flaw::RecordConditionIgnored,
    Flaw::RowZeroConditionIgnored,
    Flaw::EventConditionsIgnored,
    Flaw::RevConditionIgnored,
    Flaw::RowConditionIgnored,
    Flaw::StepConditionsIgnored,
    Flaw::BindConditionIgnored,
    Flaw::OwnWriteUnrecognised,
    Flaw::MismatchHidden,
    Flaw::AnswerRebuilt,
];

#[test]
fn a_world_with_a_flaw_does_not_keep_the_contract() {
    let kept = |flaw: &Flaw| differences(&[play_all(&WorldHouse { flaw: Some(*flaw) })]).is_empty();
    assert_eq!(FLAWS.into_iter().filter(kept).collect::<Vec<_>>(), []);
}

#[test]
fn five_hundred_seeds_go_the_same_way_on_the_real_adapters() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let cast = Cast::new();
    let (mut requests, mut steps) = (0, 0);
    for seed in 0..SEEDS {
        let what = Play { ground: Ground::Seed(seed), faults: Faults::Drawn, flaw: None };
        let twin = std::cell::OnceCell::new();
        let on_both = {
            let _inside = runtime.enter();
            play_on(&cast, &what, Keep::Verdict, |now, forgetting| {
                twin.get_or_init(|| runtime.block_on(Twin::new(now, forgetting)))
            })
        };
        let twin = twin.into_inner().unwrap();
        assert_eq!(twin.differences(), Vec::<String>::new(), "seed {seed}");
        let alone = play(&cast, &what, Keep::Verdict);
        assert_eq!(on_both.hash, alone.hash, "seed {seed} goes another way");
        assert!(on_both.violations.is_empty(), "seed {seed}: {:?}", on_both.violations);
        requests += twin.requests();
        steps += on_both.points;
    }
    println!("{SEEDS} seeds, {steps} steps, {requests} requests to both stores");
}
