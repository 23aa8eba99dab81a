//! Operations by object. Objects are independent, so each of them is checked alone, and any number at a time.

use std::collections::HashMap;

use crate::operation::{Kind, Operation};

/// One object and where its operations lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its number.
    pub number: u64,
    /// Its kind, as its first operation says.
    pub kind: Kind,
    from: usize,
    to: usize,
}

/// All objects of a history in the order in which they first occur.
#[derive(Clone, Debug, Default)]
pub struct Objects {
    objects: Vec<Object>,
    members: Vec<u32>,
}

impl Objects {
    /// Groups operations: two passes, whatever the number of objects.
    pub fn of(operations: &[Operation]) -> Self {
        let (mut objects, places) = count(operations);
        let mut begin = 0;
        for object in &mut objects {
            let count = object.to;
            (object.from, object.to) = (begin, begin);
            begin += count;
        }
        let mut members = vec![0; operations.len()];
        for (index, place) in places.into_iter().enumerate() {
            let object = &mut objects[place as usize];
            members[object.to] = index as u32;
            object.to += 1;
        }
        Self { objects, members }
    }

    /// The objects.
    pub fn all(&self) -> &[Object] {
        &self.objects
    }

    /// Where in the history the operations of an object are, in the order in which the history holds them.
    pub fn members_of(&self, object: &Object) -> &[u32] {
        &self.members[object.from..object.to]
    }
}

/// The objects with their numbers of operations in `to`, and for each operation which object is its own.
fn count(operations: &[Operation]) -> (Vec<Object>, Vec<u32>) {
    let mut objects: Vec<Object> = Vec::new();
    let mut known: HashMap<u64, u32> = HashMap::new();
    let mut places = Vec::with_capacity(operations.len());
    let mut last = u32::MAX;
    for each in operations {
        if objects.get(last as usize).is_none_or(|object| object.number != each.object) {
            last = *known.entry(each.object).or_insert(objects.len() as u32);
        }
        if last as usize == objects.len() {
            objects.push(Object { number: each.object, kind: each.kind, from: 0, to: 0 });
        }
        objects[last as usize].to += 1;
        places.push(last);
    }
    (objects, places)
}
