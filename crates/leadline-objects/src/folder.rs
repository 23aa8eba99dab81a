//! A folder of leadline's own in a store: found, made and removed.
//!
//! A marker in it says whose it is. It is made first and removed last, so that after `kill -9` whatever is left can still
//! be told from what belongs to others. Nothing else is ever deleted, also not inside of the folder.

use futures_util::{stream, StreamExt, TryStreamExt};
use leadline_workloads::{Refusal, Workload};
use opendal::{EntryMode, Error, ErrorKind, Operator};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::client::run_alone;
use crate::failures::Failure;
use crate::names::{is_folder, is_own, CHECKS, FOLDER_PREFIX, MARKER, SPECIAL};
use crate::refuse_unless;
use crate::store::Store;

const DELETIONS_AT_ONCE: usize = 16;
/// Names that are told; the others are only counted.
const MOST_NAMES: usize = 5;

/// What is done with folders of leadline's own.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ObjectFolder {
    pub store: Store,
    pub action: FolderAction,
    /// `leadline-objbench-.../`; for `survey` none is named.
    #[serde(default)]
    pub folder: Option<String>,
    /// For `claim`: what the marker says.
    #[serde(default)]
    pub marker: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FolderAction {
    /// Lists the folders that are leadline's by name, each with what its marker says.
    Survey,
    /// Makes a folder by its marker; refuses one in which anything lies.
    Claim,
    /// Removes what leadline made in a folder, the marker last.
    Remove,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ObjectFolderOutcome {
    pub folders: Vec<FoundFolder>,
    /// Objects deleted.
    pub removed: u64,
    /// Objects in the folder that leadline did not make, and left where they are.
    pub foreign: u64,
    /// The first names of those.
    pub foreign_names: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FoundFolder {
    pub folder: String,
    /// Null: nobody says whose it is.
    pub marker: Option<String>,
}

impl Workload for ObjectFolder {
    type Outcome = ObjectFolderOutcome;

    fn perform(&self) -> Result<ObjectFolderOutcome, Refusal> {
        let operator = self.store.operator()?;
        run_alone(async {
            match self.action {
                FolderAction::Survey => told(survey(&operator).await),
                FolderAction::Claim => self.claim(&operator, self.folder()?).await,
                FolderAction::Remove => told(remove(&operator, self.folder()?).await),
            }
        })
    }
}

fn told<Made>(result: opendal::Result<Made>) -> Result<Made, Refusal> {
    result.map_err(refusal)
}

fn refusal(error: Error) -> Refusal {
    let failure = Failure::from(error);
    Refusal(if failure.sentence.starts_with(&failure.kind) {
        failure.sentence
    } else {
        format!("{}: {}", failure.kind, failure.sentence)
    })
}

impl ObjectFolder {
    fn folder(&self) -> Result<&str, Refusal> {
        let folder = self.folder.as_deref().unwrap_or_default();
        refuse_unless(is_folder(folder), || {
            format!("folder is {folder:?}: leadline's own are named {FOLDER_PREFIX}.../")
        })?;
        Ok(folder)
    }

    async fn claim(&self, operator: &Operator, folder: &str) -> Result<ObjectFolderOutcome, Refusal> {
        let there = told(files_in(operator, folder).await)?;
        refuse_unless(there.is_empty(), || {
            format!(
                "{folder} holds {} objects already, such as {:?}; name another folder",
                there.len(),
                there[0]
            )
        })?;
        let marker = self.marker.clone().unwrap_or_default();
        told(operator.write(&format!("{folder}{MARKER}"), marker).await)?;
        Ok(ObjectFolderOutcome::default())
    }
}

async fn survey(operator: &Operator) -> opendal::Result<ObjectFolderOutcome> {
    let mut folders = Vec::new();
    for entry in operator.list(FOLDER_PREFIX).await? {
        if is_folder(entry.path()) {
            let marker = read_text(operator, &format!("{}{MARKER}", entry.path())).await?;
            folders.push(FoundFolder { folder: entry.path().to_owned(), marker });
        }
    }
    Ok(ObjectFolderOutcome { folders, ..ObjectFolderOutcome::default() })
}

async fn read_text(operator: &Operator, path: &str) -> opendal::Result<Option<String>> {
    match operator.read(path).await {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes.to_bytes()).into_owned())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Names of all objects below a folder; where it does not exist, none.
async fn files_in(operator: &Operator, folder: &str) -> opendal::Result<Vec<String>> {
    Ok(entries_in(operator, folder).await?.0)
}

/// Objects, and what the store shows as directories.
async fn entries_in(operator: &Operator, folder: &str) -> opendal::Result<(Vec<String>, Vec<String>)> {
    let listed = operator.lister_with(folder).recursive(true).await?.try_collect::<Vec<_>>().await;
    let entries = match listed {
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        other => other?,
    };
    let (directories, files): (Vec<_>, Vec<_>) =
        entries.into_iter().partition(|entry| entry.metadata().mode() == EntryMode::DIR);
    let names = |entries: Vec<opendal::Entry>| entries.iter().map(|each| each.path().to_owned()).collect();
    Ok((names(files), names(directories)))
}

async fn remove(operator: &Operator, folder: &str) -> opendal::Result<ObjectFolderOutcome> {
    let (files, directories) = entries_in(operator, folder).await?;
    let name_of = |path: &str| path.strip_prefix(folder).unwrap_or(path).to_owned();
    let (own, foreign): (Vec<_>, Vec<_>) = files.into_iter().partition(|path| is_own(&name_of(path)));
    let (markers, load): (Vec<_>, Vec<_>) = own.into_iter().partition(|path| name_of(path) == MARKER);
    delete_all(operator, &load).await?;
    operator.delete(&format!("{folder}{CHECKS}{SPECIAL}")).await?;
    remove_directories(operator, folder, directories).await;
    delete_all(operator, &markers).await?;
    if foreign.is_empty() {
        let _ = operator.delete(folder).await; // an empty directory, where the store has such things
    }
    Ok(ObjectFolderOutcome {
        removed: (load.len() + markers.len()) as u64,
        foreign: foreign.len() as u64,
        foreign_names: foreign.into_iter().take(MOST_NAMES).collect(),
        ..ObjectFolderOutcome::default()
    })
}

async fn delete_all(operator: &Operator, paths: &[String]) -> opendal::Result<()> {
    stream::iter(paths)
        .map(|path| operator.delete(path))
        .buffer_unordered(DELETIONS_AT_ONCE)
        .try_collect::<Vec<()>>()
        .await
        .map(drop)
}

/// The deepest first. One that is not empty stays, and no store loses anything by that.
async fn remove_directories(operator: &Operator, folder: &str, mut directories: Vec<String>) {
    directories.retain(|path| path.strip_prefix(folder).is_some_and(is_own));
    directories.sort_by_key(|path| std::cmp::Reverse(path.len()));
    for path in directories {
        let _ = operator.delete(&path).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    fn step(root: &Path, action: FolderAction) -> ObjectFolder {
        let options = [("root".to_owned(), root.display().to_string())].into();
        let store = Store { scheme: "fs".to_owned(), options, secrets_variable: None };
        let folder = (action != FolderAction::Survey).then(|| "leadline-objbench-1/".to_owned());
        ObjectFolder { store, action, folder, marker: Some("whose".to_owned()) }
    }

    #[test]
    fn a_folder_is_claimed_found_and_removed_without_a_trace() {
        let root = tempfile::tempdir().unwrap();
        step(root.path(), FolderAction::Claim).perform().unwrap();
        fs::create_dir(root.path().join("leadline-objbench-1/load")).unwrap();
        fs::write(root.path().join("leadline-objbench-1/load/0000000001"), "x").unwrap();
        let found = step(root.path(), FolderAction::Survey).perform().unwrap().folders;
        let wanted = FoundFolder { folder: "leadline-objbench-1/".into(), marker: Some("whose".into()) };
        assert_eq!(found, [wanted]);
        assert_eq!(step(root.path(), FolderAction::Remove).perform().unwrap().removed, 2);
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_others_put_into_the_folder_stays_and_is_named() {
        let root = tempfile::tempdir().unwrap();
        step(root.path(), FolderAction::Claim).perform().unwrap();
        fs::write(root.path().join("leadline-objbench-1/thesis.tex"), "years").unwrap();
        let outcome = step(root.path(), FolderAction::Remove).perform().unwrap();
        assert_eq!((outcome.removed, outcome.foreign), (1, 1));
        assert_eq!(outcome.foreign_names, ["leadline-objbench-1/thesis.tex"]);
        assert_eq!(fs::read(root.path().join("leadline-objbench-1/thesis.tex")).unwrap(), b"years");
    }

    #[test]
    fn a_folder_in_which_something_lies_is_not_claimed() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("leadline-objbench-1")).unwrap();
        fs::write(root.path().join("leadline-objbench-1/data"), "x").unwrap();
        let refusal = step(root.path(), FolderAction::Claim).perform().unwrap_err();
        assert!(refusal.0.contains("holds 1 objects already"), "{refusal}");
        assert!(!root.path().join("leadline-objbench-1/leadline-marker").exists());
    }

    #[test]
    fn a_folder_that_is_not_leadlines_is_refused_by_its_name() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("data")).unwrap();
        for folder in ["data/", "", "leadline-objbench-1/../data/"] {
            let mut remove = step(root.path(), FolderAction::Remove);
            remove.folder = Some(folder.to_owned());
            assert!(remove.perform().unwrap_err().0.contains("leadline's own"), "{folder}");
        }
        assert!(root.path().join("data").is_dir());
    }

    #[test]
    fn a_root_that_is_not_there_is_not_made() {
        let root = tempfile::tempdir().unwrap();
        let missing = root.path().join("missing");
        assert!(step(&missing, FolderAction::Survey).perform().unwrap_err().0.contains("is not a directory"));
        assert!(!missing.exists());
    }
}
