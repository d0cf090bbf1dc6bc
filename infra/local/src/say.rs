//! What the user reads: the one place that prints. Times are UTC, as in the service's own answers.

use std::cell::Cell;

use jiff::Timestamp;

/// A timeline on standard output, and the claims checked along it.
#[derive(Debug, Default)]
pub struct Timeline {
    quiet: bool,
    held: Cell<u32>,
    failed: Cell<u32>,
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
        count.set(count.get().saturating_add(1));
        match holds {
            true => self.print(&format!("          ✓ {claim}")),
            false => self.print(&format!("          ✗ {claim}\n            seen: {seen}")),
        }
    }

    /// How many claims held, and how many failed.
    pub fn tally(&self) -> (u32, u32) {
        (self.held.get(), self.failed.get())
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
#[expect(clippy::print_stderr, reason = "a command-line tool reports its errors there")]
pub fn complain(text: &str) {
    eprintln!("{text}");
}

#[expect(clippy::print_stdout, reason = "the timeline is what this tool is for")]
fn out(text: &str) {
    println!("{text}");
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
