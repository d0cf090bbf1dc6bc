//! Plays many runs of the simulated world and prints what they came to.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tests::simulation::{Cast, Exhaustive, Keep, PLANTED, Replay, Scene, Stats, found_by, random};

// A run is some thousand small allocations; this allocator halves its time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const USAGE: &str = "\
simulate --seeds N [--from S] [--threads T]       plays N random runs, from seed S on
simulate --faults K [--scene NAME] [--threads T]  plays every sequence of up to K faults, on one scene or all
simulate --replay 'LINE' [--whole]                plays a printed line again: shrunk, and told step by step
simulate --planted                                shows which seed finds each planted flaw";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1));
    let number = |name: &str| value(name).map(|text| text.replace('_', "").parse::<u64>());
    let threads = match number("--threads") {
        Some(Ok(threads)) => threads as usize,
        _ => std::thread::available_parallelism().map_or(2, usize::from),
    };
    match (number("--seeds"), number("--faults"), value("--replay")) {
        (Some(Ok(seeds)), _, _) => random_runs(number("--from").and_then(Result::ok).unwrap_or(0), seeds, threads),
        (_, Some(Ok(faults)), _) => exhaustive_runs(faults as usize, value("--scene"), threads),
        (_, _, Some(line)) => replay(line, args.iter().any(|arg| arg == "--whole")),
        _ if args.iter().any(|arg| arg == "--planted") => planted(),
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// Runs `work` while a line about its progress is kept up to date.
fn watched(total: Option<u64>, work: impl FnOnce(&AtomicU64) -> Stats) -> (Stats, Duration) {
    let (played, over, began) = (AtomicU64::new(0), AtomicBool::new(false), Instant::now());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(500));
                let (done, rate) = (played.load(Ordering::Relaxed), played.load(Ordering::Relaxed) as f64);
                let of = total.map_or(String::new(), |total| format!(" of {total}"));
                eprint!("\r{done}{of} runs, {:.0} a second ", rate / began.elapsed().as_secs_f64());
            }
            eprintln!();
        });
        let stats = work(&played);
        over.store(true, Ordering::Relaxed);
        (stats, began.elapsed())
    })
}

fn tell(title: &str, stats: &Stats, took: Duration) -> bool {
    println!("{title}: {:.1} s\n\n{stats}", took.as_secs_f64());
    stats.failed == 0
}

fn random_runs(from: u64, seeds: u64, threads: usize) -> ExitCode {
    let (stats, took) = watched(Some(seeds), |played| random::search(from, seeds, threads, played));
    exit(tell(&format!("seeds {from} to {}", from + seeds - 1), &stats, took))
}

fn exhaustive_runs(faults_max: usize, scene: Option<&String>, threads: usize) -> ExitCode {
    let chosen = scene.map(|name| Scene::from_name(name));
    if chosen == Some(None) {
        eprintln!("scenes: {}", Scene::ALL.map(Scene::name).join(" "));
        return ExitCode::from(2);
    }
    let mut well = true;
    for scene in Scene::ALL.into_iter().filter(|scene| chosen.flatten().is_none_or(|chosen| chosen == *scene)) {
        let what = Exhaustive { scene, faults_max, flaw: None, stops: false };
        let (stats, took) = watched(None, |played| what.search(threads, played));
        well &= tell(&format!("up to {faults_max} faults on {}", scene.name()), &stats, took);
    }
    exit(well)
}

fn replay(line: &str, whole: bool) -> ExitCode {
    let Some(replay) = Replay::parse(line) else {
        eprintln!("not a replay line: {line}");
        return ExitCode::from(2);
    };
    let cast = Cast::new();
    let replay = if whole { replay } else { replay.shrink(&cast) };
    let report = replay.play(&cast, Keep::Trace);
    report.trace.iter().for_each(|line| println!("{line}"));
    println!("\n{}", replay.line());
    report.violations.iter().for_each(|violation| println!("broken: {}: {}", violation.rule, violation.detail));
    exit(report.violations.is_empty())
}

fn planted() -> ExitCode {
    let mut well = true;
    for (flaw, rule) in PLANTED {
        let found = found_by(flaw, rule, 10_000);
        well &= found.is_some();
        let by = found.map_or(String::from("not found"), |seed| format!("seed {seed}"));
        println!("{:<26}{by:>12}  {rule}", format!("{flaw:?}"));
    }
    exit(well)
}

fn exit(well: bool) -> ExitCode {
    if well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
