//! Keeps one record of every call, however it ended.
//!
//! Records stand in the store under `record/` and a number that counts up, so an operator reads them in order and a missing
//! number shows. By default a record holds a digest of the arguments rather than the arguments: an audit trail outlives most
//! secrets.

mod record;

use callgate_guest::state::{self, Keep, StateError};
use callgate_guest::{AfterCallHook, Report, config};
use record::{Arguments, Record};

struct AuditTrail;

callgate_guest::export!(AuditTrail: after_call);

impl AfterCallHook for AuditTrail {
    fn notify(report: Report) -> Result<(), String> {
        let sequence = state::increment("sequence", 1, Keep::Forever)?;
        let key = format!("record/{sequence:010}");
        let keep = keep()?;
        let write = |arguments| -> Result<_, String> {
            let record = Record::of(&report, sequence, record::now_ms(), arguments);
            Ok(state::set(&key, &serde_json::to_string(&record).map_err(|error| error.to_string())?, keep))
        };
        match write(config::get_or("arguments", Arguments::Digest)?)? {
            // Too large for the store with everything in it: a smaller record is better than none.
            Err(StateError::OutOfBounds) => Ok(write(Arguments::Digest)??),
            written => Ok(written?),
        }
    }
}

/// For how long records are kept: for good unless it is configured.
fn keep() -> Result<Keep, String> {
    match config::get("keep-hours")? {
        None => Ok(Keep::Forever),
        Some(hours @ 1..=1_000) => Ok(Keep::For(std::time::Duration::from_secs(hours * 3_600))),
        Some(other) => Err(format!("`keep-hours` is {other}, and must be from 1 to 1000")),
    }
}

#[cfg(test)]
mod tests;
