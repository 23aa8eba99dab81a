//! Names inside a folder of leadline's own, and which of the names found there are its own.

/// Says whose folder it is; made first and removed last.
pub const MARKER: &str = "leadline-marker";
/// Objects of a load.
pub const LOAD: &str = "load/";
/// Objects of the functional checks.
pub const CHECKS: &str = "checks/";
/// A name that is hard to write. Some servers do not list it as it was given, so it is removed by its name.
pub const SPECIAL: &str = "测试编码文件{\"name\":\"leadline\"}\u{1f}%uFF081%uFF09.jpg";
/// Every folder of leadline's begins so.
pub const FOLDER_PREFIX: &str = "leadline-objbench-";

/// Whether a folder may be leadline's: one level, its own beginning.
pub fn is_folder(folder: &str) -> bool {
    let Some(rest) = folder.strip_prefix(FOLDER_PREFIX).and_then(|rest| rest.strip_suffix('/')) else {
        return false;
    };
    !rest.is_empty() && rest.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-')
}

/// Whether leadline makes objects of that name, which is counted from the folder on.
pub fn is_own(name: &str) -> bool {
    name == MARKER || name.starts_with(LOAD) || name.starts_with(CHECKS)
}

/// The name of an object of a load.
pub fn object(folder: &str, number: u64) -> String {
    format!("{folder}{LOAD}{number:010}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_one_level_deep_with_leadlines_beginning_are_its_own() {
        assert!(is_folder("leadline-objbench-7f3a/"));
        for other in
            ["leadline-objbench-/", "leadline-objbench-a", "leadline-objbench-a/b/", "data/", "", "../"]
        {
            assert!(!is_folder(other), "{other}");
        }
    }

    #[test]
    fn what_somebody_else_puts_into_the_folder_is_foreign() {
        assert!(is_own("load/0000000001") && is_own("leadline-marker") && is_own("checks/a b"));
        assert!(!is_own("thesis.tex") && !is_own("loads"));
    }
}
