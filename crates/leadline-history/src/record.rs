//! One operation as bytes: little-endian, of one width, so that any language reads it with one declaration.

use crate::operation::{Action, Content, Kind, Moment, Operation, Outcome};

/// How wide a record is.
pub const RECORD_BYTES: usize = 96;

/// Name and type of each field as they lie in a record; the header of every file repeats them.
pub(crate) const FIELDS: &[(&str, &str)] = &[
    ("start_ns", "i64"),
    ("end_ns", "i64"),
    ("object", "u64"),
    ("value_in", "u64"),
    ("value_out", "u64"),
    ("sequence", "u64"),
    ("size_bytes", "u64"),
    ("inode", "u64"),
    ("planned_delay_ns", "i64"),
    ("values_count", "u32"),
    ("clock_error_ns", "u32"),
    ("session", "u32"),
    ("client", "u16"),
    ("worker", "u16"),
    ("errno", "i16"),
    ("kind", "u8"),
    ("action", "u8"),
    ("outcome", "u8"),
    ("content", "u8"),
    ("moment", "u8"),
    ("primed", "u8"),
];

/// Adds the record of an operation to the bytes.
pub(crate) fn encode(operation: &Operation, bytes: &mut Vec<u8>) {
    let begin = bytes.len();
    bytes.extend(operation.start_ns.to_le_bytes());
    bytes.extend(operation.end_ns.to_le_bytes());
    bytes.extend(operation.object.to_le_bytes());
    bytes.extend(operation.value_in.to_le_bytes());
    bytes.extend(operation.value_out.to_le_bytes());
    bytes.extend(operation.sequence.to_le_bytes());
    bytes.extend(operation.size_bytes.to_le_bytes());
    bytes.extend(operation.inode.to_le_bytes());
    bytes.extend(operation.planned_delay_ns.to_le_bytes());
    bytes.extend(operation.values_count.to_le_bytes());
    bytes.extend(operation.clock_error_ns.to_le_bytes());
    bytes.extend(operation.session.to_le_bytes());
    bytes.extend(operation.client.to_le_bytes());
    bytes.extend(operation.worker.to_le_bytes());
    bytes.extend(operation.errno.to_le_bytes());
    bytes.push(operation.kind as u8);
    bytes.push(operation.action as u8);
    bytes.push(operation.outcome as u8);
    bytes.push(operation.content as u8);
    bytes.push(operation.moment as u8);
    bytes.push(u8::from(operation.primed));
    debug_assert_eq!(bytes.len() - begin, RECORD_BYTES);
}

/// Takes fields off the front of a record.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const WIDTH: usize>(&mut self) -> [u8; WIDTH] {
        let (field, rest) = self.0.split_first_chunk().expect("a record is RECORD_BYTES wide");
        self.0 = rest;
        *field
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }

    fn i64(&mut self) -> i64 {
        i64::from_le_bytes(self.take())
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.take())
    }

    fn byte(&mut self) -> u8 {
        self.take::<1>()[0]
    }
}

/// The operation of a record, which does not say where its list begins; None when a code is unknown.
pub(crate) fn decode(record: &[u8]) -> Option<Operation> {
    let mut fields = Fields(record);
    Some(Operation {
        start_ns: fields.i64(),
        end_ns: fields.i64(),
        object: fields.u64(),
        value_in: fields.u64(),
        value_out: fields.u64(),
        sequence: fields.u64(),
        size_bytes: fields.u64(),
        inode: fields.u64(),
        planned_delay_ns: fields.i64(),
        values_from: 0,
        values_count: fields.u32(),
        clock_error_ns: fields.u32(),
        session: fields.u32(),
        client: fields.u16(),
        worker: fields.u16(),
        errno: i16::from_le_bytes(fields.take()),
        kind: Kind::from_code(fields.byte())?,
        action: Action::from_code(fields.byte())?,
        outcome: Outcome::from_code(fields.byte())?,
        content: Content::from_code(fields.byte())?,
        moment: Moment::from_code(fields.byte())?,
        primed: fields.byte() != 0,
    })
}
