//! What each function asks for before its first event.

use sendonce::aws::warm;
use sendonce::ports::Sealer;
use tests::aws_seam::{Fault, MAC_KEY, Seam};

use crate::fixtures::{command, payload, tenant};

#[tokio::test(start_paused = true)]
async fn admission_makes_two_kms_requests_and_one_read_and_its_first_seal_none() {
    let seam = Seam::new();
    let adapters = seam.adapters().await;
    let root = warm::admission(&adapters.kms, MAC_KEY, &adapters.sealer, &adapters.ledger).await;
    assert!(root.is_ok());
    let expected = [("dynamodb:GetItem", 1), ("kms:GenerateDataKey", 1), ("kms:GenerateMac", 1)];
    assert_eq!(seam.counts(), expected.map(|(name, count)| (name.into(), count)).into());
    seam.forget_requests();
    let command = command("e-1");
    let id = sendonce::notification::NotificationId::of(&tenant(), &command.event);
    adapters.sealer.seal(&payload(&command), &tenant(), &id).await.unwrap();
    assert!(seam.counts().is_empty());
}

#[tokio::test(start_paused = true)]
async fn reconciliation_makes_one_kms_request_and_one_read() {
    let seam = Seam::new();
    let adapters = seam.adapters().await;
    assert!(warm::reconciliation(&adapters.kms, MAC_KEY, &adapters.ledger).await.is_ok());
    assert_eq!(seam.counts(), [("dynamodb:GetItem".into(), 1), ("kms:GenerateMac".into(), 1)].into());
    seam.fail_times("kms:GenerateMac", 2, Fault::CodeBefore(400, "AccessDeniedException"));
    assert!(warm::reconciliation(&adapters.kms, MAC_KEY, &adapters.ledger).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn the_others_make_one_read() {
    let seam = Seam::new();
    warm::reader(&seam.adapters().await.ledger).await;
    assert_eq!(seam.counts(), [("dynamodb:GetItem".into(), 1)].into());
}

#[tokio::test(start_paused = true)]
async fn a_slow_start_is_bounded_and_only_the_mac_root_is_indispensable() {
    let seam = Seam::new();
    let adapters = seam.adapters().await;
    let begun = tokio::time::Instant::now();
    seam.fail_times("dynamodb:GetItem", 3, Fault::SilentBefore);
    seam.fail_times("kms:GenerateDataKey", 3, Fault::SilentBefore);
    assert!(warm::admission(&adapters.kms, MAC_KEY, &adapters.sealer, &adapters.ledger).await.is_ok());
    assert!(begun.elapsed().as_millis() <= 2_000, "{:?}", begun.elapsed());

    seam.fail_times("kms:GenerateMac", 2, Fault::CodeBefore(400, "AccessDeniedException"));
    let fault = warm::admission(&adapters.kms, MAC_KEY, &adapters.sealer, &adapters.ledger).await.unwrap_err();
    assert!(fault.to_string().contains("MAC_KEY_ID"), "{fault}");
}
