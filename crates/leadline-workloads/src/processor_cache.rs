//! How much the last-level caches of this machine hold together, as sysfs tells it.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Sums the last-level caches over all sockets and clusters; none when the machine does not say (containers,
/// some virtual machines).
pub fn last_level_cache_bytes() -> Option<u64> {
    last_level_caches_below(Path::new("/sys/devices/system/cpu"))
}

fn last_level_caches_below(processors: &Path) -> Option<u64> {
    let mut caches = HashMap::new();
    for entry in fs::read_dir(processors).ok()?.flatten() {
        if let Some((shared_with, size_bytes)) = last_level(&entry.path().join("cache")) {
            caches.insert(shared_with, size_bytes); // one entry a cache, not one a core
        }
    }
    (!caches.is_empty()).then(|| caches.values().sum())
}

/// The highest level that a core sees: which cores share it, and its size.
fn last_level(core: &Path) -> Option<(String, u64)> {
    let read = |index: &Path, name: &str| fs::read_to_string(index.join(name)).ok();
    let level = |index: &PathBuf| read(index, "level").and_then(|text| text.trim().parse::<u8>().ok());
    let indices = fs::read_dir(core).ok()?.flatten().map(|entry| entry.path());
    let highest = indices.filter(|index| level(index).is_some()).max_by_key(level)?;
    Some((read(&highest, "shared_cpu_list")?, parse_size(&read(&highest, "size")?)?))
}

/// The kernel prints cache sizes as kibibytes: "33792K" (drivers/base/cacheinfo.c).
fn parse_size(text: &str) -> Option<u64> {
    text.trim().strip_suffix('K')?.parse::<u64>().ok().map(|kibibytes| kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn describe_cache(root: &Path, core: u8, level: u8, size: &str, shared_with: &str) {
        let index = root.join(format!("cpu{core}/cache/index{level}"));
        fs::create_dir_all(&index).unwrap();
        fs::write(index.join("level"), format!("{level}\n")).unwrap();
        fs::write(index.join("size"), format!("{size}\n")).unwrap();
        fs::write(index.join("shared_cpu_list"), format!("{shared_with}\n")).unwrap();
    }

    #[test]
    fn a_cache_that_cores_share_is_counted_once_and_lower_levels_are_not() {
        let root = tempfile::tempdir().unwrap();
        for core in 0..4 {
            describe_cache(root.path(), core, 2, "512K", &core.to_string());
            describe_cache(root.path(), core, 3, "2048K", if core < 2 { "0-1" } else { "2-3" });
        }
        assert_eq!(last_level_caches_below(root.path()), Some(2 * 2048 * 1024));
    }

    #[test]
    fn a_machine_that_does_not_say_has_no_known_cache() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(last_level_caches_below(root.path()), None);
    }
}
