//! A client: its directory and the files that it holds open under names.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::visibility::answer::Answer;
use crate::visibility::files;
use crate::visibility::instruction::Call;
use crate::visibility::locks;
use crate::visibility::names;
use crate::Refusal;

pub struct Client {
    directory: PathBuf,
    /// What stays open from one instruction to the next.
    held: HashMap<String, File>,
}

impl Client {
    pub fn new(directory: &Path) -> Self {
        Self { directory: directory.to_owned(), held: HashMap::new() }
    }

    /// Makes the calls in order. The first failure is the answer, and then what these calls had opened is closed again, as an
    /// application would; else it is what the last call with anything to tell told.
    pub fn perform(&mut self, calls: &[Call]) -> Result<Answer, Refusal> {
        let mut told = String::new();
        for (place, call) in calls.iter().enumerate() {
            match self.make(call)? {
                Ok(value) if value.is_empty() => {}
                Ok(value) => told = value,
                Err(error) => {
                    self.close_what_was_opened(&calls[..place]);
                    return Ok(Answer::of(Err(error)));
                }
            }
        }
        Ok(Answer::Value(told))
    }

    fn close_what_was_opened(&mut self, calls: &[Call]) {
        for call in calls {
            if let Call::Open { handle, .. } = call {
                self.held.remove(handle);
            }
        }
    }

    fn make(&mut self, call: &Call) -> Result<io::Result<String>, Refusal> {
        match call {
            Call::Open { name, handle, flags } => {
                let opened = files::open(&self.directory.join(name), flags);
                Ok(opened.map(|file| {
                    self.held.insert(handle.clone(), file);
                    String::new()
                }))
            }
            Call::Close { handle } => {
                let file = self.held.remove(handle).ok_or_else(|| unknown(handle))?;
                Ok(files::close(file).map(nothing))
            }
            Call::Release => {
                self.held.clear();
                Ok(Ok(String::new()))
            }
            Call::Write { handle, .. }
            | Call::Read { handle }
            | Call::FileStat { handle, .. }
            | Call::SeekEnd { handle }
            | Call::Synchronise { handle }
            | Call::DropPages { handle }
            | Call::Lock { handle, .. }
            | Call::Unlock { handle, .. } => {
                let file = self.held.get(handle).ok_or_else(|| unknown(handle))?;
                Ok(on_file(file, call))
            }
            _ => Ok(names::make(&self.directory, call)),
        }
    }
}

fn on_file(file: &File, call: &Call) -> io::Result<String> {
    match call {
        Call::Write { text, size_bytes, .. } => files::write(file, text, *size_bytes).map(nothing),
        Call::Read { .. } => files::read(file),
        Call::FileStat { field, .. } => file.metadata().map(|found| names::told(&found, *field)),
        Call::SeekEnd { .. } => files::end(file),
        Call::Synchronise { .. } => file.sync_all().map(nothing),
        Call::DropPages { .. } => files::drop_pages(file).map(nothing),
        Call::Lock { by, .. } => locks::lock(file, *by),
        Call::Unlock { by, .. } => locks::unlock(file, *by).map(nothing),
        _ => unreachable!("the caller sends calls on open files only"),
    }
}

fn nothing((): ()) -> String {
    String::new()
}

fn unknown(handle: &str) -> Refusal {
    Refusal(format!("no file is open under the name {handle:?}"))
}
