//! Days, weeks and months of an explicit time zone.

use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use crate::time::EpochMillis;

/// A time zone by its IANA name, such as `Europe/Paris`, or `UTC`.
///
/// Its rules are compiled in, so that a function and the one deployed after it agree on where a day ends, whatever
/// either finds on its disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone(TimeZone, String);

/// What makes no period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PeriodFault {
    /// There is no zone of this name.
    #[error("there is no time zone of this name")]
    NoSuchZone,
    /// The instant lies outside the calendar.
    #[error("the instant lies outside the calendar")]
    OutOfRange,
}

impl Zone {
    /// The zone of this IANA name.
    ///
    /// # Errors
    /// [`PeriodFault::NoSuchZone`]. The system's own zone is not a name.
    pub fn named(name: &str) -> Result<Self, PeriodFault> {
        let zone = TimeZone::get(name).map_err(|_| PeriodFault::NoSuchZone)?;
        // As the database spells it: `europe/paris` is the same zone, and must name the same period.
        let name = zone.iana_name().ok_or(PeriodFault::NoSuchZone)?.to_owned();
        Ok(Self(zone, name))
    }

    /// Coordinated Universal Time.
    #[must_use]
    pub fn utc() -> Self {
        Self(TimeZone::UTC, String::from("UTC"))
    }
}

/// One day, week or month of a zone: its name, and where it begins and ends.
///
/// ```
/// use sendonce::idempotency::{Period, Zone};
/// use sendonce::time::{EpochMillis, Millis};
///
/// let paris = Zone::named("Europe/Paris")?;
/// let at = EpochMillis::parse_rfc3339("2026-10-24T23:30:00Z").expect("a date-time");
/// let day = Period::day(at, &paris)?;
/// assert_eq!(day.name(), "2026-10-25[Europe/Paris]"); // it is past midnight there
/// assert_eq!(day.ends_at().since(day.starts_at()), Millis::from_secs(25 * 3_600)); // and clocks go back that day
/// # Ok::<(), sendonce::idempotency::PeriodFault>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Period {
    name: String,
    starts_at: EpochMillis,
    ends_at: EpochMillis,
}

impl Period {
    /// The day of `at`. It has 23 or 25 hours where clocks are moved.
    ///
    /// # Errors
    /// [`PeriodFault::OutOfRange`].
    pub fn day(at: EpochMillis, zone: &Zone) -> Result<Self, PeriodFault> {
        let day = date(at, zone)?;
        Self::between(day.to_string(), day, day.tomorrow(), zone)
    }

    /// The week of `at`, Monday to Sunday, numbered as ISO 8601 does.
    ///
    /// # Errors
    /// [`PeriodFault::OutOfRange`].
    pub fn week(at: EpochMillis, zone: &Zone) -> Result<Self, PeriodFault> {
        let week = date(at, zone)?.iso_week_date();
        let day = date(at, zone)?;
        let back = i64::from(day.weekday().since(Weekday::Monday));
        let monday = day.checked_sub(back.days()).map_err(|_| PeriodFault::OutOfRange)?;
        let name = format!("{:04}-W{:02}", week.year(), week.week());
        Self::between(name, monday, monday.checked_add(1.week()), zone)
    }

    /// The month of `at`.
    ///
    /// # Errors
    /// [`PeriodFault::OutOfRange`].
    pub fn month(at: EpochMillis, zone: &Zone) -> Result<Self, PeriodFault> {
        let first = date(at, zone)?.first_of_month();
        let name = format!("{:04}-{:02}", first.year(), first.month());
        Self::between(name, first, first.checked_add(1.month()), zone)
    }

    fn between(name: String, from: Date, to: Result<Date, jiff::Error>, zone: &Zone) -> Result<Self, PeriodFault> {
        let to = to.map_err(|_| PeriodFault::OutOfRange)?;
        let name = format!("{name}[{}]", zone.1);
        Ok(Self { name, starts_at: start_of(from, zone)?, ends_at: start_of(to, zone)? })
    }

    /// Its name, zone included: `2026-11-30[Europe/Paris]`, `2026-W49[Europe/Paris]`, `2026-11[Europe/Paris]`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its first instant.
    #[must_use]
    pub const fn starts_at(&self) -> EpochMillis {
        self.starts_at
    }

    /// The first instant after it. What may happen once in a period must be remembered until then at least.
    #[must_use]
    pub const fn ends_at(&self) -> EpochMillis {
        self.ends_at
    }
}

fn date(at: EpochMillis, zone: &Zone) -> Result<Date, PeriodFault> {
    let at = Timestamp::from_millisecond(at.get()).map_err(|_| PeriodFault::OutOfRange)?;
    Ok(zone.0.to_datetime(at).date())
}

