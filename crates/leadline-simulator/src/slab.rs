//! Things that come and go, found by number; numbers are used again, so memory is what is in flight at most.

pub struct Slab<Thing> {
    things: Vec<Thing>,
    free: Vec<u32>,
}

impl<Thing> Slab<Thing> {
    pub fn new() -> Self {
        Self { things: Vec::new(), free: Vec::new() }
    }

    #[inline]
    pub fn insert(&mut self, thing: Thing) -> u32 {
        if let Some(number) = self.free.pop() {
            self.things[number as usize] = thing;
            return number;
        }
        self.things.push(thing);
        (self.things.len() - 1) as u32
    }

    /// Its number may be given to the next.
    #[inline]
    pub fn remove(&mut self, number: u32) {
        self.free.push(number);
    }
}

impl<Thing> std::ops::Index<u32> for Slab<Thing> {
    type Output = Thing;

    #[inline]
    fn index(&self, number: u32) -> &Thing {
        &self.things[number as usize]
    }
}

impl<Thing> std::ops::IndexMut<u32> for Slab<Thing> {
    #[inline]
    fn index_mut(&mut self, number: u32) -> &mut Thing {
        &mut self.things[number as usize]
    }
}
