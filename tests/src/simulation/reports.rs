//! What the provider reports of the texts it took: late, twice, out of order, against its own word, or never.

use sendonce::notification::{
    AttemptId, DeliveryCode, LogRow, Outcome, Provider, Receipt, ReceiptSource, ReceiptStatus, Strength,
};
use sendonce::ports::{LogCursor, LogPage, Text};
use sendonce::receive::Report;
use sendonce::time::{EpochMillis, Millis};

use super::agenda::Event;
use super::chance;
use super::script::Cast;
use super::setup::{Care, DAY, MINUTE};
use super::sim::Sim;
use crate::world::{CarrierModel, Flaw, Manner};

/// How long after its event a report about nothing known is put off.
pub(super) const HOLD: Millis = Millis::from_secs(300);

/// How often a report is delivered before it is given up on.
const TRIES_MAX: u32 = 5;

/// How many rows a page of the log holds.
const LOG_PAGE: usize = 2;

/// One report under way.
#[derive(Clone, Debug)]
pub struct Reported {
    /// What it says.
    pub report: Report,
    /// What it speaks of, whether it says so or not.
    pub attempt: AttemptId,
    /// From when on it stands in the log.
    pub logged_at: i64,
    tries: u32,
}

impl Reported {
    fn status(&self) -> ReceiptStatus {
        match &self.report {
            Report::Named { receipt, .. } => receipt.status,
            Report::Logged(row) => row.status,
        }
    }
}

/// What is decided by chance about one report.
struct Draw(u64);

impl Draw {
    const fn below(&self, shift: u32, n: u64) -> u64 {
        (self.0 >> shift) % n
    }

    /// How long until it is heard.
    const fn delay(&self) -> i64 {
        match self.below(8, 8) {
            0..=3 => 50 + self.below(16, 4_000) as i64,
            4 | 5 => 3_000 + self.below(16, 10 * MINUTE as u64) as i64,
            6 => self.below(16, DAY as u64) as i64,
            _ => self.below(16, 3 * DAY as u64) as i64,
        }
    }
}

impl Sim {
    /// One request to the provider, and what it will report of it.
    pub(super) fn request(&self, text: &Text, manner: Manner) -> Outcome {
        let outcome = self.carrier.request(text, manner);
        if matches!(manner, Manner::Accepts | Manner::AcceptsNameless | Manner::AcceptsSilently) {
            self.report_on(text, self.carrier.calls());
        }
        outcome
    }

    fn draw(&self, place: u64) -> Draw {
        Draw(chance::at(self.chooser.borrow().weather().seed ^ 0x2ece_1975, place))
    }

    fn report_on(&self, text: &Text, number: usize) {
        let of_one = |place: u64| self.draw(number as u64 * 8 + place);
        let last = if of_one(0).below(0, 4) == 0 { ReceiptStatus::Undelivered } else { ReceiptStatus::Delivered };
        match self.setup.reports.care {
            Care::Silent => {}
            Care::Prompt => {
                self.file(text, number, ReceiptStatus::Accepted, 900);
                self.file(text, number, last, 2_700);
            }
            Care::Wild => {
                let other = match last {
                    ReceiptStatus::Delivered => ReceiptStatus::Undelivered,
                    ReceiptStatus::Accepted | ReceiptStatus::Undelivered => ReceiptStatus::Delivered,
                };
                for (place, status, odds) in
                    [(1, ReceiptStatus::Accepted, 2), (2, last, 4), (3, last, 1), (4, other, 1)]
                {
                    let draw = of_one(place);
                    if draw.below(0, 6) < odds {
                        self.file(text, number, status, draw.delay());
                    }
                }
            }
        }
    }

