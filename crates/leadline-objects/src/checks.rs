//! What a store must be able to do before it is worth measuring: the sixteen checks of JuiceFS's `objbench`, by the same
//! names and in the same order.
//!
//! Where this client library cannot ask what JuiceFS asks, the check says so instead of passing. Three differ: a range
//! beyond the end is not asked for (opendal itself refuses the short answer, whatever the store did), parts of an
//! upload are not sent again before it is completed (opendal has no such call), and the name that ends in a slash is an
//! empty object, which is how directories are marked.

use std::fs::{self, Permissions};
use std::os::unix::fs::{chown, MetadataExt, PermissionsExt};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use futures_util::{stream, StreamExt, TryStreamExt};
use leadline_workloads::{Refusal, Workload};
use opendal::{Buffer, ErrorKind, Operator};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::client::run_alone;
use crate::content::Content;
use crate::failures::{sentence_of, Failure};
use crate::names::{is_folder, CHECKS, SPECIAL};
use crate::refuse_unless;
use crate::store::Store;

const TEXT: &str = "hello";
/// XML 1.0 has no such characters; S3 has `encoding-type=url` for that, which opendal 0.57 does not ask for.
const UNDECIDED_NAME: &str = "a name with a control character is not listed as it was given, other special characters are; the client \
    library asks for listings as plain XML, so it cannot be told whose fault that is";
const LISTED: usize = 100;
const LISTED_AT_ONCE: usize = 8;
const PART_BYTES: usize = 5 << 20; // the least that S3 takes for any part but the last
const NOBODY: u32 = 65534;
const CLOCKS_APART: Duration = Duration::from_secs(30);

/// Tries out a store, in a folder of leadline's own that was claimed before.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ObjectChecks {
    pub store: Store,
    pub folder: String,
    /// Of the object for "put a big object".
    #[serde(default = "big")]
    pub big_object_bytes: u64,
    /// After which a check counts as failed.
    #[serde(default = "minute")]
    pub timeout_ns: u64,
}

fn big() -> u64 {
    256 << 20
}

