//! What clients did to shared objects, and how it is written down.
//!
//! Where this stands in the flow: the consistency clients of the engine make one system call at a time on small
//! objects and note each as an [`Operation`]; when the run is over each of them [writes](write_history) its file.
//! `leadline-checker` [reads](read_history) the files, puts them together into one [`History`] and judges it.
//! This crate knows what an operation is and what a history must fulfil; it judges no filesystem.
//!
//! Two rules make histories cheap to check, and the crate holds them up:
//!
//! * Every object is a small type of its own ([`Kind`]), and objects are independent of each other.
//! * Every value that is written is written once. What was read therefore says who wrote it.

mod checksum;
mod file;
mod flaws;
mod grouping;
mod history;
mod operation;
mod record;

pub use file::{read_history, write_history, Damage, Header, Reading, Unreadable, FORMAT, VERSION};
pub use flaws::{first_flaw, first_flaw_between, first_flaw_of_one, Flaw};
pub use grouping::{Object, Objects};
pub use history::History;
pub use operation::{Action, Content, Kind, Moment, Operation, Outcome, EEXIST, ENOENT, NEVER, NOTHING};
pub use record::RECORD_BYTES;