    /// Enters one report; a log may hold what is never pushed.
    fn file(&self, text: &Text, number: usize, status: ReceiptStatus, after: i64) {
        let code = (status == ReceiptStatus::Undelivered).then_some(DeliveryCode::PhoneUnreachable);
        let message_id = CarrierModel::message_id(number);
        let report = match self.setup.reports.provider {
            Provider::Eum => Report::Named {
                id: text.id.clone(),
                receipt: Receipt {
                    attempt: text.attempt.id.clone(),
                    source: ReceiptSource::EumEvent,
                    strength: Strength::Exact,
                    message_id,
                    status,
                    code,
                },
                at: self.at().plus(Millis::new(after / 2)),
            },
            Provider::Sns => {
                let history = self.history.borrow();
                let Some(at) = history.story(&text.id) else { return };
                let destination = history.stories[at].record.destination.clone();
                Report::Logged(LogRow { message_id, destination, published_at: self.at(), status, code })
            }
        };
        let number = {
            let mut reports = self.reports.borrow_mut();
            let (attempt, logged_at) = (text.attempt.id.clone(), self.now.get() + after);
            reports.push(Reported { report, attempt, logged_at, tries: 0 });
            reports.len() - 1
        };
        let pushed = self.setup.reports.care == Care::Prompt || self.draw(number as u64 ^ 0x9a5).below(4, 3) > 0;
        if pushed || self.setup.reports.provider == Provider::Eum {
            self.plan(after, Event::Report(number));
        }
    }

    /// Now and then a report names an attempt that nobody made.
    pub(super) fn report_on_nobody(&self, cast: &Cast) {
        let draw = self.draw(0xb0b);
        if self.setup.reports.care != Care::Wild || draw.below(0, 4) > 0 {
            return;
        }
        let attempt = AttemptId::new([0xbb; 16]);
        let report = Report::Named {
            id: cast.id(0, 0).clone(),
            receipt: Receipt {
                attempt: attempt.clone(),
                source: ReceiptSource::EumEvent,
                strength: Strength::Exact,
                message_id: None,
                status: ReceiptStatus::Delivered,
                code: None,
            },
            at: self.at(),
        };
        self.reports.borrow_mut().push(Reported { report, attempt, logged_at: i64::MAX, tries: 0 });
        self.plan(2_000 + draw.delay(), Event::Report(0));
    }

    /// A report was not taken in, and comes again a bounded number of times.
    pub(super) fn report_again(&self, number: usize) {
        let mut reports = self.reports.borrow_mut();
        let reported = &mut reports[number];
        reported.tries += 1;
        if reported.tries < TRIES_MAX {
            self.plan(MINUTE, Event::Report(number));
        }
    }

    /// Whether the provider reported this of an attempt.
    pub(super) fn has_reported(&self, attempt: &AttemptId, status: ReceiptStatus) -> bool {
        let reports = self.reports.borrow();
        reports.iter().any(|reported| reported.attempt == *attempt && reported.status() == status)
    }

    /// The planted fault: the row comes with the name of what was sent to its number first.
    pub(super) fn renames(&self, report: Report) -> Report {
        match report {
            Report::Logged(mut row) if self.has(Flaw::MessageNamesIgnored) => {
                let history = self.history.borrow();
                let first = history
                    .stories
                    .iter()
                    .map(|story| &story.record)
                    .find(|record| record.destination == row.destination && record.progress.message_id.is_some());
                if let Some(record) = first {
                    row.message_id = record.progress.message_id.clone();
                }
                Report::Logged(row)
            }
            Report::Logged(_) | Report::Named { .. } => report,
        }
    }

    /// The planted fault: what is old is not read.
    pub(super) fn drops_by_age(&self, reported: &Reported) -> bool {
        let at = match &reported.report {
            Report::Named { at, .. } => *at,
            Report::Logged(row) => row.published_at,
        };
        self.has(Flaw::OldReceiptsDropped) && self.at() > at.plus(Millis::new(MINUTE))
    }

    /// The log of the provider that keeps one, as far as it is written by now.
    pub(super) fn log_page(&self, from: EpochMillis, until: EpochMillis, cursor: &LogCursor) -> LogPage {
        let skip = cursor.token.as_ref().and_then(|token| token.parse().ok()).unwrap_or(0_usize);
        let reports = self.reports.borrow();
        let written = reports.iter().filter(|reported| reported.logged_at <= self.now.get());
        let rows = written.filter_map(|reported| match &reported.report {
            Report::Logged(row) if (from..=until).contains(&row.published_at) => Some(row.clone()),
            Report::Logged(_) | Report::Named { .. } => None,
        });
        let page: Vec<LogRow> = rows.skip(skip).take(LOG_PAGE).collect();
        let next = (page.len() == LOG_PAGE).then(|| LogCursor { group: 0, token: Some((skip + LOG_PAGE).to_string()) });
        LogPage { rows: page, next }
    }
}
