//! The production flows under every fault: random, exhaustive, and against flaws planted to be found.

use std::sync::atomic::AtomicU64;

use tests::simulation::{Cast, Exhaustive, Fault, Keep, PLANTED, Replay, Report, Scene, Stats, found_by, random};

// A run is some thousand small allocations; this allocator halves its time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Two, as many as the machines that run this have.
const THREADS: usize = 2;

fn assert_well(stats: &Stats) {
    assert_eq!(stats.failed, 0, "{stats}");
}

#[test]
fn half_a_million_seeds_break_nothing() {
    let stats = random::search(0, 500_000, THREADS, &AtomicU64::new(0));
    assert_well(&stats);
    assert_eq!(stats.runs, 500_000);
    assert_eq!(sendonce::marks::unreached(), [], "branches that no run reached");
    assert_eq!(stats.unseen(), [], "things that no run met");
}

#[test]
fn no_sequence_of_two_faults_breaks_anything() {
    for scene in Scene::ALL {
        let what = Exhaustive { scene, faults_max: 2, flaw: None, stops: false };
        assert_well(&what.search(THREADS, &AtomicU64::new(0)));
    }
}

/// Runs that once broke something, each with what it was.
const REGRESSIONS: [&str; 12] = [
    // A worker that froze over opening the envelope recorded an attempt whose lease was over, or whose message was.
    "scene=single faults=7:frozen-before",
    "scene=two-tenants faults=14:frozen-before",
    // A request on its way while its key's window ended met, and rightly repeated, the answer of the next command under
    // that key; the rule took the time of asking for the time of meeting.
    "seed=432652",
    // Another text to the same number was accepted by a clock ahead of those that the span of a log row is told by, was not
    // seen, and its row was paired with an attempt that had sent nothing.
    "seed=5876601",
    // So was the row of a request that had been given up on minutes before it came.
    "seed=1146845",
    // An attempt that was frozen, given up and followed by one that failed was refused: nothing said so.
    "seed=2699203",
    // The rules: silence that became too late to act on while a tick was at work; a report that ran out of time for the log.
    "seed=3234811",
    "seed=1367873",
    // The rule: around a window's end the old answer was repeated by a clock behind, after the next command under that key
    // had been sent and before it was there.
    "seed=36381323",
    "seed=40042719",
    // A worker that was frozen until what was left of its time was just enough recorded its only attempt, which took the
    // last of it: the attempt counted, and was not made.
    "seed=80054829",
    "seed=88763893",
];

#[test]
fn what_once_failed_no_longer_does() {
    let cast = Cast::new();
    for line in REGRESSIONS {
        let report = Replay::parse(line).unwrap().play(&cast, Keep::Trace);
        assert!(report.violations.is_empty(), "{line}: {:?}\n{}", report.violations, report.trace.join("\n"));
    }
}

#[test]
fn every_planted_flaw_is_found() {
    let missed = PLANTED.into_iter().filter(|(flaw, rule)| found_by(*flaw, rule, 10_000).is_none());
    assert_eq!(missed.collect::<Vec<_>>(), []);
}

#[test]
fn a_run_played_again_leaves_the_same_trace() {
    assert_eq!(random::unsteady(7_000_000, 1, 5_000), [0_u64; 0]);
}

#[test]
fn a_failure_is_shrunk_and_its_line_plays_it_again() {
    let cast = Cast::new();
    let (flaw, rule) = PLANTED[10];
    let seed = found_by(flaw, rule, 10_000).unwrap();
    let whole = Replay::parse(&format!("seed={seed} flaw={flaw:?}")).unwrap();
    let small = whole.shrink(&cast);
    assert_eq!(Replay::parse(&small.line()).as_ref(), Some(&small));
    let (before, after) = (whole.play(&cast, Keep::Verdict), small.play(&cast, Keep::Trace));
    let faults = |report: &Report| report.struck.iter().filter(|strike| strike.fault != Fault::Dropped).count();
    assert!(faults(&after) <= faults(&before).min(2), "{}", small.line());
    assert!(!after.trace.is_empty());
    assert_eq!(after.violations.first().map(|v| v.rule), before.violations.first().map(|v| v.rule));
}
