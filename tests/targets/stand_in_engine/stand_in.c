/*
 * A stand-in for 3FS's fio engine (hf3fs_usrbio.so): an external engine for fio with the same option names and the same
 * rhythm, which reads and writes ordinary files below its mountpoint. It shows that leadline reaches such an engine; it says
 * nothing about 3FS.
 *
 * The rhythm, which is what makes iodepth inert there: requests are collected by queue(), and commit() performs the whole
 * batch and waits for it. Only the last batch can be collected by getevents(), whatever fio asks for at least and at most;
 * what an earlier batch held is in flight for ever. So the depth that is kept is the size of the batch.
 *
 * What each job was given and did goes as one line of JSON to the file that LEADLINE_STAND_IN_REPORT names.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fio.h"
#include "optgroup.h"

struct stand_in_options {
	void *never_at_offset_0; /* fio takes an option at offset 0 for one without a place */
	char *mountpoint;
	int ior_depth;
	int ior_timeout;
};

#define OF_ENGINE(option_name, option_type, initially, text)                                                       \
	{                                                                                                          \
		.name = #option_name, .lname = text, .help = text, .type = option_type, .def = initially,          \
		.off1 = offsetof(struct stand_in_options, option_name), .category = FIO_OPT_C_ENGINE,              \
		.group = FIO_OPT_G_INVALID,                                                                        \
	}

static struct fio_option stand_in_options_table[] = {
	OF_ENGINE(mountpoint, FIO_OPT_STR_STORE, "", "where the filesystem is mounted"),
	OF_ENGINE(ior_depth, FIO_OPT_INT, "0", "requests of the ring that are issued together"),
	OF_ENGINE(ior_timeout, FIO_OPT_INT, "1", "longest wait for such a batch, ms"),
	{ .name = NULL },
};

/* Of one job. */
struct state {
	char root[PATH_MAX];
	struct io_u **batch;
	unsigned int waiting; /* collected, not performed */
	unsigned int done; /* performed, not handed back */
	enum fio_ddir direction;
	unsigned long batches;
	unsigned long requests;
	unsigned int largest_batch;
};

static int stand_in_init(struct thread_data *td)
{
	struct stand_in_options *options = td->eo;
	struct state *state = calloc(1, sizeof(*state));

	td->io_ops_data = state;
	if (!options->mountpoint || !*options->mountpoint)
		return -EINVAL;
	if (!realpath(options->mountpoint, state->root))
		return -errno;
	state->batch = calloc(td->o.iodepth, sizeof(*state->batch));
	return state->batch ? 0 : -ENOMEM;
}

static void report(struct thread_data *td, const struct state *state)
{
	const struct stand_in_options *options = td->eo;
	const char *path = getenv("LEADLINE_STAND_IN_REPORT");
	char line[PATH_MAX + 512];
	int length, file;

	if (!path)
		return;
	length = snprintf(line, sizeof(line),
			  "{\"mountpoint\": \"%s\", \"ior_depth\": %d, \"ior_timeout\": %d, \"iodepth\": %u, "
			  "\"iodepth_batch_submit\": %u, \"iodepth_batch_complete_min\": %u, "
			  "\"iodepth_batch_complete_max\": %u, \"batches\": %lu, \"requests\": %lu, "
			  "\"largest_batch\": %u}\n",
			  options->mountpoint, options->ior_depth, options->ior_timeout, td->o.iodepth, td->o.iodepth_batch,
			  td->o.iodepth_batch_complete_min, td->o.iodepth_batch_complete_max, state->batches,
			  state->requests, state->largest_batch);
	file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644); /* one write a line: jobs are processes */
	if (file >= 0) {
		if (write(file, line, length) != length)
			log_err("stand-in: no report could be written to %s\n", path);
		close(file);
	}
}

