//! Reading variables, and keeping a list of what is wrong with them.

use core::fmt;
use core::ops::RangeInclusive;

use crate::time::Millis;

/// One variable that does not hold what it must.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFault {
    /// Its name.
    pub variable: &'static str,
    /// What is wrong.
    pub fault: String,
}

/// All of them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ConfigFaults(Vec<ConfigFault>);

impl ConfigFaults {
    /// One by one.
    pub fn iter(&self) -> impl Iterator<Item = &ConfigFault> {
        self.0.iter()
    }
}

impl fmt::Display for ConfigFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the configuration does not hold:")?;
        self.0.iter().try_for_each(|ConfigFault { variable, fault }| write!(f, " {variable} {fault};"))
    }
}

/// Reads variables through a look-up. A fault yields a stand-in value, so that reading goes on to the next fault; the
/// stand-ins never leave, for [`Reader::finish`] gives the faults instead.
pub(super) struct Reader<'a> {
    lookup: &'a dyn Fn(&str) -> Option<String>,
    faults: Vec<ConfigFault>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(lookup: &'a dyn Fn(&str) -> Option<String>) -> Self {
        Self { lookup, faults: Vec::new() }
    }

    pub(super) fn finish<T>(self, config: T) -> Result<T, ConfigFaults> {
        if self.faults.is_empty() { Ok(config) } else { Err(ConfigFaults(self.faults)) }
    }

    pub(super) fn fault(&mut self, variable: &'static str, fault: impl ToString) {
        self.faults.push(ConfigFault { variable, fault: fault.to_string() });
    }

    /// The value, if there is one; an empty one is none, for templates cannot leave a variable out.
    pub(super) fn text(&self, variable: &'static str) -> Option<String> {
        (self.lookup)(variable).filter(|value| !value.is_empty())
    }

    pub(super) fn required(&mut self, variable: &'static str) -> String {
        self.text(variable).unwrap_or_else(|| {
            self.fault(variable, "is not set");
            String::new()
        })
    }

    pub(super) fn optional(
        &mut self,
        variable: &'static str,
        rule: &'static str,
        holds: impl Fn(&str) -> bool,
    ) -> Option<String> {
        let value = self.text(variable)?;
        if !holds(&value) {
            self.fault(variable, format_args!("must be {rule}"));
        }
        Some(value)
    }

    pub(super) fn number(&mut self, variable: &'static str, default: i64, within: RangeInclusive<i64>) -> i64 {
        let Some(text) = self.text(variable) else { return default };
        match text.parse() {
            Ok(number) if within.contains(&number) => number,
            _ => {
                let (least, most) = (within.start(), within.end());
                self.fault(variable, format_args!("must be a whole number from {least} to {most}"));
                default
            }
        }
    }

    pub(super) fn seconds(&mut self, variable: &'static str, default: i64, within: RangeInclusive<i64>) -> Millis {
        Millis::from_secs(self.number(variable, default, within))
    }

    pub(super) fn milliseconds(&mut self, variable: &'static str, default: i64, within: RangeInclusive<i64>) -> Millis {
        Millis::new(self.number(variable, default, within))
    }
}
