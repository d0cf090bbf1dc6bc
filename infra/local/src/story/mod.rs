//! The story: what the service promises, told by doing it and checking each claim.

mod ending;
mod posts;
mod tale;
mod watch;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::provider::{Provider, Via};
use crate::say::Timeline;
use crate::stack::{Options, Stack};
use ending::Ending;
use tale::Tale;

/// Tells the whole of it. Success means that every claim held.
pub async fn tell(options: &Options, timeline: &Timeline) -> Result<ExitCode> {
    let started = Instant::now();
    timeline.plain("Sendonce: one event, at most one text, and the evidence to prove it. Times are UTC.");
    timeline.chapter("Setting up");
    let stack = Stack::up(options, timeline).await?;
    let mut tale = Tale::new(&stack, timeline)?;
    main_event(&mut tale, options.provider).await?;
    never_answered(&mut tale).await?;
    never_answered_but_reported(&mut tale).await?;
    lost_doorbell(&mut tale).await?;
    what_time_brings(&mut tale).await?;
    Ok(summary(&tale, started.elapsed()))
}

/// Chapters 1 to 3: one event, asked for again and again.
async fn main_event(tale: &mut Tale<'_>, provider: Provider) -> Result<()> {
    let ending = Ending::under(provider);
    let lifetime = if ending.needs_expiry() { 20 } else { 300 };
    let order = tale.order("reset", "+12025550101", lifetime);
    let key = format!("job-{}", order.event);

    tale.timeline.chapter("1  One event, posted three times under one key, twice at the same moment");
    tale.refuse_unsigned(&key, &order).await?;
    let id = tale.post_three_times(&key, &order).await?;
    let mut notification = tale.follow(id, &order, ending);

    tale.timeline.chapter("2  The same key, another body");
    tale.refuse_other_body(&key, &order).await?;
    tale.converge(&order, &notification).await?;

    tale.timeline.chapter("3  What became of it, and the evidence");
    tale.wait_for(&notification, notification.ending.first_state(), Duration::from_secs(30)).await?;
    tale.ask_again_unchanged(&notification).await?;
    if !notification.ending.passes_unknown() {
        tale.check_ending(&notification).await?;
        notification.told = true;
    }
    tale.remember(notification);
    Ok(())
}

/// Chapter 4: an outcome that nobody can know.
async fn never_answered(tale: &mut Tale<'_>) -> Result<()> {
    tale.timeline.chapter("4  A provider that takes the text, never answers, and never reports");
    let order = tale.order("silence", "+12025550104", 20);
    tale.stack.carrier.behave(&order.to, Provider::Hang);
    tale.stack.carrier.keep_quiet_about(&order.to);
    let id = tale.post_once(&order).await?;
    let notification = tale.follow(id, &order, Ending::in_silence());
    tale.wait_for(&notification, "dispatch_unknown", Duration::from_secs(20)).await?;
    tale.check_counts(&notification).await?;
    tale.timeline.detail("It may have arrived, so it is not sent again: unknown stays unknown until it expires.");
    tale.remember(notification);
    Ok(())
}

/// Chapter 5: an outcome that only the provider's report tells.
async fn never_answered_but_reported(tale: &mut Tale<'_>) -> Result<()> {
    tale.timeline.chapter("5  A provider that takes the text, never answers, and reports later");
    let order = tale.order("report", "+12025550106", 300);
    tale.stack.carrier.behave(&order.to, Provider::Hang);
    let id = tale.post_once(&order).await?;
    let mut notification = tale.follow(id, &order, Ending::under(Provider::Hang));
    tale.wait_for(&notification, "dispatch_unknown", Duration::from_secs(20)).await?;
    match tale.stack.via {
        Via::Eum => {
            tale.wait_for(&notification, "delivered", Duration::from_secs(30)).await?;
            tale.check_ending(&notification).await?;
            notification.told = true;
        }
        Via::Sns => tale.timeline.detail(
            "Its row in the delivery log names nothing of ours. It counts once no other text can be meant: at the schedule's turn.",
        ),
    }
    tale.remember(notification);
    Ok(())
}

/// Chapter 6: a doorbell that never arrives.
async fn lost_doorbell(tale: &mut Tale<'_>) -> Result<()> {
    tale.timeline.chapter("6  A doorbell that gets lost");
    let order = tale.order("doorbell", "+12025550105", 300);
    tale.stack.carrier.behave(&order.to, Provider::Ok);
    tale.stack.doorbells.lose(true);
    let posted = tale.post_once(&order).await;
    tale.stack.doorbells.lose(false);
    let notification = tale.follow(posted?, &order, Ending::after_lost_doorbell());
    let lost = tale.stack.doorbells.lost();
    tale.timeline.claim(
        lost > 0,
        "accepted all the same, though every attempt to ring failed",
        &format!("{lost} rings lost"),
    );
    tale.remember(notification);
    Ok(())
}

/// The two waits, done as one: for the expiry, and for the schedule.
async fn what_time_brings(tale: &mut Tale<'_>) -> Result<()> {
    tale.timeline.chapter("7  What time brings");
    tale.announce_waits();
    tale.wait_for_the_rest().await?;
    tale.timeline.chapter("8  A last look: nothing came twice");
    tale.last_look().await
}

fn summary(tale: &Tale<'_>, took: Duration) -> ExitCode {
    let (held, failed) = tale.timeline.tally();
    let calls = tale.stack.carrier.calls_in_all();
    let (notifications, texts) = tale.totals();
    tale.timeline.plain(&format!(
        "\n{notifications} notifications, {calls} provider calls, {texts} texts. {held} claims hold, {failed} do not. {} s.",
        took.as_secs()
    ));
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
