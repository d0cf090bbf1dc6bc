//! `Sealer`, `Opener`, and the root of fingerprints.

use sendonce::aws::mac_root;
use sendonce::notification::{NotificationId, Payload, Sealed};
use sendonce::ports::{Opener, SealFault, Sealer};
use sendonce::time::Millis;
use tests::aws_seam::{Adapters, Fault, MAC_KEY, SEAL_KEY, Seam};

use crate::fixtures::{command, payload, tenant};

const GENERATE: &str = "kms:GenerateDataKey";
const DECRYPT: &str = "kms:Decrypt";

fn one() -> (Payload, NotificationId) {
    let command = command("e-1");
    (payload(&command), NotificationId::of(&tenant(), &command.event))
}

async fn seal(adapters: &Adapters) -> Result<Sealed, SealFault> {
    let (payload, id) = one();
    adapters.sealer.seal(&payload, &tenant(), &id).await
}

async fn open(adapters: &Adapters, sealed: &Sealed) -> Result<Payload, SealFault> {
    adapters.opener.open(sealed, &tenant(), &one().1).await
}

#[tokio::test(start_paused = true)]
async fn what_is_sealed_opens_again_with_one_request_each() {
    let seam = Seam::new();
    let adapters = seam.adapters().await;
    let sealed = seal(&adapters).await.unwrap();
    assert_eq!(open(&adapters, &sealed).await, Ok(one().0));
    assert_eq!(open(&adapters, &sealed).await, Ok(one().0));
    assert_eq!(seam.counts(), [(GENERATE.into(), 1), (DECRYPT.into(), 1)].into());
    let again = seal(&adapters).await.unwrap();
    assert_ne!(sealed.as_bytes(), again.as_bytes(), "a new nonce each time");
    assert_eq!(sealed.encrypted_key(), again.encrypted_key());
}

#[tokio::test(start_paused = true)]
async fn a_data_key_seals_for_five_minutes() {
    let seam = Seam::new();
    let adapters = seam.adapters().await;
    seal(&adapters).await.unwrap();
    seam.clock().advance(Millis::new(299_999));
    seal(&adapters).await.unwrap();
    assert_eq!(seam.count(GENERATE), 1);
    seam.clock().advance(Millis::new(1));
    seal(&adapters).await.unwrap();
    assert_eq!(seam.count(GENERATE), 2);
    seam.clock().advance(Millis::new(-1));
    seal(&adapters).await.unwrap();
    assert_eq!(seam.count(GENERATE), 3, "a key from the future has no age");
}

#[tokio::test(start_paused = true)]
async fn a_data_key_seals_a_thousand_messages() {
    let seam = Seam::new();
    let adapters = seam.adapters().await;
    for _ in 0..1_000 {
        seal(&adapters).await.unwrap();
    }
    assert_eq!(seam.count(GENERATE), 1);
    seal(&adapters).await.unwrap();
    assert_eq!(seam.count(GENERATE), 2);
}

#[tokio::test(start_paused = true)]
async fn many_at_once_ask_for_one_data_key() {
    let seam = Seam::new();
    let adapters = seam.adapters().await;
    let tasks: Vec<_> = (0..200)
        .map(|_| {
            let adapters = adapters.clone();
            tokio::spawn(async move { seal(&adapters).await })
        })
        .collect();
    for task in tasks {
        assert!(task.await.unwrap().is_ok());
    }
    assert_eq!(seam.count(GENERATE), 1);
}

#[tokio::test(start_paused = true)]
async fn a_batch_of_ten_under_one_new_key_makes_one_decrypt() {
    let seam = Seam::new();
    let adapters = seam.adapters().await;
    let sealed = seal(&adapters).await.unwrap();
    assert!(batch(&adapters, &sealed).await.iter().all(|opened| *opened == Ok(one().0)));
    assert_eq!(seam.count(DECRYPT), 1);
}

