//! Trees made and removed: always by full paths and one call at a time, because a directory has to be there before
//! anything in it can be made.

use nix::libc;

use crate::failures::Failure;
use crate::metadata::drive::DIRECTORY_MODE;
use crate::metadata::phases::Action;
use crate::metadata::plan::Plan;
use crate::metadata::recorder::Recorder;

/// Makes or removes the trees that are this rank's business: its own, or, when all share them, everybody's if it
/// is rank 0. Returns how many directories that are.
pub fn perform(plan: &Plan, iteration: u32, rank: u32, action: Action, recorder: &mut Recorder<'_>) -> u64 {
    let layout = &plan.layout;
    if rank > 0 && !layout.unique {
        return 0;
    }
    let mut path = Vec::with_capacity(libc::PATH_MAX as usize);
    let mut each = |tree: u32, node: u32| {
        path.clear();
        layout.write_node(&mut path, iteration, tree, rank, node);
        path.push(0);
        recorder.done(make_or_remove(action, &path));
    };
    for tree in 0..layout.trees {
        match action {
            Action::Remove => plan.nodes_depth_first.iter().rev().for_each(|&node| each(tree, node)),
            _ => plan.nodes_depth_first.iter().for_each(|&node| each(tree, node)),
        }
    }
    u64::from(layout.trees) * plan.nodes_depth_first.len() as u64
}

/// `path` ends with a zero byte.
fn make_or_remove(action: Action, path: &[u8]) -> Result<(), Failure> {
    let path = path.as_ptr().cast();
    let answer = match action {
        // SAFETY: the path ends with a zero byte and outlives the call.
        Action::Remove => unsafe { libc::rmdir(path) },
        // SAFETY: as above.
        _ => unsafe { libc::mkdir(path, DIRECTORY_MODE) },
    };
    match answer {
        0 => Ok(()),
        _ => Err(Failure::last()),
    }
}
