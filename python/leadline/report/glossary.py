"""One line a term: what a reader of the report may look up without leaving it."""

GLOSSARY = {
    "campaign": "what was asked for: axes, fixed settings, load; the plan is made from it",
    "step": "one start of an engine; a cell with three repeats takes three steps",
    "cell": "one combination of test, block size, iodepth, numjobs and the other settings",
    "iodepth": "operations that each job keeps in flight",
    "numjobs": "jobs (processes) that run at the same time",
    "concurrency": "iodepth x numjobs: operations offered at the same time",
    "bandwidth": "bytes of all jobs together over the time of the slowest job; GiB/s = 2^30 bytes a second",
    "IOPS": "operations of all jobs together a second",
    "mean latency": "total latency, from handing an operation over until it is done (submission and completion)",
    "p50, p90, p99, p99.9": "the latency that this share of operations does not exceed, from merged histograms, never averaged",
    "clat": "fio's completion latency: from the end of the submission until the operation is done",
    "interval": "95 % interval of the figure; its method and n stand beside it",
    "n": "what the interval rests on: repeats, batches of a series, or samples for percentiles",
    "knee": "N90: the smallest load that reaches 90 % of the peak throughput, interpolated between measured loads",
    "onset": "N*: the load where queueing begins, peak throughput over throughput at load 1",
    "censored": "throughput still grew by more than 10 % at the last doubling: the peak may lie beyond",
    "noise floor": "the largest difference of equal runs on this machine (A/A) from their median",
    "verdict": "why a figure is not valid; a cell without one is valid",
}

VERDICTS = {
    "impossible": "faster than the smallest limit on its path, or the bytes did not show at the device",
    "cached": "answered from a cache instead of the storage under test",
    "generator-bound": "the load generator itself was the limit",
    "unsteady": "throughput drifted inside the window",
    "too few samples": "fewer than about 100/(1-p) samples for percentile p",
    "inert axis": "the engine did not keep the depth that was asked for (Little's law)",
    "collapsed": "throughput fell more than 15 % below the peak at a higher load",
    "unlike repeats": "repeats differ more than this machine differs from itself",
    "not overlapping": "jobs ran together for less than 95 % of the window",
    "incomplete": "a job, a repeat or the final flush is missing",
}