static void stand_in_cleanup(struct thread_data *td)
{
	struct state *state = td->io_ops_data;

	if (!state)
		return;
	if (state->batch)
		report(td, state);
	free(state->batch);
	free(state);
	td->io_ops_data = NULL;
}

/* There is no flush in this interface: a sync that fio asks for is refused, not swallowed. */
static enum fio_q_status stand_in_queue(struct thread_data *td, struct io_u *io_u)
{
	struct state *state = td->io_ops_data;

	if (io_u->ddir != DDIR_READ && io_u->ddir != DDIR_WRITE) {
		io_u->error = EOPNOTSUPP;
		return FIO_Q_COMPLETED;
	}
	if (state->waiting && (io_u->ddir != state->direction || state->waiting == td->o.iodepth))
		return FIO_Q_BUSY; /* a ring reads or writes, never both */
	state->direction = io_u->ddir;
	state->batch[state->waiting++] = io_u;
	return FIO_Q_QUEUED;
}

static void perform(struct io_u *io_u)
{
	int file = io_u->file->fd;
	ssize_t moved = io_u->ddir == DDIR_READ ? pread(file, io_u->xfer_buf, io_u->xfer_buflen, io_u->offset)
						: pwrite(file, io_u->xfer_buf, io_u->xfer_buflen, io_u->offset);

	io_u->error = moved < 0 ? errno : 0;
	io_u->resid = moved < 0 ? 0 : io_u->xfer_buflen - moved;
}

static int stand_in_commit(struct thread_data *td)
{
	struct state *state = td->io_ops_data;

	if (!state->waiting)
		return 0;
	io_u_mark_submit(td, state->waiting);
	for (unsigned int place = 0; place < state->waiting; place++)
		perform(state->batch[place]);
	state->batches++;
	state->requests += state->waiting;
	if (state->waiting > state->largest_batch)
		state->largest_batch = state->waiting;
	state->done = state->waiting;
	state->waiting = 0;
	return 0;
}

static int stand_in_getevents(struct thread_data *td, unsigned int min, unsigned int max, const struct timespec *until)
{
	struct state *state = td->io_ops_data;
	unsigned int done = min ? state->done : 0;

	state->done -= done;
	return done;
}

static struct io_u *stand_in_event(struct thread_data *td, int event)
{
	struct state *state = td->io_ops_data;

	return state->batch[event];
}

/* Files of another filesystem cannot be registered there; here they are refused by their path. */
static int stand_in_open_file(struct thread_data *td, struct fio_file *file)
{
	struct state *state = td->io_ops_data;
	char path[PATH_MAX];
	size_t root = strlen(state->root);

	if (!realpath(file->file_name, path)) {
		td_verror(td, errno, "realpath");
		return 1;
	}
	if (strncmp(path, state->root, root) || (path[root] != '/' && root > 1)) {
		log_err("stand-in: %s does not lie below mountpoint %s\n", path, state->root);
		td_verror(td, EXDEV, "open");
		return 1;
	}
	file->fd = open(path, td_write(td) ? O_RDWR : O_RDONLY);
	if (file->fd < 0) {
		td_verror(td, errno, "open");
		return 1;
	}
	return 0;
}

static int stand_in_invalidate(struct thread_data *td, struct fio_file *file)
{
	return 0; /* nothing is cached on the way that this stands for */
}

struct ioengine_ops ioengine = {
	.name = "stand_in",
	.version = FIO_IOOPS_VERSION,
	.flags = FIO_NODISKUTIL,
	.init = stand_in_init,
	.queue = stand_in_queue,
	.commit = stand_in_commit,
	.getevents = stand_in_getevents,
	.event = stand_in_event,
	.cleanup = stand_in_cleanup,
	.open_file = stand_in_open_file,
	.close_file = generic_close_file,
	.invalidate = stand_in_invalidate,
	.get_file_size = generic_get_file_size,
	.options = stand_in_options_table,
	.option_struct_size = sizeof(struct stand_in_options),
};
