//! Finding notifications by their number.

use sendonce::notification::{NotificationId, PhoneNumber};
use sendonce::ports::{Admission, Admissions, Destinations, SentTo, Transitions, Unreadable, Written};
use sendonce::time::Millis;

use super::cases;
use crate::contract::backend::{Backend, Cannot, How, Port};
use crate::contract::fixtures::{FORGOTTEN, NOW, admission, admission_of, cancelled, command, tenant};
use crate::contract::script::Script;

cases![
    a_number_that_nobody_texts_has_none,
    all_to_a_number_are_found_whoever_asked_for_them,
    those_to_another_number_are_not,
    both_ends_of_the_span_are_within_it,
    what_has_settled_is_found_until_it_is_forgotten,
    an_index_that_cannot_be_read_is_not_an_empty_one,
];

type Played = Result<(), Cannot>;

/// Every instant that matters here.
const LONG: Millis = Millis::from_secs(60);

fn whole(mut ids: Vec<NotificationId>) -> Result<SentTo, Unreadable> {
    ids.sort();
    Ok(SentTo { ids, is_whole: true })
}

async fn look<B: Backend>(on: &B, of: &Admission, before: Millis, after: Millis) -> Result<SentTo, Unreadable> {
    let found = on.ledger().sent_to(&of.record.destination, NOW.minus(before), NOW.plus(after)).await;
    // Those of one instant come in no particular order.
    found.map(|mut found| {
        found.ids.sort();
        found
    })
}

async fn take<B: Backend>(on: &B, script: &Script, admission: &Admission) {
    script.expect("admit", on.ledger().admit(admission, NOW).await, Ok(Written::Done));
}

async fn a_number_that_nobody_texts_has_none<B: Backend>(on: &B, script: &Script) -> Played {
    script.expect("sent to", look(on, &admission("evt-1", "k-1", 1), LONG, LONG).await, whole(Vec::new()));
    Ok(())
}

async fn all_to_a_number_are_found_whoever_asked_for_them<B: Backend>(on: &B, script: &Script) -> Played {
    let first = admission("evt-1", "k-1", 1);
    let other = admission_of(&sendonce::tenant::TenantId::derive(&["two"]), &command("evt-1"), "k-1", 2);
    take(on, script, &first).await;
    take(on, script, &other).await;
    script.expect("sent to", look(on, &first, LONG, LONG).await, whole(vec![first.record.id, other.record.id]));
    Ok(())
}

async fn those_to_another_number_are_not<B: Backend>(on: &B, script: &Script) -> Played {
    let first = admission("evt-1", "k-1", 1);
    let mut to_another = command("evt-2");
    to_another.to = PhoneNumber::parse("+15550100001").expect("a number");
    let other = admission_of(&tenant(), &to_another, "k-2", 2);
    take(on, script, &first).await;
    take(on, script, &other).await;
    script.expect("sent to", look(on, &first, LONG, LONG).await, whole(vec![first.record.id]));
    Ok(())
}

async fn both_ends_of_the_span_are_within_it<B: Backend>(on: &B, script: &Script) -> Played {
    let first = admission("evt-1", "k-1", 1);
    take(on, script, &first).await;
    let (none, early, late) = (Millis::ZERO, Millis::new(-1), Millis::new(-1));
    script.expect("that instant", look(on, &first, none, none).await, whole(vec![first.record.id.clone()]));
    script.expect("after it", look(on, &first, early, LONG).await, whole(Vec::new()));
    script.expect("before it", look(on, &first, LONG, late).await, whole(Vec::new()));
    Ok(())
}

async fn what_has_settled_is_found_until_it_is_forgotten<B: Backend>(on: &B, script: &Script) -> Played {
    let first = admission("evt-1", "k-1", 1);
    take(on, script, &first).await;
    script.expect("end", on.ledger().commit(&cancelled(&first.record)).await, Ok(Written::Done));
    script.expect("settled", look(on, &first, LONG, LONG).await, whole(vec![first.record.id.clone()]));
    on.forget(NOW.plus(FORGOTTEN)).await;
    script.expect("forgotten", look(on, &first, LONG, LONG).await, whole(Vec::new()));
    Ok(())
}

async fn an_index_that_cannot_be_read_is_not_an_empty_one<B: Backend>(on: &B, script: &Script) -> Played {
    let first = admission("evt-1", "k-1", 1);
    take(on, script, &first).await;
    on.fail_next(Port::SentTo, How::Refused)?;
    script.expect("sent to", look(on, &first, LONG, LONG).await, Err(Unreadable));
    script.expect("again", look(on, &first, LONG, LONG).await, whole(vec![first.record.id]));
    Ok(())
}
