//! The system calls of the metadata load in the plainest loop there is, with nothing recorded: what a program could
//! reach that does nothing but work. Files in one directory, full paths, one clock read a phase.
//!
//! `bare_metadata_loop DIRECTORY FILES [RANK]` prints, as JSON, operations a second of each phase, and the same for
//! each second of its own processor time, which what else runs on the machine disturbs less. The files are gone
//! afterwards. benchmarks/metadata_against_bare_loop.py puts it beside the engine.

use std::ffi::c_char;
use std::mem::MaybeUninit;
use std::time::Instant;

use nix::libc;
use nix::time::{clock_gettime, ClockId};

/// A path whose last digits count upwards.
struct Path {
    bytes: Vec<u8>,
    number_at: usize,
}

impl Path {
    fn set(&mut self, mut number: u64) -> *const c_char {
        let mut digits = [0; 20];
        let mut first = digits.len();
        loop {
            first -= 1;
            digits[first] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        self.bytes.truncate(self.number_at);
        self.bytes.extend_from_slice(&digits[first..]);
        self.bytes.push(0);
        self.bytes.as_ptr().cast()
    }
}

fn timed(word: &str, files: u64, path: &mut Path, call: impl Fn(*const c_char) -> bool) -> String {
    let (begun, processor_seconds_before) = (Instant::now(), processor_seconds());
    let failed = (0..files).filter(|&number| !call(path.set(number))).count();
    let seconds = begun.elapsed().as_secs_f64();
    let processor_seconds = processor_seconds() - processor_seconds_before;
    assert_eq!(failed, 0, "{word} failed");
    let files = files as f64;
    format!("\"{word}\": {}, \"{word} by processor\": {}", files / seconds, files / processor_seconds)
}

fn processor_seconds() -> f64 {
    let time = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).expect("every process has one");
    time.tv_sec() as f64 + time.tv_nsec() as f64 / 1e9
}

fn open_and_close(path: *const c_char, flags: i32) -> bool {
    // SAFETY: the path ends with a zero byte; the descriptor is closed once.
    unsafe {
        let file = libc::open(path, flags | libc::O_CLOEXEC, 0o664);
        file >= 0 && libc::close(file) == 0
    }
}

fn stat(path: *const c_char) -> bool {
    let mut attributes = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the path ends with a zero byte, and there is room for what is written.
    unsafe { libc::stat(path, attributes.as_mut_ptr()) == 0 }
}

fn unlink(path: *const c_char) -> bool {
    // SAFETY: the path ends with a zero byte.
    unsafe { libc::unlink(path) == 0 }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let files = arguments[2].parse().expect("FILES is a number");
    let rank = arguments.get(3).map_or("0", String::as_str);
    // As deep and as long as the engine's paths: the kernel walks all of it in every call.
    let directory = format!("{}/test-dir.0-0/mdtest_tree.{rank}.0", arguments[1]);
    std::fs::create_dir_all(&directory).expect("DIRECTORY can be written to");
    let bytes = format!("{directory}/file.mdtest.{rank}.").into_bytes();
    let mut path = Path { number_at: bytes.len(), bytes };
    let told = [
        timed("create", files, &mut path, |path| {
            open_and_close(path, libc::O_CREAT | libc::O_EXCL | libc::O_RDWR)
        }),
        timed("stat", files, &mut path, stat),
        timed("read", files, &mut path, |path| open_and_close(path, libc::O_RDONLY)),
        timed("remove", files, &mut path, unlink),
    ];
    let _ = std::fs::remove_dir(&directory);
    let _ = std::fs::remove_dir(format!("{}/test-dir.0-0", arguments[1]));
    println!("{{{}}}", told.join(", "));
}
