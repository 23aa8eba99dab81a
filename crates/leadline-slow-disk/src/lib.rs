//! A disk that takes its time: a file that shows a backing image, and answers each request when a model says so.
//!
//! Where this stands in the flow: a lab lays its loop devices over such a file where a campaign asks for `disk_latency`
//! (python/leadline/run/lab/slow_disks.py); `leadline-engine slow-disk` serves it.
//!
//! The model, [`Model`]: requests queue first come, first served before equal `channels`. A request of n bytes holds one
//! channel for `latency + n / channel_bandwidth`. A flush holds none: it is answered one latency after the last of the
//! writes accepted before it is done. Nothing is drawn: there is no order of seeks and no cache. Real disks have both; this one is for
//! measurements whose truth must be known.
//!
//! The image is read and written when a request is accepted, through the page cache, and the answer waits for its time. A
//! read that the medium below holds up for longer than its service is answered late; no channel is held any longer for it.
//!
//! The crate shares only `fuser` with leadline-delays, which shows whole directories by name and whose delays are
//! the kernel's cache times: here is one file, no name, and nothing is cached.

mod image;
mod outbox;
mod timetable;

use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use fuser::{Config, MountOption, Session, SessionACL};
use nix::libc;

use crate::image::Image;
use crate::outbox::Outbox;
pub use crate::timetable::Model;

/// Threads that take requests: each reads or writes the image, which may wait for the medium below.
const TAKERS: usize = 4;
/// Threads that answer: copying a MiB to the kernel takes longer than the next answer may wait.
const ANSWERERS: usize = 2;

/// A slow disk that is mounted, and whose requests wait until it is served.
pub struct SlowDisk {
    session: Session<Image>,
    outbox: Arc<Outbox>,
}

impl SlowDisk {
    /// Shows an image over another file, which is hidden as long as it is mounted. No thread is started: the process may still fork.
    pub fn mount(image: &Path, point: &Path, model: Model) -> io::Result<Self> {
        prepare_this_thread()?;
        let file = OpenOptions::new().read(true).write(true).open(image)?;
        let outbox = Arc::new(Outbox::default());
        let mut config = Config::default();
        config.mount_options = vec![MountOption::FSName("leadline-slow-disk".to_string())];
        config.acl = SessionACL::Owner;
        config.n_threads = Some(TAKERS);
        let shown = Image::new(file, model, Arc::clone(&outbox))?;
        Ok(Self { session: Session::new(shown, point, &config)?, outbox })
    }

    /// Serves until it is unmounted.
    pub fn serve(self) -> io::Result<()> {
        let Self { session, outbox } = self;
        thread::scope(|scope| {
            for _ in 0..ANSWERERS {
                scope.spawn(|| outbox.answer_until_closed());
            }
            let served = session.run();
            outbox.close();
            served
        })
    }
}

/// What the threads inherit: timers without slack, or every answer is 50 us late. Where we may, also the processor before all others,
/// since a disk does not slow down when servers and clients are busy; and memory that is found without waiting for a filesystem
/// that may lie on this very disk. Refused, answers are later on a busy machine, and memory runs out earlier.
fn prepare_this_thread() -> io::Result<()> {
    nix::sys::prctl::set_timerslack(1)?;
    let first_of_all = libc::sched_param { sched_priority: 1 };
    // SAFETY: the calls take numbers and a structure that outlives them (sched_setscheduler(2), prctl(2)).
    unsafe {
        libc::sched_setscheduler(0, libc::SCHED_RR, &first_of_all);
        libc::prctl(PR_SET_IO_FLUSHER, 1_u64, 0_u64, 0_u64, 0_u64);
    }
    Ok(())
}

/// prctl(2), since Linux 5.6.
const PR_SET_IO_FLUSHER: i32 = 57;
