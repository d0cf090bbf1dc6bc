//! Optimistic concurrency: a write holds for the version its writer saw.

use sendonce::aws::idempotency::DynamoVersions;
use sendonce::idempotency::{Expected, Part, Version, Versioned, Versions};
use sendonce::ports::{WriteFault, Written};
use sendonce::tenant::TenantId;
use tests::aws_seam::{Fault, NOTIFICATIONS, Seam};
use tests::idempotency::tenant;

fn part() -> Part {
    Part::new("order-7").unwrap()
}

fn version(expected: Expected) -> Version {
    Version { resource: part(), expected }
}

fn content(text: &str) -> Versioned {
    Versioned::new(text.as_bytes().to_vec())
}

#[tokio::test(start_paused = true)]
async fn of_two_writers_who_saw_one_version_one_writes_and_the_other_is_shown_what_is_there() {
    let seam = Seam::new();
    let store = DynamoVersions::new(seam.aws().await.dynamodb(), NOTIFICATIONS);
    let (v1, v2, v3) = (content("1"), content("2"), content("3"));
    let write = async |expected, next: &Versioned| store.write_version(&tenant(), &version(expected), next).await;
    assert_eq!(store.versioned(&tenant(), &part()).await, Ok(None));
    assert_eq!(write(Expected::Version(v1.etag.clone()), &v2).await, Ok(Written::Held(None)), "nothing has no version");
    assert_eq!(write(Expected::Nothing, &v1).await, Ok(Written::Done));
    assert_eq!(write(Expected::Nothing, &v2).await, Ok(Written::Held(Some(v1.clone()))));
    assert_eq!(write(Expected::Version(v1.etag.clone()), &v2).await, Ok(Written::Done));
    assert_eq!(write(Expected::Version(v1.etag.clone()), &v3).await, Ok(Written::Held(Some(v2.clone()))));
    assert_eq!(store.versioned(&tenant(), &part()).await, Ok(Some(v2)));
}

#[tokio::test(start_paused = true)]
async fn tenants_do_not_meet_and_an_empty_content_is_a_content() {
    let seam = Seam::new();
    let store = DynamoVersions::new(seam.aws().await.dynamodb(), NOTIFICATIONS);
    let empty = content("");
    store.write_version(&tenant(), &version(Expected::Nothing), &empty).await.unwrap();
    let other = TenantId::derive(&["other"]);
    assert_eq!(store.versioned(&other, &part()).await, Ok(None));
    assert_eq!(store.versioned(&tenant(), &part()).await, Ok(Some(empty)));
}

#[tokio::test(start_paused = true)]
async fn a_write_whose_answer_was_lost_finds_itself_and_doubt_is_doubt() {
    let seam = Seam::new();
    let store = DynamoVersions::new(seam.aws().await.dynamodb(), NOTIFICATIONS);
    let v1 = content("1");
    seam.fail_next("dynamodb:PutItem", Fault::LostAfter);
    let held = store.write_version(&tenant(), &version(Expected::Nothing), &v1).await;
    assert_eq!(held, Ok(Written::Held(Some(v1.clone()))), "what stands there is what was to be written");
    seam.fail_times("dynamodb:PutItem", 3, Fault::SilentBefore);
    let next = version(Expected::Version(v1.etag));
    assert_eq!(store.write_version(&tenant(), &next, &content("2")).await, Err(WriteFault::Unknown));
}
