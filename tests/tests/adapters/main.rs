//! The adapters, each port method and each of its outcomes, through the real SDK on the seam.

mod admissions;
mod carrier;
mod clients;
mod doorbell;
mod fixtures;
mod items;
mod reads;
mod seal;
mod transitions;
mod warm;
