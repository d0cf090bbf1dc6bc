//! Closing and opening envelopes.

use sendonce::notification::{NotificationId, Sealed};
use sendonce::ports::{Opener, SealFault, Sealer};
use sendonce::tenant::TenantId;

use super::cases;
use crate::contract::backend::{Backend, Cannot, How, Port};
use crate::contract::fixtures::{admission, payload, tenant};
use crate::contract::script::Script;

cases![
    what_was_closed_opens_again,
    one_notifications_envelope_does_not_open_for_another,
    one_tenants_envelope_does_not_open_for_another,
    an_envelope_that_was_cut_is_broken,
    without_the_key_service_nothing_is_closed,
    without_the_key_service_nothing_is_opened_and_nothing_is_broken,
];

type Played = Result<(), Cannot>;

fn id(event: &str) -> NotificationId {
    admission(event, "k-1", 1).record.id
}

async fn sealed<B: Backend>(on: &B) -> Sealed {
    on.sealer().seal(&payload(), &tenant(), &id("evt-1")).await.expect("sealed")
}

async fn what_was_closed_opens_again<B: Backend>(on: &B, script: &Script) -> Played {
    let sealed = sealed(on).await;
    let opened = on.opener().open(&sealed, &tenant(), &id("evt-1")).await;
    script.expect("opened", opened == Ok(payload()), true);
    Ok(())
}

async fn one_notifications_envelope_does_not_open_for_another<B: Backend>(on: &B, script: &Script) -> Played {
    let sealed = sealed(on).await;
    script.expect("opened", on.opener().open(&sealed, &tenant(), &id("evt-2")).await, Err(SealFault::Broken));
    Ok(())
}

async fn one_tenants_envelope_does_not_open_for_another<B: Backend>(on: &B, script: &Script) -> Played {
    let (sealed, other) = (sealed(on).await, TenantId::derive(&["two"]));
    script.expect("opened", on.opener().open(&sealed, &other, &id("evt-1")).await, Err(SealFault::Broken));
    Ok(())
}

async fn an_envelope_that_was_cut_is_broken<B: Backend>(on: &B, script: &Script) -> Played {
    let sealed = sealed(on).await;
    for length in [0, 1, 40] {
        let cut = Sealed::from_bytes(sealed.as_bytes()[..length].to_vec());
        script.expect("opened", on.opener().open(&cut, &tenant(), &id("evt-1")).await, Err(SealFault::Broken));
    }
    Ok(())
}

async fn without_the_key_service_nothing_is_closed<B: Backend>(on: &B, script: &Script) -> Played {
    on.fail_next(Port::Seal, How::Refused)?;
    let refused = on.sealer().seal(&payload(), &tenant(), &id("evt-1")).await;
    script.expect("sealed", refused, Err(SealFault::Unavailable));
    Ok(())
}

async fn without_the_key_service_nothing_is_opened_and_nothing_is_broken<B: Backend>(
    on: &B,
    script: &Script,
) -> Played {
    let sealed = sealed(on).await;
    on.fail_next(Port::Open, How::Refused)?;
    let opener = on.opener();
    script.expect("opened", opener.open(&sealed, &tenant(), &id("evt-1")).await, Err(SealFault::Unavailable));
    script.expect("again", opener.open(&sealed, &tenant(), &id("evt-1")).await == Ok(payload()), true);
    Ok(())
}