fn minute() -> u64 {
    60_000_000_000
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ObjectChecksOutcome {
    pub checks: Vec<Checked>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Checked {
    pub name: String,
    pub result: CheckResult,
    /// Why it did not pass; null when it did.
    pub reason: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckResult {
    Passed,
    Failed,
    NotSupported,
}

/// Why a check did not pass.
enum Fault {
    Failed(String),
    NotSupported(String),
}

impl From<opendal::Error> for Fault {
    fn from(error: opendal::Error) -> Self {
        match error.kind() {
            ErrorKind::Unsupported => Self::NotSupported(sentence_of(&error)),
            _ => Self::Failed(Failure::from(error).sentence),
        }
    }
}

impl From<std::io::Error> for Fault {
    fn from(error: std::io::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

type Tried = Result<(), Fault>;

fn expect(holds: bool, otherwise: impl FnOnce() -> String) -> Tried {
    if holds {
        Ok(())
    } else {
        Err(Fault::Failed(otherwise()))
    }
}

impl Workload for ObjectChecks {
    type Outcome = ObjectChecksOutcome;

    fn perform(&self) -> Result<ObjectChecksOutcome, Refusal> {
        refuse_unless(is_folder(&self.folder), || {
            format!("folder is {:?}: it is not one of leadline's own", self.folder)
        })?;
        let tried = Trial { operator: self.store.operator()?, step: self };
        run_alone(async { Ok(ObjectChecksOutcome { checks: tried.all().await }) })
    }
}

struct Trial<'step> {
    operator: Operator,
    step: &'step ObjectChecks,
}

/// A check that hangs is a check that failed.
macro_rules! tried {
    ($trial:expr, $($name:literal: $check:ident,)+) => {{
        let limit = Duration::from_nanos($trial.step.timeout_ns);
        let mut checks = Vec::new();
        $(
            let result = match tokio::time::timeout(limit, $trial.$check()).await {
                Ok(tried) => tried,
                Err(_) => Err(Fault::Failed(format!("no answer within {} s", limit.as_secs_f64()))),
            };
            checks.push(checked($name, result));
        )+
        checks
    }};
}

fn checked(name: &str, tried: Tried) -> Checked {
    let (result, reason) = match tried {
        Ok(()) => (CheckResult::Passed, None),
        Err(Fault::Failed(reason)) => (CheckResult::Failed, Some(reason)),
        Err(Fault::NotSupported(reason)) => (CheckResult::NotSupported, Some(reason)),
    };
    Checked { name: name.to_owned(), result, reason }
}

impl Trial<'_> {
    async fn all(&self) -> Vec<Checked> {
        tried! { self,
            "create a bucket": bucket,
            "put an object": put,
            "get an object": get,
            "get non-exist": get_missing,
            "get partial object": get_part,
            "head an object": head,
            "delete an object": delete,
            "delete non-exist": delete_missing,
            "list objects": list,
            "special key": special_name,
            "put a big object": put_big,
            "put an empty object": put_empty,
            "multipart upload": multipart,
            "change owner/group": change_owner,
            "change permission": change_permission,
            "change mtime": change_time,
        }
    }

    fn path(&self, name: &str) -> String {
        format!("{}{CHECKS}{name}", self.step.folder)
    }

    async fn put_text(&self, name: &str) -> Result<String, Fault> {
        let path = self.path(name);
        self.operator.write(&path, TEXT).await?;
        Ok(path)
    }

    async fn text_of(&self, path: &str) -> Result<String, Fault> {
        Ok(String::from_utf8_lossy(&self.operator.read(path).await?.to_bytes()).into_owned())
    }

    /// A directory is made like a bucket; elsewhere buckets are no affair of opendal's.
    async fn bucket(&self) -> Tried {
        let Some(root) = self.step.store.directory() else {
            return Err(Fault::NotSupported(
                "the client library makes no buckets; this one was there".to_owned(),
            ));
        };
        Ok(fs::create_dir_all(root)?)
    }

    async fn put(&self) -> Tried {
        self.put_text("put").await.map(drop)
    }

    async fn get(&self) -> Tried {
        let got = self.text_of(&self.put_text("get").await?).await?;
        expect(got == TEXT, || format!("{got:?} came back where {TEXT:?} was put"))
    }

    async fn get_missing(&self) -> Tried {
        match self.operator.read(&self.path("missing")).await {
            Ok(_) => Err(Fault::Failed("an object that does not exist was got".to_owned())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    async fn get_part(&self) -> Tried {
        let path = self.put_text("part").await?;
        for (start, end, wanted) in [(0, 1, "h"), (4, 5, "o"), (2, 5, "llo"), (2, 4, "ll")] {
            let got = self.operator.read_with(&path).range(start..end).await?.to_bytes();
            expect(got == wanted, || format!("bytes {start} to {end} of {TEXT:?} came as {got:?}"))?;
        }
        Ok(())
    }

    async fn head(&self) -> Tried {
        let told = self.operator.stat(&self.put_text("head").await?).await?;
        expect(told.content_length() == TEXT.len() as u64, || {
            format!("{} bytes were told of an object of {}", told.content_length(), TEXT.len())
        })
    }

    async fn delete(&self) -> Tried {
        let path = self.put_text("delete").await?;
        self.operator.delete(&path).await?;
        expect(!self.operator.exists(&path).await?, || "it is still there after its deletion".to_owned())?;
        Ok(self.operator.delete(&path).await?)
    }

    async fn delete_missing(&self) -> Tried {
        Ok(self.operator.delete(&self.path("never-made")).await?)
    }

    async fn list(&self) -> Tried {
        let folder = self.path("list/");
        let wanted: Vec<String> = (0..LISTED).map(|number| format!("{folder}key{number}")).collect();
        stream::iter(&wanted)
            .map(|path| self.operator.write(path, TEXT))
            .buffer_unordered(LISTED_AT_ONCE)
            .try_collect::<Vec<_>>()
            .await?;
        let entries = self.operator.list_with(&folder).recursive(true).await?;
        let mut named: Vec<String> = entries.iter().map(|entry| entry.path().to_owned()).collect();
        named.retain(|path| !path.ends_with('/'));
        let sorted_by_store = named.is_sorted();
        named.sort();
        let mut sorted = wanted.clone();
        sorted.sort();
        expect(named == sorted, || format!("{} of {LISTED} objects were listed", named.len()))?;
        let told = self.operator.stat(&wanted[0]).await?;
        expect(told.content_length() == TEXT.len() as u64, || "a wrong size was told".to_owned())?;
        self.check_clock(told.last_modified().map(Into::into))?;
        expect(sorted_by_store || self.step.store.directory().is_some(), || {
            "the objects were not listed in the order of their names".to_owned()
        })
    }

    fn check_clock(&self, modified: Option<SystemTime>) -> Tried {
        let Some(modified) = modified else { return Ok(()) };
        let now = SystemTime::now();
        let apart =
            now.duration_since(modified).or_else(|_| modified.duration_since(now)).unwrap_or_default();
        expect(apart <= CLOCKS_APART, || {
            format!("the store's clock is {} s from this machine's", apart.as_secs())
        })
    }

    async fn special_name(&self) -> Tried {
        let path = self.put_text(SPECIAL).await?;
        let got = self.text_of(&path).await?;
        expect(got == TEXT, || "other bytes came back than were put".to_owned())?;
        if self.lists(&path).await? {
            return Ok(());
        }
        let printable = self.put_text(&SPECIAL.replace(char::is_control, "")).await?;
        expect(self.lists(&printable).await?, || {
            "a name of special characters is not listed as it was given".to_owned()
        })?;
        Err(Fault::NotSupported(UNDECIDED_NAME.to_owned()))
    }

    async fn lists(&self, path: &str) -> Result<bool, Fault> {
        let entries = self.operator.list_with(&self.path("")).recursive(true).await?;
        Ok(entries.iter().any(|entry| entry.path() == path))
    }

    async fn put_big(&self) -> Tried {
        let path = self.path("big");
        let content = Content::new(self.step.big_object_bytes, 1);
        self.operator.write(&path, content.of(0)).await?;
        let told = self.operator.stat(&path).await?;
        self.operator.delete(&path).await?;
        expect(told.content_length() == self.step.big_object_bytes, || {
            format!("{} bytes were told of {}", told.content_length(), self.step.big_object_bytes)
        })
    }

    async fn put_empty(&self) -> Tried {
        let path = self.path("empty");
        self.operator.write(&path, Buffer::new()).await?;
        let told = self.operator.stat(&path).await?;
        expect(told.content_length() == 0, || format!("{} bytes were told", told.content_length()))?;
        Ok(self.operator.create_dir(&self.path("slash/")).await?)
    }

    async fn multipart(&self) -> Tried {
        if !self.operator.info().full_capability().write_can_multi {
            return Err(Fault::NotSupported("the service takes objects whole only".to_owned()));
        }
        let path = self.path("multipart");
        let content = Content::new(2 * PART_BYTES as u64 + TEXT.len() as u64, 2);
        let mut writer = self.operator.writer_with(&path).chunk(PART_BYTES).await?;
        writer.write(content.of(0)).await?;
        writer.close().await?;
        let got = self.operator.read(&path).await?;
        self.operator.delete(&path).await?;
        expect(got.to_bytes() == content.of(0).to_bytes(), || {
            "other bytes came back than were put".to_owned()
        })
    }

    /// The object as a file, where objects are files of this machine; elsewhere they have no such attributes.
    async fn file(&self, name: &str) -> Result<PathBuf, Fault> {
        let Some(root) = self.step.store.directory() else {
            return Err(Fault::NotSupported("objects of this service have no such attribute".to_owned()));
        };
        Ok(PathBuf::from(root).join(self.put_text(name).await?))
    }

    async fn change_owner(&self) -> Tried {
        let file = self.file("owner").await?;
        chown(&file, Some(NOBODY), Some(NOBODY))?;
        let told = fs::metadata(&file)?;
        expect((told.uid(), told.gid()) == (NOBODY, NOBODY), || {
            format!("owner and group are {} and {}", told.uid(), told.gid())
        })
    }

    async fn change_permission(&self) -> Tried {
        let file = self.file("permission").await?;
        fs::set_permissions(&file, Permissions::from_mode(0o777))?;
        let mode = fs::metadata(&file)?.mode() & 0o777;
        expect(mode == 0o777, || format!("the mode is {mode:o}"))
    }

    async fn change_time(&self) -> Tried {
        let file = self.file("time").await?;
        let wanted = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        fs::File::options().write(true).open(&file)?.set_modified(wanted)?;
        expect(fs::metadata(&file)?.modified()? == wanted, || "the time is not the one given".to_owned())
    }
}
