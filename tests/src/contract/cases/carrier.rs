//! Sending texts.

use sendonce::ports::{Carrier, Clock};
use sendonce::time::Millis;

use super::cases;
use crate::contract::backend::{Backend, Cannot, How, Port};
use crate::contract::fixtures::text;
use crate::contract::script::{Script, nameless};

cases![
    a_text_that_is_taken_is_taken_once_and_named,
    a_text_may_be_taken_without_a_name,
    a_text_that_is_refused_for_now_is_not_taken,
    a_text_that_is_refused_for_good_is_not_taken,
    a_call_that_never_arrived_is_unknown,
    a_call_that_was_never_answered_is_unknown_and_may_have_been_taken,
    no_call_is_made_when_it_is_too_late,
    a_call_may_begin_at_the_last_instant,
];

type Played = Result<(), Cannot>;

const SOON: Millis = Millis::from_secs(5);

async fn sends<B: Backend>(on: &B, script: &Script, how: Option<How>, outcome: &str, texts: usize) -> Played {
    if let Some(how) = how {
        on.fail_next(Port::Send, how)?;
    }
    let text = text(on.clock().now().plus(SOON));
    script.expect("outcome", nameless(&on.carrier().send(&text).await), String::from(outcome));
    script.expect("texts", on.texts().await, texts);
    Ok(())
}

async fn a_text_that_is_taken_is_taken_once_and_named<B: Backend>(on: &B, script: &Script) -> Played {
    sends(on, script, None, "accepted, named", 1).await
}

async fn a_text_may_be_taken_without_a_name<B: Backend>(on: &B, script: &Script) -> Played {
    sends(on, script, Some(How::Nameless), "accepted, nameless", 1).await
}

async fn a_text_that_is_refused_for_now_is_not_taken<B: Backend>(on: &B, script: &Script) -> Played {
    sends(on, script, Some(How::Refused), "Refused(Refusal { class: Retryable, code: Throttled })", 0).await
}

async fn a_text_that_is_refused_for_good_is_not_taken<B: Backend>(on: &B, script: &Script) -> Played {
    sends(on, script, Some(How::Rejected), "Refused(Refusal { class: Permanent, code: OptedOut })", 0).await
}

async fn a_call_that_never_arrived_is_unknown<B: Backend>(on: &B, script: &Script) -> Played {
    sends(on, script, Some(How::NeverDone), "Unknown(ConnectionLost)", 0).await
}

async fn a_call_that_was_never_answered_is_unknown_and_may_have_been_taken<B: Backend>(
    on: &B,
    script: &Script,
) -> Played {
    sends(on, script, Some(How::AnswerLost), "Unknown(Timeout)", 1).await
}

async fn no_call_is_made_when_it_is_too_late<B: Backend>(on: &B, script: &Script) -> Played {
    let text = text(on.clock().now().minus(Millis::new(1)));
    let too_late = "Refused(Refusal { class: Retryable, code: TooLate })";
    script.expect("outcome", nameless(&on.carrier().send(&text).await), String::from(too_late));
    script.expect("texts", on.texts().await, 0);
    Ok(())
}

async fn a_call_may_begin_at_the_last_instant<B: Backend>(on: &B, script: &Script) -> Played {
    let text = text(on.clock().now());
    script.expect("outcome", nameless(&on.carrier().send(&text).await), String::from("accepted, named"));
    script.expect("texts", on.texts().await, 1);
    Ok(())
}
