//! Finding open work.

use sendonce::notification::{NotificationId, Record};
use sendonce::ports::{Admission, Admissions, DueCursor, DuePage, DueWork, Transitions, Unreadable, Written};
use sendonce::time::{EpochMillis, Millis};

use super::cases;
use crate::contract::backend::{Backend, Cannot, How, Port};
use crate::contract::fixtures::{NOW, admission, at, cancelled, started, tenant};
use crate::contract::script::Script;

cases![
    an_empty_shard_is_one_last_page,
    work_is_due_from_its_very_instant_on,
    each_shard_shows_its_own,
    a_step_moves_what_is_due,
    settled_work_is_not_due,
    work_comes_in_the_order_of_its_time,
    a_page_goes_on_behind_its_cursor,
    pages_together_hold_everything_once,
    unreadable_work_is_not_no_work,
];

type Played = Result<(), Cannot>;

/// When an admitted record is due.
const DUE: EpochMillis = at(60_000);

/// Admissions of one shard, each due a second after the one before.
fn of_one_shard(count: usize) -> Vec<Admission> {
    let shard = |admission: &Admission| admission.record.id.due_shard() == 3;
    let all = (0..).map(|n| admission(&format!("evt-{n}"), &format!("k-{n}"), n)).filter(shard).take(count);
    let mut due_at = DUE;
    let later = all.map(|admission| {
        let record = Record { due_at: Some(due_at), ..admission.record };
        due_at = due_at.plus(Millis::from_secs(1));
        Admission { record, ..admission }
    });
    later.collect()
}

fn ids(admissions: &[Admission]) -> Vec<NotificationId> {
    admissions.iter().map(|admission| admission.record.id.clone()).collect()
}

async fn admit_all<B: Backend>(on: &B, admissions: &[Admission]) {
    for admission in admissions {
        assert_eq!(on.ledger().admit(admission, NOW).await, Ok(Written::Done));
    }
}

async fn an_empty_shard_is_one_last_page<B: Backend>(on: &B, script: &Script) -> Played {
    script.expect("due", on.ledger().due(3, at(1_000_000), None).await, Ok(DuePage::default()));
    Ok(())
}

async fn work_is_due_from_its_very_instant_on<B: Backend>(on: &B, script: &Script) -> Played {
    let one = of_one_shard(1);
    admit_all(on, &one).await;
    let due = |now| async move { on.ledger().due(3, now, None).await.map(|page| page.ids) };
    script.expect("before", due(DUE.minus(Millis::new(1))).await, Ok(Vec::new()));
    script.expect("at", due(DUE).await, Ok(ids(&one)));
    script.expect("long after", due(at(86_400_000)).await, Ok(ids(&one)));
    Ok(())
}

async fn each_shard_shows_its_own<B: Backend>(on: &B, script: &Script) -> Played {
    let all: Vec<_> = (0..40).map(|n| admission(&format!("evt-{n}"), &format!("k-{n}"), n)).collect();
    admit_all(on, &all).await;
    let mut found = 0;
    for shard in 0..NotificationId::DUE_SHARDS {
        let mut ids = on.ledger().due(shard, DUE, None).await.expect("readable").ids;
        ids.sort();
        script.expect("strangers", ids.iter().filter(|id| id.due_shard() != shard).count(), 0);
        script.note("shard", &ids);
        found += ids.len();
    }
    script.expect("in all", found, 40);
    Ok(())
}

async fn a_step_moves_what_is_due<B: Backend>(on: &B, script: &Script) -> Played {
    let one = of_one_shard(1);
    admit_all(on, &one).await;
    let step = started(&one[0].record, 1);
    script.expect("step", on.ledger().commit(&step).await, Ok(Written::Done));
    let due = |now| async move { on.ledger().due(3, now, None).await.map(|page| page.ids) };
    // The end of its lease, and what clocks may differ.
    script.expect("before", due(at(34_999)).await, Ok(Vec::new()));
    script.expect("at", due(at(35_000)).await, Ok(ids(&one)));
    script.expect("once", due(at(86_400_000)).await, Ok(ids(&one)));
    Ok(())
}

async fn settled_work_is_not_due<B: Backend>(on: &B, script: &Script) -> Played {
    let one = of_one_shard(1);
    admit_all(on, &one).await;
    let step = cancelled(&one[0].record);
    script.expect("step", on.ledger().commit(&step).await, Ok(Written::Done));
    script.expect("due", on.ledger().due(3, at(86_400_000), None).await, Ok(DuePage::default()));
    Ok(())
}

async fn work_comes_in_the_order_of_its_time<B: Backend>(on: &B, script: &Script) -> Played {
    let mut all = of_one_shard(9);
    let expected = ids(&all);
    all.reverse();
    all.swap(2, 5);
    admit_all(on, &all).await;
    script.expect("due", on.ledger().due(3, at(86_400_000), None).await.map(|page| page.ids), Ok(expected));
    Ok(())
}

async fn a_page_goes_on_behind_its_cursor<B: Backend>(on: &B, script: &Script) -> Played {
    let all = of_one_shard(5);
    admit_all(on, &all).await;
    let second = &all[1].record;
    let from = DueCursor { id: second.id.clone(), due_at: second.due_at.expect("open") };
    let page = on.ledger().due(3, at(86_400_000), Some(&from)).await;
    script.expect("due", page, Ok(DuePage { ids: ids(&all[2..]), next: None }));
    Ok(())
}

async fn pages_together_hold_everything_once<B: Backend>(on: &B, script: &Script) -> Played {
    let all = of_one_shard(130);
    admit_all(on, &all).await;
    let (mut found, mut from, mut pages) = (Vec::new(), None, Vec::new());
    loop {
        let page = on.ledger().due(3, at(86_400_000), from.as_ref()).await.expect("readable");
        pages.push(page.ids.len());
        found.extend(page.ids);
        from = page.next;
        if from.is_none() {
            break;
        }
    }
    script.expect("pages", pages, vec![100, 30]);
    script.expect("in order, once", found == ids(&all), true);
    script.expect("of this tenant", all.iter().all(|one| one.record.tenant == tenant()), true);
    Ok(())
}

async fn unreadable_work_is_not_no_work<B: Backend>(on: &B, script: &Script) -> Played {
    let one = of_one_shard(1);
    admit_all(on, &one).await;
    on.fail_next(Port::Due, How::Refused)?;
    script.expect("due", on.ledger().due(3, DUE, None).await, Err(Unreadable));
    script.expect("again", on.ledger().due(3, DUE, None).await, Ok(DuePage { ids: ids(&one), next: None }));
    Ok(())
}
