//! The cases, by port. Each says in its name what the contract promises.

use core::future::Future;
use core::pin::Pin;

use super::backend::{Backend, Cannot};
use super::script::Script;

mod admit;
mod bind;
mod carrier;
mod clock;
mod commit;
mod doorbell;
mod due;
mod reads;
mod seal;
mod sent_to;

/// One case, played on a backend of its own.
pub struct Case<B> {
    /// Its name.
    pub name: &'static str,
    /// What happens in it.
    pub play: for<'a> fn(&'a B, &'a Script) -> Playing<'a>,
}

/// A case being played.
pub type Playing<'a> = Pin<Box<dyn Future<Output = Result<(), Cannot>> + 'a>>;

impl<B> core::fmt::Debug for Case<B> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name)
    }
}

/// Lists functions as cases.
macro_rules! cases {
    ($($name:ident),* $(,)?) => {
        /// The cases of this port.
        pub(super) fn all<B: $crate::contract::Backend>() -> Vec<$crate::contract::cases::Case<B>> {
            vec![$($crate::contract::cases::Case {
                name: concat!(module_path!(), "::", stringify!($name)),
                play: |on, script| Box::pin($name(on, script)),
            }),*]
        }
    };
}
use cases;

/// All cases.
#[must_use]
pub fn all<B: Backend>() -> Vec<Case<B>> {
    [
        admit::all(),
        bind::all(),
        commit::all(),
        reads::all(),
        due::all(),
        sent_to::all(),
        doorbell::all(),
        seal::all(),
        carrier::all(),
        clock::all(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