#[tokio::test(start_paused = true)]
async fn those_who_wait_share_a_failure_and_the_next_asks_again() {
    let seam = Seam::new();
    let adapters = seam.adapters().await;
    let sealed = seal(&adapters).await.unwrap();
    seam.fail_times(DECRYPT, 2, Fault::SilentBefore);
    let begun = tokio::time::Instant::now();
    assert_eq!(batch(&adapters, &sealed).await, vec![Err(SealFault::Unavailable); 10]);
    assert!(begun.elapsed().as_millis() < 2_500, "{:?}", begun.elapsed());
    assert_eq!(seam.count(DECRYPT), 2, "one request, tried twice");
    assert_eq!(open(&adapters, &sealed).await, Ok(one().0));
    let elsewhere = Seam::new().adapters().await;
    assert_eq!(batch(&elsewhere, &sealed).await, vec![Err(SealFault::Broken); 10], "another KMS never made this key");
}

async fn batch(adapters: &Adapters, sealed: &Sealed) -> Vec<Result<Payload, SealFault>> {
    let tasks: Vec<_> = (0..10)
        .map(|_| {
            let (adapters, sealed) = (adapters.clone(), sealed.clone());
            tokio::spawn(async move { open(&adapters, &sealed).await })
        })
        .collect();
    let mut opened = Vec::new();
    for task in tasks {
        opened.push(task.await.unwrap());
    }
    opened
}

#[tokio::test(start_paused = true)]
async fn sixteen_keys_are_remembered_and_the_least_used_goes_first() {
    let seam = Seam::new();
    let adapters = seam.adapters().await;
    let mut envelopes = Vec::new();
    for _ in 0..17 {
        envelopes.push(seal(&adapters).await.unwrap());
        seam.clock().advance(Millis::from_secs(300));
    }
    for sealed in &envelopes {
        open(&adapters, sealed).await.unwrap();
    }
    assert_eq!(seam.count(DECRYPT), 17);
    for sealed in &envelopes[1..] {
        open(&adapters, sealed).await.unwrap();
    }
    assert_eq!(seam.count(DECRYPT), 17);
    open(&adapters, &envelopes[0]).await.unwrap();
    assert_eq!(seam.count(DECRYPT), 18);
}

#[tokio::test(start_paused = true)]
async fn a_broken_envelope_is_broken_and_a_missing_service_is_not() {
    let seam = Seam::new();
    let adapters = seam.adapters().await;
    let sealed = seal(&adapters).await.unwrap();
    let altered = |at: usize| {
        let mut bytes = sealed.as_bytes().to_vec();
        bytes[at] ^= 1;
        Sealed::from_bytes(bytes)
    };
    let last = sealed.as_bytes().len() - 1;
    assert_eq!(open(&adapters, &Sealed::from_bytes(Vec::new())).await, Err(SealFault::Broken));
    assert_eq!(open(&adapters, &altered(0)).await, Err(SealFault::Broken));
    assert_eq!(seam.count(DECRYPT), 0, "what has no key in it asks nobody");
    assert_eq!(open(&adapters, &altered(100)).await, Err(SealFault::Broken), "the encrypted key");
    assert_eq!(open(&adapters, &altered(last)).await, Err(SealFault::Broken), "the ciphertext");
    let other = NotificationId::parse("ntf_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa").unwrap();
    assert_eq!(adapters.opener.open(&sealed, &tenant(), &other).await, Err(SealFault::Broken));

    let fresh = seam.adapters().await;
    for fault in [Fault::CodeBefore(400, "AccessDeniedException"), Fault::CodeBefore(400, "DisabledException")] {
        seam.fail_next(DECRYPT, fault);
        assert_eq!(open(&fresh, &sealed).await, Err(SealFault::Unavailable));
    }
    seam.fail_times(GENERATE, 2, Fault::CodeBefore(400, "ThrottlingException"));
    assert_eq!(seal(&fresh).await, Err(SealFault::Unavailable));
}

#[tokio::test(start_paused = true)]
async fn the_mac_root_is_the_same_at_each_start_and_another_under_another_key() {
    let seam = Seam::new();
    let adapters = seam.adapters().await;
    let one = mac_root(&adapters.kms, MAC_KEY).await.unwrap();
    let two = mac_root(&adapters.kms, MAC_KEY).await.unwrap();
    assert_eq!(one.mac(b"x"), two.mac(b"x"));
    assert_eq!(seam.counts(), [("kms:GenerateMac".into(), 2)].into());
    assert!(mac_root(&adapters.kms, SEAL_KEY).await.is_err());
}
