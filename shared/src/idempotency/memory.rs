//! A store for tests: the rules of [`Executions`] and nothing else.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::ports::{Unreadable, WriteFault, Written};

use super::{Execution, ExecutionId, Executions, Moment, Owner, Phase, judge};

/// Executions in memory. Clones are the same store; nothing in it fails and nothing outlives it.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore(Arc<Mutex<BTreeMap<ExecutionId, Execution>>>);

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Everything in it, in order of the ids.
    #[must_use]
    pub fn all(&self) -> Vec<Execution> {
        self.lock().values().cloned().collect()
    }

    /// Does what DynamoDB does some day: deletes what has outlived its TTL. Says how much that was.
    pub fn sweep(&self, at: Moment) -> usize {
        let mut all = self.lock();
        let before = all.len();
        all.retain(|_, stored| stored.ttl().is_none_or(|ttl| ttl > at.now.secs_ceil()));
        before - all.len()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<ExecutionId, Execution>> {
        // Each change is one insert: a panic elsewhere leaves nothing half done here.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Executions for MemoryStore {
    async fn begin(&self, execution: &Execution, at: Moment) -> Result<Written<Execution>, WriteFault> {
        let mut all = self.lock();
        if let Some(stored) = all.get(&execution.id)
            && !judge(stored, &execution.fingerprint, execution.owner, at).gives_way()
        {
            return Ok(Written::Held(stored.clone()));
        }
        all.insert(execution.id.clone(), execution.clone());
        Ok(Written::Done)
    }

    async fn advance(&self, next: &Execution, held_by: Owner) -> Result<Written<Option<Execution>>, WriteFault> {
        let mut all = self.lock();
        match all.get(&next.id) {
            Some(stored) if stored.owner == held_by && !matches!(stored.phase, Phase::Settled { .. }) => {
                all.insert(next.id.clone(), next.clone());
                Ok(Written::Done)
            }
            found => Ok(Written::Held(found.cloned())),
        }
    }

    async fn execution(&self, id: &ExecutionId) -> Result<Option<Execution>, Unreadable> {
        Ok(self.lock().get(id).cloned())
    }
}
