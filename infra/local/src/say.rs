//! What the user reads: the one place that prints. Times are UTC, as in the service's own answers.

use std::io::Write;
use std::sync::atomic::{AtomicU32, Ordering};

use jiff::Timestamp;

/// A timeline on standard output, and the claims checked along it.
#[derive(Debug, Default)]
pub struct Timeline {
    quiet: bool,
    held: AtomicU32,
    failed: AtomicU32,
}

impl Timeline {
    /// One that counts claims and prints nothing, for tests.
    pub fn quiet() -> Self {
        Self { quiet: true, ..Self::default() }
    }

    /// Opens a chapter.
    pub fn chapter(&self, title: &str) {
        self.print(&format!("\n{title}"));
    }

    /// Something happened, now.
    pub fn event(&self, what: &str) {
        self.print(&format!("  {}  {what}", clock(Timestamp::now())));
    }

    /// More about the last event.
    pub fn detail(&self, what: &str) {
        self.print(&format!("            {what}"));
    }

    /// Checks a claim and marks it. `seen` says what was found, and is shown if the claim fails.
    pub fn claim(&self, holds: bool, claim: &str, seen: &str) {
        let count = if holds { &self.held } else { &self.failed };
        count.fetch_add(1, Ordering::Relaxed);
        match holds {
            true => self.print(&format!("          ✓ {claim}")),
            false => self.print(&format!("          ✗ {claim}\n            seen: {seen}")),
        }
    }

    /// How many claims held, and how many failed.
    pub fn tally(&self) -> (u32, u32) {
        (self.held.load(Ordering::Relaxed), self.failed.load(Ordering::Relaxed))
    }

    /// A line as it stands.
    pub fn plain(&self, text: &str) {
        self.print(text);
    }

    fn print(&self, text: &str) {
        if !self.quiet {
            out(text);
        }
    }
}

/// `HH:MM:SS`, UTC.
pub fn clock(at: Timestamp) -> String {
    at.strftime("%H:%M:%S").to_string()
}

/// A number as it may be shown outside the simulated handset: `+1••••••••00`.
pub fn mask(number: &str) -> String {
    let characters: Vec<char> = number.chars().collect();
    let hidden = characters.len().saturating_sub(4);
    let shown = |range: &[char]| range.iter().collect::<String>();
    match (characters.get(..2), characters.get(characters.len().saturating_sub(2)..)) {
        (Some(head), Some(tail)) if hidden > 0 => format!("{}{}{}", shown(head), "•".repeat(hidden), shown(tail)),
        _ => "•".repeat(characters.len()),
    }
}

/// A complaint, on standard error.
pub fn complain(text: &str) {
    // Whoever closed the other end does not want to read it.
    let _ = writeln!(std::io::stderr(), "{text}");
}

fn out(text: &str) {
    // As above; and `local` is to tear down in order, not to panic, when it is piped into `head`.
    let _ = writeln!(std::io::stdout(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::mask;

    #[test]
    fn a_number_is_masked_but_for_its_ends() {
        assert_eq!(mask("+12025550100"), "+1••••••••00");
        assert_eq!(mask("+12"), "•••");
        assert_eq!(mask(""), "");
    }
}
