//! Executions as items.

use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

use crate::aws::codec::{Item, from_item, to_item};
use crate::idempotency::{Answer, Ending, Execution, ExecutionId, Fingerprint, Owner, Phase};
use crate::time::{EpochMillis, EpochSeconds};

/// Names are short because DynamoDB bills them with every item.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExecutionItem {
    pk: ExecutionId,
    fp: Fingerprint,
    own: String,
    st: State,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    til: Option<EpochMillis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ans: Option<ByteBuf>,
    window_ends_at: EpochMillis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ttl: Option<EpochSeconds>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Open,
    Begun,
    Unknown,
    Succeeded,
    Failed,
}

/// The execution's item; `None` when it could not be read back.
pub(super) fn encode_execution(execution: &Execution) -> Option<Item> {
    let (st, til, ans) = match &execution.phase {
        Phase::Open { lease_until } => (State::Open, Some(*lease_until), None),
        Phase::Begun { lease_until } => (State::Begun, Some(*lease_until), None),
        Phase::Unknown { lease_until } => (State::Unknown, Some(*lease_until), None),
        Phase::Settled { ending: Ending::Succeeded, answer } => (State::Succeeded, None, answer.bytes()),
        Phase::Settled { ending: Ending::Failed, answer } => (State::Failed, None, answer.bytes()),
    };
    let item = to_item(&ExecutionItem {
        pk: execution.id.clone(),
        fp: execution.fingerprint,
        own: execution.owner.to_hex(),
        st,
        til,
        ans: ans.map(ByteBuf::from),
        window_ends_at: execution.window_ends_at,
        ttl: execution.ttl(),
    })?;
    (decode_execution(item.clone(), &execution.id)? == *execution).then_some(item)
}

/// The execution in an item that was found under `id`.
///
/// An item with anything missing, odd or added is unreadable: it was not written by this version of the rules, and to
/// go on as if it were could run an effect again.
pub(super) fn decode_execution(item: Item, id: &ExecutionId) -> Option<Execution> {
    let item: ExecutionItem = from_item(item)?;
    let answer = |ans: Option<ByteBuf>| ans.map_or(Answer::NotKept, |bytes| Answer::Kept(bytes.into_vec()));
    let phase = match (item.st, item.til, item.ans) {
        (State::Open, Some(lease_until), None) => Phase::Open { lease_until },
        (State::Begun, Some(lease_until), None) => Phase::Begun { lease_until },
        (State::Unknown, Some(lease_until), None) => Phase::Unknown { lease_until },
        (State::Succeeded, None, ans) => Phase::Settled { ending: Ending::Succeeded, answer: answer(ans) },
        (State::Failed, None, ans) => Phase::Settled { ending: Ending::Failed, answer: answer(ans) },
        (State::Open | State::Begun | State::Unknown | State::Succeeded | State::Failed, ..) => return None,
    };
    let owner = Owner::from_hex(&item.own)?;
    let execution = Execution { id: item.pk, fingerprint: item.fp, owner, phase, window_ends_at: item.window_ends_at };
    (execution.id == *id && execution.ttl() == item.ttl).then_some(execution)
}
