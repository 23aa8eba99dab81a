//! Histories as files: a line of JSON that says what follows, blocks with checksums, and a mark at the end.
//!
//! ```text
//! {"format":"leadline history","version":1,"run":7,"record_bytes":96,"fields":[["start_ns","i64"], ...]}\n
//! block:  "BLCK"  records u32  values u32  checksum u32   records * 96 bytes   values * 8 bytes
//! ...
//! end:    "DONE"  records u64  values u64  checksum u32
//! ```
//!
//! All numbers are little-endian. The lists of a block's operations lie behind its records, in their order. A
//! client that dies leaves a file without an end, and everything before the first damaged block can be used:
//! the reader says so in a sentence and marks the history as not whole. A file is
//! written when its run is over, never while something is measured.

use std::io::{self, BufRead, Read, Write};

use serde::{Deserialize, Serialize};

use crate::checksum::crc32;
use crate::history::{begin_of, History};
use crate::record::{decode, encode, FIELDS, RECORD_BYTES};

/// How the header names the format.
pub const FORMAT: &str = "leadline history";

/// The version that this crate writes, and the only one that it reads.
pub const VERSION: u32 = 1;

const BLOCK: &[u8; 4] = b"BLCK";
const END: &[u8; 4] = b"DONE";
const RECORDS_IN_BLOCK: usize = 4096;
/// Longer blocks are not written; a length above it is damage, not a reason to wait for terabytes.
const LONGEST_BLOCK_BYTES: u64 = 1 << 30;
const LONGEST_HEADER_BYTES: u64 = 1 << 20;

/// The first line of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// Which run the operations are of.
    pub run: u32,
    /// How wide a record is.
    pub record_bytes: usize,
    /// Name and type of each field, in their order.
    pub fields: Vec<(String, String)>,
    /// What else the writer wants to be remembered: seeds, mounts, clocks.
    #[serde(default)]
    pub notes: serde_json::Map<String, serde_json::Value>,
}

impl Header {
    /// The header of a run, with nothing noted.
    pub fn of_run(run: u32) -> Self {
        let fields = FIELDS.iter().map(|(name, width)| (name.to_string(), width.to_string())).collect();
        let (format, notes) = (FORMAT.to_string(), serde_json::Map::new());
        Self { format, version: VERSION, run, record_bytes: RECORD_BYTES, fields, notes }
    }
}

/// Where a file stops being whole: one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage(pub String);

impl std::fmt::Display for Damage {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// What was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The first line.
    pub header: Header,
    /// Everything up to the damage, or everything.
    pub history: History,
    /// What is wrong with the rest, when something is.
    pub damage: Option<Damage>,
}

/// Why nothing at all could be read: one sentence, or what the system answered.
#[derive(Debug)]
pub enum Unreadable {
    /// It is not a history of this version.
    Foreign(String),
    /// Reading failed.
    Io(io::Error),
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Foreign(sentence) => formatter.write_str(sentence),
            Self::Io(error) => write!(formatter, "the history cannot be read: {error}"),
        }
    }
}

impl std::error::Error for Unreadable {}

impl From<io::Error> for Unreadable {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Writes a history with its header and its end mark.
pub fn write_history(header: &Header, history: &History, to: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut *to, header)?;
    to.write_all(b"\n")?;
    for operations in history.operations.chunks(RECORDS_IN_BLOCK) {
        let mut payload = Vec::with_capacity(operations.len() * RECORD_BYTES);
        operations.iter().for_each(|each| encode(each, &mut payload));
        let lists = operations.iter().flat_map(|each| history.list_of(each));
        payload.extend(lists.flat_map(|value| value.to_le_bytes()));
        let values = payload.len() / 8 - operations.len() * RECORD_BYTES / 8;
        to.write_all(BLOCK)?;
        to.write_all(&(operations.len() as u32).to_le_bytes())?;
        to.write_all(&(values as u32).to_le_bytes())?;
        to.write_all(&crc32(&payload).to_le_bytes())?;
        to.write_all(&payload)?;
    }
    to.write_all(END)?;
    let totals = totals_of(history);
    to.write_all(&totals)?;
    to.write_all(&crc32(&totals).to_le_bytes())
}

fn totals_of(history: &History) -> [u8; 16] {
    let values: u64 = history.operations.iter().map(|each| u64::from(each.values_count)).sum();
    let mut totals = [0; 16];
    totals[..8].copy_from_slice(&(history.operations.len() as u64).to_le_bytes());
    totals[8..].copy_from_slice(&values.to_le_bytes());
    totals
}

