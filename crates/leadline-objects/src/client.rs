//! One client instance: a thread with a runtime, a client library's operator and connections of its own.

use std::time::Duration;

use leadline_workloads::Refusal;
use opendal::{Buffer, Operator};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use crate::content::Content;
use crate::failures::Failure;
use crate::names::{object, LOAD};
use crate::outcome::Operation;

/// One thread is enough for one instance: more instances are more threads, and none waits for another's lock.
pub fn runtime() -> Result<Runtime, Refusal> {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Refusal(format!("this machine starts no runtime for requests: {error}")))
}

/// Runs what needs no measuring.
pub fn run_alone<Made>(
    work: impl std::future::Future<Output = Result<Made, Refusal>>,
) -> Result<Made, Refusal> {
    runtime()?.block_on(work)
}

/// What one request moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answered {
    pub size_bytes: u64,
    /// Objects that a listing named.
    pub listed: u64,
}

/// Sends the requests of a load.
pub struct Client {
    pub operator: Operator,
    pub folder: String,
    pub content: Content,
    pub object_size_bytes: u64,
    pub part_size_bytes: Option<u64>,
    pub timeout: Duration,
}

/// The answer to a request, with what is left to look at when the clock has been stopped.
pub struct Answer {
    pub answered: Answered,
    got: Option<Buffer>,
}

impl Client {
    /// Performs one request and returns once its last byte is there.
    pub async fn ask(&self, operation: Operation, number: u64) -> Result<Answer, Failure> {
        match timeout(self.timeout, self.request(operation, number)).await {
            Ok(answer) => answer.map_err(Failure::from),
            Err(_) => Err(Failure::timeout(self.timeout.as_secs_f64())),
        }
    }

    async fn request(&self, operation: Operation, number: u64) -> opendal::Result<Answer> {
        let path = object(&self.folder, number);
        let answered = match operation {
            Operation::Put => self.put(&path, number).await?,
            Operation::Get => return self.get(&path).await,
            Operation::Head => self.operator.stat(&path).await.map(|_| Answered::default())?,
            Operation::List => self.list().await?,
            Operation::Delete => self.operator.delete(&path).await.map(|()| Answered::default())?,
        };
        Ok(Answer { answered, got: None })
    }

    /// With parts, the client library begins an upload, sends the parts one after the other and completes it.
    async fn put(&self, path: &str, number: u64) -> opendal::Result<Answered> {
        let object = self.content.of(number);
        match self.part_size_bytes {
            Some(part) => {
                let mut writer = self.operator.writer_with(path).chunk(part as usize).await?;
                writer.write(object).await?;
                writer.close().await?;
            }
            None => drop(self.operator.write(path, object).await?),
        }
        Ok(Answered { size_bytes: self.object_size_bytes, listed: 0 })
    }

    /// One request for the whole object: without a range the client library would first ask for its size.
    async fn get(&self, path: &str) -> opendal::Result<Answer> {
        let got = self.operator.read_with(path).range(0..self.object_size_bytes).await?;
        let answered = Answered { size_bytes: got.len() as u64, listed: 0 };
        Ok(Answer { answered, got: Some(got) })
    }

    /// All objects of the load, page by page.
    async fn list(&self) -> opendal::Result<Answered> {
        let entries = self.operator.list_with(&format!("{}{LOAD}", self.folder)).recursive(true).await?;
        let listed = entries.iter().filter(|entry| entry.metadata().is_file()).count() as u64;
        Ok(Answered { size_bytes: 0, listed })
    }

    /// Why an answer is not what was put; looked at after its time was taken.
    pub fn fault(&self, number: u64, answer: &Answer) -> Option<Failure> {
        let got = answer.got.as_ref()?;
        self.content.fault(number, got).map(Failure::wrong_content)
    }
}
