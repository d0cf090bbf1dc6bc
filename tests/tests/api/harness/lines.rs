//! The log, caught.

use std::io;
use std::sync::{Arc, Mutex, OnceLock};

use sendonce::aws::telemetry;
use tracing::subscriber::DefaultGuard;
use tracing::{Dispatch, Level};

/// While only one subscriber is known, `tracing` asks the thread that meets a line first whether anybody wants such
/// lines, and other tests' threads would say no for all. With this one there are always two.
static SECOND: OnceLock<Dispatch> = OnceLock::new();

/// Everything that this thread logs while the guard lives.
#[derive(Clone, Debug, Default)]
pub struct Lines(Arc<Mutex<Vec<u8>>>);

impl Lines {
    /// Catches with what `telemetry::init` installs, at this level.
    pub fn catch(level: Level) -> (Self, DefaultGuard) {
        SECOND.get_or_init(|| Dispatch::new(telemetry::subscriber(Level::TRACE, io::sink)));
        let lines = Self::default();
        let writer = lines.clone();
        let guard = tracing::subscriber::set_default(telemetry::subscriber(level, move || writer.clone()));
        (lines, guard)
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("no writer panics").clone()).expect("logs are text")
    }
}

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no writer panics").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
