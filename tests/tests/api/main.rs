//! The four functions, called as Lambda calls them, through the real SDK on AWS in process.
//!
//! What is tested here is what a client, an operator or an auditor would see: answers, texts, states and evidence.

mod harness;

mod bars;
mod cancelling;
mod contract;
mod deciding;
mod delivering;
mod evidence_setup;
mod failing_store;
mod killed;
mod once;
mod outcomes;
mod reading;
mod receipts;
mod reconciling;
mod requests;
mod requests_json;
mod secrets;
mod seeking;
mod sending;
mod tenants;
mod time_left;
