//! Resources written by version.

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::ReturnValuesOnConditionCheckFailure;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

use super::{get, send, text, unreadable};
use crate::aws::codec::{Item, from_item, to_item};
use crate::idempotency::{ETag, Expected, Part, Version, Versioned, Versions};
use crate::ports::{Unreadable, WriteFault, Written};
use crate::tenant::TenantId;

/// Resources in one DynamoDB table, keyed `ver#` and a hash of tenant and name.
#[derive(Clone, Debug)]
pub struct DynamoVersions {
    client: Client,
    table: String,
}

impl DynamoVersions {
    /// The resources kept in this table.
    pub fn new(client: Client, table: impl Into<String>) -> Self {
        Self { client, table: table.into() }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct VersionItem {
    pk: String,
    etag: String,
    content: ByteBuf,
}

impl Versions for DynamoVersions {
    async fn versioned(&self, tenant: &TenantId, resource: &Part) -> Result<Option<Versioned>, Unreadable> {
        let pk = resource.version_key(tenant);
        let item = get(&self.client, &self.table, pk.clone()).await?;
        item.map(|item| decode(item, &pk).ok_or(Unreadable)).transpose()
    }

    async fn write_version(
        &self,
        tenant: &TenantId,
        version: &Version,
        next: &Versioned,
    ) -> Result<Written<Option<Versioned>>, WriteFault> {
        let pk = version.resource.version_key(tenant);
        let (etag, content) = (next.etag.as_str().to_owned(), ByteBuf::from(next.content.clone()));
        let item = to_item(&VersionItem { pk: pk.clone(), etag, content }).ok_or(WriteFault::Refused)?;
        let put = self.client.put_item().table_name(&self.table).set_item(Some(item));
        let put = put.return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        // The writer saw a tag; the write holds for as long as that is the tag, and not a write longer.
        let put = match &version.expected {
            Expected::Version(seen) => {
                put.condition_expression("etag = :seen").expression_attribute_values(":seen", text(seen.as_str()))
            }
            Expected::Nothing => put.condition_expression("attribute_not_exists(pk)"),
        };
        match send(put).await? {
            Written::Done => Ok(Written::Done),
            Written::Held(None) => Ok(Written::Held(None)),
            Written::Held(Some(item)) => {
                decode(item, &pk).map(|found| Written::Held(Some(found))).ok_or_else(unreadable)
            }
        }
    }
}

fn decode(item: Item, pk: &str) -> Option<Versioned> {
    let item: VersionItem = from_item(item)?;
    let versioned = Versioned::new(item.content.into_vec());
    (item.pk == pk && ETag::parse(&item.etag)? == versioned.etag).then_some(versioned)
}
