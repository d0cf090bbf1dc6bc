//! KMS: a key that seals, and a key that makes MACs.

use std::collections::HashMap;

use data_encoding::BASE64;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::connector::{Answer, Served};
use super::{Request, Seam, lock};

pub const SEAL_KEY: &str = "arn:aws:kms:eu-central-1:111122223333:key/00000000-0000-4000-8000-00000000005e";
pub const MAC_KEY: &str = "arn:aws:kms:eu-central-1:111122223333:key/00000000-0000-4000-8000-00000000003c";

/// Encrypted data keys have this length under a symmetric KMS key.
const ENCRYPTED_LEN: usize = 184;

/// Every data key there ever was, by its encrypted form: nothing else decrypts.
#[derive(Debug, Default)]
pub(super) struct Keys(HashMap<String, (String, Value)>);

pub(super) fn serve(seam: &Seam, request: &Request) -> Served {
    let (body, mut keys) = (request.json(), lock(&seam.0.keys));
    match request.name() {
        "GenerateDataKey" => keys.generate(&body),
        "Decrypt" => keys.decrypt(&body),
        "GenerateMac" => mac(&body),
        _ => Err((400, "UnknownOperationException")),
    }
}

impl Keys {
    fn generate(&mut self, body: &Value) -> Served {
        must_be(body, SEAL_KEY)?;
        if body["KeySpec"] != "AES_256" {
            return Err((400, "ValidationException"));
        }
        let seed = format!("data key {}", self.0.len());
        let key = BASE64.encode(&Sha256::digest(&seed));
        let blocks = (0_u8..).map(|block| Sha256::digest(format!("{seed} encrypted {block}")));
        let encrypted: Vec<u8> = blocks.flatten().take(ENCRYPTED_LEN).collect();
        let encrypted = BASE64.encode(&encrypted);
        self.0.insert(encrypted.clone(), (key.clone(), body["EncryptionContext"].clone()));
        Ok(Answer::ok(json!({"KeyId": SEAL_KEY, "Plaintext": key, "CiphertextBlob": encrypted})))
    }

    fn decrypt(&self, body: &Value) -> Served {
        let encrypted = body["CiphertextBlob"].as_str().unwrap_or_default();
        match self.0.get(encrypted) {
            Some((key, context)) if *context == body["EncryptionContext"] => {
                Ok(Answer::ok(json!({"KeyId": SEAL_KEY, "Plaintext": key, "EncryptionAlgorithm": "SYMMETRIC_DEFAULT"})))
            }
            _ => Err((400, "InvalidCiphertextException")),
        }
    }
}

fn mac(body: &Value) -> Served {
    must_be(body, MAC_KEY)?;
    if body["MacAlgorithm"] != "HMAC_SHA_256" {
        return Err((400, "InvalidKeyUsageException"));
    }
    let message = body["Message"].as_str().unwrap_or_default();
    let mac = BASE64.encode(&Sha256::digest(format!("{MAC_KEY} {message}")));
    Ok(Answer::ok(json!({"KeyId": MAC_KEY, "Mac": mac, "MacAlgorithm": "HMAC_SHA_256"})))
}

fn must_be(body: &Value, key: &str) -> Result<(), (u16, &'static str)> {
    if body["KeyId"] == key { Ok(()) } else { Err((400, "NotFoundException")) }
}
