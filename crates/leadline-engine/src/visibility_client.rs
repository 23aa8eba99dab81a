//! The pipe between a client of the visibility grid and whoever tells it what to do; ends when the instructions end.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use leadline_workloads::visibility;

/// Serves a directory; the document that is left to print is empty, since every reply was printed when it came.
pub fn serve(directory: &Path, instructions: &Path) -> Result<String, String> {
    if !directory.is_absolute() {
        return Err(format!(
            "{} is a relative path; name the directory by its whole path",
            directory.display()
        ));
    }
    let mut lines: Box<dyn BufRead> = if instructions == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        Box::new(BufReader::new(File::open(instructions).map_err(|error| {
            format!("cannot read the instructions from {}: {error}", instructions.display())
        })?))
    };
    visibility::serve(directory, &mut lines, &mut io::stdout().lock())
        .map_err(|refusal| refusal.to_string())?;
    Ok(String::new())
}