/// Reads a history as far as it is whole.
pub fn read_history(from: &mut impl BufRead) -> Result<Reading, Unreadable> {
    let header = read_header(from)?;
    let mut history = History::default();
    let mut blocks = 0u64;
    let damage = loop {
        match read_part(from, &mut history)? {
            Part::Block => blocks += 1,
            Part::End => break None,
            Part::Damaged(what) => break Some(describe(&what, blocks, &history)),
        }
    };
    history.whole = damage.is_none();
    Ok(Reading { header, history, damage })
}

fn describe(what: &str, blocks: u64, history: &History) -> Damage {
    let whole = history.operations.len();
    Damage(format!(
        "the history {what} after block {blocks}: the {whole} operations before are whole and are used, \
         and nothing counts as violated by them that what is missing could excuse"
    ))
}

fn read_header(from: &mut impl BufRead) -> Result<Header, Unreadable> {
    let mut line = Vec::new();
    from.by_ref().take(LONGEST_HEADER_BYTES).read_until(b'\n', &mut line)?;
    let header: Header = serde_json::from_slice(&line).map_err(|_| {
        Unreadable::Foreign("this is not a leadline history: its first line does not say so".to_string())
    })?;
    let known = Header { run: header.run, notes: header.notes.clone(), ..Header::of_run(0) };
    if header == known {
        return Ok(header);
    }
    let version = header.version;
    Err(Unreadable::Foreign(format!(
        "this is a {} of version {version}; this leadline reads version {VERSION} of a {FORMAT} only",
        header.format
    )))
}

enum Part {
    Block,
    End,
    Damaged(String),
}

impl Part {
    fn damaged(what: &str) -> Self {
        Self::Damaged(what.to_string())
    }
}

fn read_part(from: &mut impl Read, history: &mut History) -> io::Result<Part> {
    let Some(tag) = read_exactly(from, 4)? else { return Ok(Part::damaged("is cut off")) };
    match tag.as_slice().try_into() {
        Ok(BLOCK) => read_block(from, history),
        Ok(END) => read_end(from, history),
        _ => Ok(Part::damaged("is corrupted")),
    }
}

fn read_block(from: &mut impl Read, history: &mut History) -> io::Result<Part> {
    let Some(lengths) = read_exactly(from, 12)? else { return Ok(Part::damaged("is cut off")) };
    let [records, values, checksum] = [0, 4, 8].map(|at| number_at(&lengths, at));
    let record_bytes = u64::from(records) * RECORD_BYTES as u64;
    let payload_bytes = record_bytes + u64::from(values) * 8;
    if payload_bytes > LONGEST_BLOCK_BYTES {
        return Ok(Part::damaged("is corrupted"));
    }
    let Some(payload) = read_exactly(from, payload_bytes)? else { return Ok(Part::damaged("is cut off")) };
    let whole = crc32(&payload) == checksum && add_block(&payload, record_bytes as usize, values, history);
    Ok(if whole { Part::Block } else { Part::damaged("is corrupted") })
}

/// Adds the operations of a block; false, and nothing added, when they cannot be what was written.
fn add_block(payload: &[u8], record_bytes: usize, values: u32, history: &mut History) -> bool {
    let (records, lists) = payload.split_at(record_bytes);
    let begin = history.values.len() as u64;
    let mut from = begin;
    let mut operations = Vec::with_capacity(records.len() / RECORD_BYTES);
    for record in records.chunks_exact(RECORD_BYTES) {
        let Some(mut operation) = decode(record) else { return false };
        operation.values_from = begin_of(operation.values_count, from);
        from += u64::from(operation.values_count);
        operations.push(operation);
    }
    if from != begin + u64::from(values) {
        return false;
    }
    history.operations.append(&mut operations);
    history.values.extend(numbers_in(lists));
    true
}

/// Numbers of eight bytes, one behind the other.
fn numbers_in(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    bytes.chunks_exact(8).map(|eight| u64::from_le_bytes(eight.try_into().expect("eight bytes")))
}

fn read_end(from: &mut impl Read, history: &History) -> io::Result<Part> {
    let Some(end) = read_exactly(from, 20)? else { return Ok(Part::damaged("is cut off")) };
    let right = end[..16] == totals_of(history) && number_at(&end, 16) == crc32(&end[..16]);
    Ok(if right { Part::End } else { Part::damaged("misses operations") })
}

fn number_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

/// This many bytes, or None when there are fewer. Memory grows with what is there, not with what is claimed.
fn read_exactly(from: &mut impl Read, count: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    from.take(count).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 == count).then_some(bytes))
}
