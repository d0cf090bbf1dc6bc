//! Logs: one JSON object a line, and nothing in them but what this workspace wrote.

use tracing::{Level, Metadata, Subscriber};
use tracing_subscriber::filter::{FilterFn, LevelFilter, filter_fn};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::{Layer, SubscriberExt};

/// The crates whose lines were written with this log in mind.
const OURS: [&str; 5] = ["sendonce", "admission", "dispatch", "reconciliation", "status"];

/// Sends all lines to standard output, ours from the level that `LOG_LEVEL` names (`info` when it names none).
///
/// Other crates get `WARN` whatever any variable says: below it the SDK, the HTTP client and the Lambda runtime print
/// whole requests and events, and with them texts and numbers. `RUST_LOG` is not read.
pub fn init() {
    let level = level(std::env::var("LOG_LEVEL").ok().as_deref());
    // A second call finds the first one's subscriber in place.
    let _ = tracing::subscriber::set_global_default(subscriber(level, std::io::stdout));
}

/// What [`init`] installs, with another writer.
pub fn subscriber<W>(level: Level, writer: W) -> impl Subscriber + Send + Sync
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let lines = tracing_subscriber::fmt::layer()
        .json()
        .flatten_event(true)
        .with_current_span(true)
        .with_span_list(false)
        .with_ansi(false)
        .with_writer(writer)
        .with_filter(filter(level));
    tracing_subscriber::registry().with(lines)
}

fn filter(ours: Level) -> FilterFn<impl Fn(&Metadata<'_>) -> bool> {
    let others = ours.min(Level::WARN);
    filter_fn(move |metadata| *metadata.level() <= if is_ours(metadata.target()) { ours } else { others })
        .with_max_level_hint(LevelFilter::from_level(ours.max(others)))
}

fn is_ours(target: &str) -> bool {
    let name = target.split_once("::").map_or(target, |(name, _)| name);
    OURS.contains(&name)
}

/// The level of this name, in any case; `info` for anything else.
#[must_use]
pub fn level(name: Option<&str>) -> Level {
    name.and_then(|name| name.trim().parse().ok()).unwrap_or(Level::INFO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_crates_never_get_below_warn() {
        for (target, ours) in [
            ("sendonce::admit", true),
            ("status", true),
            ("statuses", false),
            ("aws_smithy_runtime", false),
            ("lambda_runtime", false),
            ("hyper::client", false),
        ] {
            assert_eq!(is_ours(target), ours, "{target}");
        }
    }

    #[test]
    fn a_level_is_a_name_and_info_without_one() {
        assert_eq!(level(None), Level::INFO);
        assert_eq!(level(Some("WARN")), Level::WARN);
        assert_eq!(level(Some("debug")), Level::DEBUG);
        assert_eq!(level(Some("verbose")), Level::INFO);
    }
}