/// A day's first instant. Where midnight is skipped, that is the first time that exists; where it comes twice, the
/// first of both.
fn start_of(day: Date, zone: &Zone) -> Result<EpochMillis, PeriodFault> {
    let start = day.to_zoned_datetime(zone.0.clone()).map_err(|_| PeriodFault::OutOfRange)?;
    Ok(EpochMillis::new(start.timestamp().as_millisecond()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Millis;

    fn at(text: &str) -> EpochMillis {
        EpochMillis::parse_rfc3339(text).unwrap()
    }

    fn hours(period: &Period) -> i64 {
        period.ends_at().since(period.starts_at()).get() / Millis::from_secs(3_600).get()
    }

    #[test]
    fn days_of_moved_clocks_have_23_and_25_hours_and_one_name_throughout() {
        let paris = Zone::named("Europe/Paris").unwrap();
        for (first, last, name, length) in [
            ("2026-03-28T23:00:00Z", "2026-03-29T21:59:59.999Z", "2026-03-29[Europe/Paris]", 23),
            ("2026-10-24T22:00:00Z", "2026-10-25T22:59:59.999Z", "2026-10-25[Europe/Paris]", 25),
            ("2026-11-29T23:00:00Z", "2026-11-30T22:59:59.999Z", "2026-11-30[Europe/Paris]", 24),
        ] {
            let day = Period::day(at(first), &paris).unwrap();
            assert_eq!((day.name(), hours(&day), day.starts_at()), (name, length, at(first)));
            assert_eq!(Period::day(at(last), &paris).unwrap(), day, "the hour that comes twice is of one day");
            assert_eq!(day.ends_at(), at(last).plus(Millis::new(1)));
            assert_ne!(Period::day(day.ends_at(), &paris).unwrap(), day);
        }
    }

    #[test]
    fn a_day_whose_midnight_is_skipped_begins_at_its_first_hour() {
        let cairo = Zone::named("Africa/Cairo").unwrap();
        let day = Period::day(at("2026-04-24T12:00:00Z"), &cairo).unwrap();
        assert_eq!((day.name(), hours(&day)), ("2026-04-24[Africa/Cairo]", 23));
        assert_eq!(day.starts_at(), at("2026-04-23T22:00:00Z"));
    }

    #[test]
    fn a_day_that_a_zone_left_out_is_the_next_one() {
        // Samoa went from the 29th of December 2011 to the 31st.
        let apia = Zone::named("Pacific/Apia").unwrap();
        let before = Period::day(at("2011-12-30T09:59:59Z"), &apia).unwrap();
        let after = Period::day(at("2011-12-30T10:00:00Z"), &apia).unwrap();
        assert_eq!((before.name(), after.name()), ("2011-12-29[Pacific/Apia]", "2011-12-31[Pacific/Apia]"));
    }

    #[test]
    fn weeks_are_iso_weeks_across_the_year() {
        let utc = Zone::utc();
        let name = |text| Period::week(at(text), &utc).unwrap().name().to_owned();
        assert_eq!(name("2026-12-31T00:00:00Z"), "2026-W53[UTC]");
        assert_eq!(name("2027-01-03T23:59:59Z"), "2026-W53[UTC]");
        assert_eq!(name("2027-01-04T00:00:00Z"), "2027-W01[UTC]");
        let week = Period::week(at("2026-10-25T12:00:00Z"), &Zone::named("Europe/Paris").unwrap()).unwrap();
        assert_eq!(hours(&week), 7 * 24 + 1);
    }

    #[test]
    fn months_have_their_own_lengths() {
        let utc = Zone::utc();
        let month = Period::month(at("2028-02-29T23:59:59Z"), &utc).unwrap();
        assert_eq!((month.name(), hours(&month)), ("2028-02[UTC]", 29 * 24));
        assert_eq!(Period::month(at("2026-12-31T12:00:00Z"), &utc).unwrap().ends_at(), at("2027-01-01T00:00:00Z"));
    }

    #[test]
    fn zones_are_named_not_guessed_and_one_zone_has_one_name() {
        assert_eq!(Zone::named("Mars/Olympus"), Err(PeriodFault::NoSuchZone));
        assert_eq!(Zone::named(""), Err(PeriodFault::NoSuchZone));
        assert_eq!(Zone::named("europe/paris").unwrap().1, "Europe/Paris");
        let noon = at("2026-11-30T12:00:00Z");
        let tokyo = Period::day(noon, &Zone::named("Asia/Tokyo").unwrap()).unwrap();
        assert_ne!(tokyo.name(), Period::day(noon, &Zone::utc()).unwrap().name(), "a day is a day of its zone");
    }
}
