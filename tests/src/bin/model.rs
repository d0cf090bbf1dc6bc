//! Looks at every state of the large model, which takes minutes and some gigabytes:
//! `cargo run -p tests --bin model -- [--troubles N] [--depth N] [--threads N]`.

use std::process::ExitCode;

use tests::model::cast::{Cast, Second};
use tests::model::check::{Extent, check};
use tests::model::world::Skewed;

const USAGE: &str = "usage: model [--troubles N] [--depth N] [--threads N]";

fn main() -> ExitCode {
    let mut cast = Cast { skews: vec![Skewed::Nobody, Skewed::DispatcherBehind], ..Cast::everybody(&Second::ALL) };
    let mut extent = Extent::default();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let number = words.next().and_then(|number| number.parse::<u8>().ok());
        match (word.as_str(), number) {
            ("--troubles", Some(number)) => cast.troubles = number,
            ("--depth", Some(number)) => extent.depth = usize::from(number),
            ("--threads", Some(number)) => extent.threads = usize::from(number),
            _ => {
                eprintln!("{USAGE}");
                return ExitCode::from(2);
            }
        }
    }
    println!("{cast:?}\n{extent:?}");
    let found = check(cast, extent);
    println!("{found}\nseen: {}", found.seen.join("; "));
    if found.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
