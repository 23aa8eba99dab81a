//! Judges what clients of a filesystem saw: which guarantees held, and what went wrong.
//!
//! Where this stands in the flow: `leadline-history` hands in the operations of a run, [`check`] takes them apart
//! by object, judges every object by the rules of its kind, and puts together one [`Report`]: for each
//! [`Guarantee`] and each kind of object a [`Verdict`], how much was checked, and the smallest set of operations
//! that shows a violation. The report says what was observed and never that a filesystem "is consistent".
//!
//! POSIX is not modelled. The workload is made of objects that are small types ([`Kind`](leadline_history::Kind)) with values that are
//! written once, and for those exact tests of n log n steps are known. docs/concepts/consistency_checking.md names
//! them with their sources. From the bottom to the top:
//!
//! * `view`: the operations of one object; `order`: what is before and after in real time; `beside`: two processors.
//! * `versions`, `zones`, `sessions`, `staleness`: objects that hold one value.
//! * `log`, `counter`, `directory`: objects whose final state tells the order.
//! * `search`, `presence`, `entry`, `name_pair`: objects that need a search, and names that exist or do not.
//! * `convergence`, `exercise`: what is asked of all kinds alike.
//! * `findings`, `report`, `sentence`: what comes out.

mod anomaly;
mod beside;
mod bound;
mod check;
mod convergence;
mod counter;
mod directory;
mod entry;
mod exclusion;
mod exercise;
mod findings;
mod guarantee;
mod judge;
mod log;
mod log_sessions;
mod name_pair;
mod order;
mod presence;
mod report;
mod search;
mod sentence;
mod sessions;
mod staleness;
mod token_map;
mod valued;
mod versions;
mod view;
mod zones;

pub use anomaly::Anomaly;
pub use bound::upper_bound;
pub use check::{check, Limits};
pub use guarantee::Guarantee;
pub use report::{Line, Report, Shown, Verdict, Witness};
