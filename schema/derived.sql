-- Contract 2, second half: the derived tables over all ranks of a run (run.sqlite).
-- Written by the passes of the analyzer, read by reports, viewer, compare and export.
--
-- Times are integer nanoseconds of aligned time: a rank's own time plus
-- rank.clock_offset_ns. Intervals are half-open [begin_ns, end_ns). Names are
-- given as text, so that one file answers every question. `step` is the dense index
-- of run_step; `number` is what the program called the step. Table names differ from
-- those of raw.sql, so that both can be queried together.
-- Every table and column carries a comment: the reference in docs is made of them.

-- Facts about this analysis as key and value; the keys are listed in docs/metrics.md.
CREATE TABLE run_meta (
  key   TEXT PRIMARY KEY,  -- dotted lower-case name, e.g. 'run.ranks_expected'
  value TEXT NOT NULL      -- as text, whatever its type
) STRICT, WITHOUT ROWID;

-- The files that this analysis is made of. Written by passes/run_index.cc.
CREATE TABLE input_file (
  id       INTEGER PRIMARY KEY,  -- order of (rank, attempt, path)
  path     TEXT NOT NULL,        -- relative to the run, or as given for a single file
  rank     INTEGER,              -- global rank found in it, NULL: it could not be read
  attempt  INTEGER,              -- 0 for the first launch of an elastic job, NULL: unreadable
  bytes    INTEGER NOT NULL,     -- size when it was read
  mtime_ns INTEGER NOT NULL,     -- last change when it was read: an older analysis is stale
  state    TEXT NOT NULL CHECK (state IN ('finished', 'partial', 'unreadable')),  -- 'partial': still a .part file
  is_used  INTEGER NOT NULL CHECK (is_used IN (0, 1)),  -- 1: its rows are in the tables below
  note     TEXT NOT NULL         -- why it is not used, '' if it is
) STRICT;

-- The ranks whose traces were analyzed. Written by passes/run_index.cc.
CREATE TABLE rank (
  rank            INTEGER PRIMARY KEY,  -- global rank
  attempt         INTEGER NOT NULL,     -- launch of an elastic job that was analyzed
  input_file_id   INTEGER NOT NULL REFERENCES input_file (id),  -- its trace
  host            TEXT NOT NULL,        -- host name
  boot_id         TEXT,                 -- kernel boot id, NULL unknown
  pid             INTEGER,              -- process id, NULL unknown
  local_rank      INTEGER,              -- rank on its node, NULL unknown
  world_size      INTEGER,              -- ranks of the job as the process was told, NULL unknown
  executable      TEXT,                 -- path of the program, NULL unknown
  device_kind     TEXT NOT NULL CHECK (device_kind IN ('cpu', 'gpu')),  -- what computes: threads or streams
  begin_ns        INTEGER NOT NULL,     -- capture began, or first event
  end_ns          INTEGER NOT NULL,     -- process ended, or last event
  is_finished     INTEGER NOT NULL CHECK (is_finished IN (0, 1)),  -- 1: its end was seen
  exit_status     INTEGER,              -- as a shell tells it, NULL unknown
  clock_domain    INTEGER NOT NULL,     -- ranks of one domain share a clock
  clock_offset_ns INTEGER NOT NULL,     -- aligned time minus the rank's own; exactly 0 within a boot id
  clock_error_ns  INTEGER,              -- bound of the error between this rank and others, NULL unknown
  events          INTEGER NOT NULL,     -- rows of its event tables
  events_lost     INTEGER NOT NULL      -- events that its trace_stat says are missing
) STRICT;

-- What limits the trust in this run: every trace_stat row of every rank, and what the
-- passes noticed. Shown above every report when it is data_loss or error.
CREATE TABLE data_issue (
  id         INTEGER PRIMARY KEY,  -- order from 0
  severity   TEXT NOT NULL CHECK (severity IN ('info', 'notice', 'data_loss', 'error')),  -- how bad it is
  name       TEXT NOT NULL,     -- stable short code, e.g. 'ring_dropped'
  origin     TEXT NOT NULL CHECK (origin IN ('trace', 'analysis')),  -- who noticed it
  source     TEXT NOT NULL,     -- part that noticed it, e.g. 'tracer.ring'
  rank       INTEGER,           -- concerned rank, NULL: the run
  count      INTEGER NOT NULL,  -- how many events, ranks or steps it concerns
  begin_ns   INTEGER,           -- range in aligned time, NULL unknown or everywhere
  end_ns     INTEGER,           -- the same
  first_step INTEGER,           -- steps that the range touches, NULL unknown
  last_step  INTEGER,           -- the same
  detail     TEXT NOT NULL,     -- what was found, in words
  advice     TEXT NOT NULL      -- what to do about it, '' nothing
) STRICT;

-- How each pass went. Written by the runner; times differ between two analyses.
CREATE TABLE pass_run (
  ordinal      INTEGER PRIMARY KEY,  -- order of execution from 0
  name         TEXT NOT NULL,        -- name of the pass = its file in analyzer/passes
  rows_written INTEGER NOT NULL,     -- rows that it added to the tables below
  checks       INTEGER NOT NULL,     -- statements about its rows that were verified after it
  wall_ns      INTEGER NOT NULL      -- time that it took
) STRICT;

-- What computes, communicates or copies on each rank. Written by passes/lanes.cc.
CREATE TABLE lane (
  rank        INTEGER NOT NULL REFERENCES rank (rank),
  kind        TEXT NOT NULL CHECK (kind IN ('thread', 'stream')),  -- what it is
  device_id   INTEGER NOT NULL,  -- GPU of a stream, -1 for threads
  id          INTEGER NOT NULL,  -- thread: tid of the raw tables; stream: stream_id
  role        TEXT NOT NULL CHECK (role IN ('compute', 'communication', 'copy', 'host', 'loader', 'other')),  -- what it does
                                 -- 'host': a training thread of a rank whose streams compute
  reason      TEXT NOT NULL,     -- what decided the role, e.g. 'ran backward functions'
  name        TEXT,              -- thread or stream name, NULL unknown
  events      INTEGER NOT NULL,  -- operators, kernels, copies and collectives on it
  PRIMARY KEY (rank, kind, device_id, id)
) STRICT, WITHOUT ROWID;

-- Steps of the job. Written by passes/step_window.cc.
CREATE TABLE run_step (
  step           INTEGER PRIMARY KEY,  -- dense index in order of time, from 0
  number         INTEGER NOT NULL,     -- as the program numbered it; = step where inferred
  occurrence     INTEGER NOT NULL,     -- 0 the first step with this number, 1 the second, …
  origin         TEXT NOT NULL CHECK (origin IN
                   ('annotate', 'profiler_step', 'nvtx', 'timeline', 'range', 'inferred_optimizer', 'inferred_collective', 'whole_trace')),  -- what marked it, or how it was inferred
  ranks          INTEGER NOT NULL,     -- ranks that have it
  begin_ns       INTEGER NOT NULL,     -- earliest begin of its windows
  end_ns         INTEGER NOT NULL,     -- latest end of its windows
  step_period_ns INTEGER,              -- end_ns minus that of the previous step, NULL for the first and where capture was off in between; telescopes to wall time
  tag            TEXT NOT NULL CHECK (tag IN ('train', 'checkpoint', 'evaluation')),  -- checkpoint and evaluation steps are a series of their own
  is_partial     INTEGER NOT NULL CHECK (is_partial IN (0, 1)),  -- 1: cut off, or missing on a rank
  is_warmup      INTEGER NOT NULL CHECK (is_warmup IN (0, 1)),   -- 1: before the steady state (MSER)
  is_steady      INTEGER NOT NULL CHECK (is_steady = (tag = 'train' AND is_partial = 0 AND is_warmup = 0))  -- 1: counts in medians and totals
) STRICT;

-- The window of each step on each rank. Written by passes/step_window.cc.
CREATE TABLE step_window (
  rank             INTEGER NOT NULL REFERENCES rank (rank),
  step             INTEGER NOT NULL REFERENCES run_step (step),
  begin_ns         INTEGER NOT NULL,  -- max(end of the previous window, host_begin_ns)
  end_ns           INTEGER NOT NULL,  -- max(host_end_ns, end of the last work launched in it)
  host_begin_ns    INTEGER NOT NULL,  -- host enters the step
  host_end_ns      INTEGER NOT NULL,  -- host leaves it
  step_ns          INTEGER NOT NULL CHECK (step_ns = end_ns - begin_ns AND step_ns >= 0),  -- length of the window
  between_steps_ns INTEGER CHECK (between_steps_ns >= 0),  -- begin_ns minus the end of the previous window, NULL for the first and where capture was off in between
  is_partial       INTEGER NOT NULL CHECK (is_partial IN (0, 1)),  -- 1: cut off by the begin or end of the trace
  PRIMARY KEY (step, rank)
) STRICT, WITHOUT ROWID;

-- Where each step's time goes on each rank: exclusive parts in order of precedence
-- that add up to step_ns. Written by passes/step_breakdown.cc.
CREATE TABLE step_breakdown (
  rank                     INTEGER NOT NULL REFERENCES rank (rank),
  step                     INTEGER NOT NULL REFERENCES run_step (step),
  step_ns                  INTEGER NOT NULL,  -- length of the window
  compute_ns               INTEGER NOT NULL CHECK (compute_ns >= 0),                -- a compute lane works
  exposed_comm_transfer_ns INTEGER NOT NULL CHECK (exposed_comm_transfer_ns >= 0),  -- data moves, no compute
  exposed_comm_wait_ns     INTEGER NOT NULL CHECK (exposed_comm_wait_ns >= 0),      -- a collective waits for a late rank, no compute
  exposed_comm_unsplit_ns  INTEGER NOT NULL CHECK (exposed_comm_unsplit_ns >= 0),   -- one of both: the peers' arrivals are not known
  exposed_copy_ns          INTEGER NOT NULL CHECK (exposed_copy_ns >= 0),           -- only memory copies or fills run
  input_wait_ns            INTEGER NOT NULL CHECK (input_wait_ns >= 0),             -- waits for the next batch, nothing above runs
  sync_ns                  INTEGER NOT NULL CHECK (sync_ns >= 0),                   -- host blocked in a synchronisation, nothing above runs
  host_bound_ns            INTEGER NOT NULL CHECK (host_bound_ns >= 0),             -- nothing to do: the host has not launched it yet
  idle_ns                  INTEGER NOT NULL CHECK (idle_ns >= 0),                   -- unexplained
  PRIMARY KEY (step, rank),
  CHECK (compute_ns + exposed_comm_transfer_ns + exposed_comm_wait_ns + exposed_comm_unsplit_ns + exposed_copy_ns
         + input_wait_ns + sync_ns + host_bound_ns + idle_ns = step_ns)
) STRICT, WITHOUT ROWID;

-- Whom a rank waits for: exposed_comm_wait_ns of step_breakdown by the late rank.
-- Written by passes/step_breakdown.cc.
CREATE TABLE step_wait_for (
  step      INTEGER NOT NULL REFERENCES run_step (step),
  rank      INTEGER NOT NULL REFERENCES rank (rank),  -- who waits
  late_rank INTEGER NOT NULL,  -- last to arrive in the collectives that it waits in
  wait_ns   INTEGER NOT NULL CHECK (wait_ns > 0),  -- exposed; each nanosecond is charged to one late rank
  PRIMARY KEY (step, rank, late_rank)
) STRICT, WITHOUT ROWID;

-- Communication and what of it is hidden behind compute. Written by passes/overlap.cc.
CREATE TABLE step_overlap (
  rank       INTEGER NOT NULL REFERENCES rank (rank),
  step       INTEGER NOT NULL REFERENCES run_step (step),
  comm_ns    INTEGER NOT NULL,  -- union of the rank's communication inside the window
  exposed_ns INTEGER NOT NULL CHECK (exposed_ns BETWEEN 0 AND comm_ns),  -- of it, while no compute lane works
  PRIMARY KEY (step, rank)
) STRICT, WITHOUT ROWID;

-- When things go on in the median step (of the steps that count, the one with the median
-- step_period_ns), on each rank. Written by passes/overlap.cc.
CREATE TABLE median_step_span (
  rank     INTEGER NOT NULL REFERENCES rank (rank),
  step     INTEGER NOT NULL REFERENCES run_step (step),  -- the same in every row
  kind     TEXT NOT NULL CHECK (kind IN ('compute', 'comm_transfer', 'comm_wait', 'comm_unsplit', 'copy', 'input_wait', 'sync')),
                              -- what goes on, whatever else does: 'compute' hides what runs under it
  begin_ns INTEGER NOT NULL,  -- inside the step's window
  end_ns   INTEGER NOT NULL,  -- the same
  busy_ns  INTEGER NOT NULL CHECK (busy_ns BETWEEN 1 AND end_ns - begin_ns),  -- of it in fact: less than its length where spans were joined
                              -- across the shortest gaps, to keep them few
  PRIMARY KEY (rank, kind, begin_ns)
) STRICT, WITHOUT ROWID;

-- Communicators over ranks: (backend, uid or global ranks, ordinal), never a local
-- pointer. Written by passes/collective.cc.
CREATE TABLE run_communicator (
  id             INTEGER PRIMARY KEY,  -- order of backend, members, uid, ordinal
  backend        TEXT NOT NULL,        -- 'gloo', 'nccl', …
  uid            TEXT,                 -- the group's own id, NULL unknown
  description    TEXT,                 -- e.g. 'default_pg', NULL unknown
  ordinal        INTEGER NOT NULL,     -- creation order among the communicators of its backend on its lowest rank
  size           INTEGER,              -- ranks in it, NULL unknown
  global_ranks   TEXT,                 -- JSON array of global ranks by group rank, NULL unknown
  members_origin TEXT NOT NULL CHECK (members_origin IN ('told', 'whole_world', 'seen'))  -- how the members are known: told by the group, all ranks, or those that used it
) STRICT;

-- Which communicator row of a rank's file is which of the run. Written by passes/collective.cc.
CREATE TABLE run_communicator_member (
  communicator_id       INTEGER NOT NULL REFERENCES run_communicator (id),
  rank                  INTEGER NOT NULL REFERENCES rank (rank),
  local_communicator_id INTEGER NOT NULL,  -- communicator.id in the rank's file
  group_rank            INTEGER,           -- own rank in the group, NULL unknown
  PRIMARY KEY (rank, local_communicator_id)
) STRICT, WITHOUT ROWID;

-- Collectives matched over ranks. Written by passes/collective.cc.
CREATE TABLE collective (
  id              INTEGER PRIMARY KEY,  -- order of ready time
  communicator_id INTEGER REFERENCES run_communicator (id),  -- NULL unknown: never matched
  sequence        INTEGER,           -- order in the communicator, NULL unknown
  matched_by      TEXT NOT NULL CHECK (matched_by IN ('sequence', 'order', 'none')),  -- 'order': within (group, op, bytes)
  op              TEXT NOT NULL,     -- 'all_reduce', …; of the lowest rank where ranks differ
  dtype           TEXT,              -- 'float32', …, NULL unknown
  bytes           INTEGER,           -- payload of one rank (nccl-tests' count x type size), NULL unknown
  step            INTEGER,           -- step in which the lowest rank enqueued it, NULL none
  ranks_expected  INTEGER NOT NULL,  -- size of the group, or ranks seen where that is unknown
  ranks_seen      INTEGER NOT NULL,  -- ranks with a call
  state           TEXT NOT NULL CHECK (state IN ('complete', 'open', 'peers_missing', 'not_captured', 'hung', 'mismatched')),  -- how far it got
                                     -- 'open': all entered, some had not left when the trace ended; 'peers_missing': no file of a member; 'not_captured': a member's trace lacks it though the member went on;
                                     -- 'hung': a member never entered it; 'mismatched': members differ in op, dtype or bytes
  ready_ns        INTEGER,           -- when data could begin to move (by kind of op), NULL unless complete or mismatched and on one clock
  last_rank       INTEGER,           -- rank whose arrival made it ready, NULL unknown or the op has no common wait
  skew_ns         INTEGER,           -- last arrival minus first, NULL unless complete and on one clock
  transfer_ns     INTEGER,           -- minimum over ranks of the non-negative end - max(arrival, ready), NULL unknown
  duration_ns     INTEGER,           -- minimum over ranks of end - arrival, NULL none ended
  algbw_gb_per_s  REAL,              -- 10^9 bytes per second by transfer_ns; by duration_ns where is_bw_raw
  busbw_gb_per_s  REAL,              -- the same with the factor of nccl-tests; 0 in a group of one
  is_bw_raw       INTEGER NOT NULL CHECK (is_bw_raw IN (0, 1)),  -- 1: bandwidths are of the raw duration, waiting included
  clamped         INTEGER NOT NULL   -- calls whose times contradict each other (ended before all arrived) and were clamped
) STRICT;

-- Each rank's part in a collective. Written by passes/collective.cc.
CREATE TABLE collective_call (
  collective_id INTEGER NOT NULL REFERENCES collective (id),
  rank          INTEGER NOT NULL REFERENCES rank (rank),
  source_id     INTEGER NOT NULL,  -- collective_source.id in the rank's file that gave the times
  step          INTEGER,           -- step in which it was enqueued, NULL none
  enqueue_ns    INTEGER,           -- host hands it to the backend, NULL unknown
  arrival_ns    INTEGER,           -- it begins to run, NULL: it never did
  end_ns        INTEGER,           -- NULL: it did not end before the trace did
  wait_ns       INTEGER,           -- ready - arrival, clamped to [arrival, end); NULL unknown
  transfer_ns   INTEGER,           -- end - max(arrival, ready), NULL unknown; negative is kept here and left out of the minimum
  PRIMARY KEY (collective_id, rank)
) STRICT, WITHOUT ROWID;

-- When gradients were computed and when their communication was enqueued. Written by
-- passes/backward.cc; only steps with backward functions.
CREATE TABLE step_backward (
  rank              INTEGER NOT NULL REFERENCES rank (rank),
  step              INTEGER NOT NULL REFERENCES run_step (step),
  begin_ns          INTEGER NOT NULL,  -- first backward function begins
  first_gradient_ns INTEGER NOT NULL,  -- first gradient was accumulated; = begin_ns if that was not seen
  end_ns            INTEGER NOT NULL,  -- last backward function ends
  compute_ns        INTEGER NOT NULL,  -- compute from first_gradient_ns to end_ns: what could hide communication
  calls             INTEGER NOT NULL,  -- collectives that the step enqueued
  calls_after       INTEGER NOT NULL,  -- of them at or after end_ns
  bytes             INTEGER NOT NULL,  -- payload of those with known bytes
  bytes_after       INTEGER NOT NULL,  -- of them at or after end_ns
  PRIMARY KEY (step, rank)
) STRICT, WITHOUT ROWID;

-- Waits for input of each step and rank. Written by passes/data_wait.cc.
CREATE TABLE step_input (
  rank            INTEGER NOT NULL REFERENCES rank (rank),
  step            INTEGER NOT NULL REFERENCES run_step (step),
  waits           INTEGER NOT NULL,  -- waits that began in the window
  wait_ns         INTEGER NOT NULL,  -- union of the waits inside the window
  longest_ns      INTEGER NOT NULL,  -- longest of those that began in it
  min_queue_depth INTEGER,           -- fewest batches ready when a wait began, NULL unknown
  PRIMARY KEY (step, rank)
) STRICT, WITHOUT ROWID;

-- Data loaders of each rank. Written by passes/data_wait.cc.
CREATE TABLE loader (
  rank             INTEGER NOT NULL REFERENCES rank (rank),
  name             TEXT NOT NULL,     -- as the raw table names it
  waits            INTEGER NOT NULL,  -- finished waits of compute lanes
  wait_ns          INTEGER NOT NULL,  -- sum of them
  p50_wait_ns      INTEGER NOT NULL,  -- lower nearest rank
  p99_wait_ns      INTEGER NOT NULL,  -- the same
  empty_queue_frac REAL,              -- share of the waits that began with no batch ready, NULL unknown
  workers          INTEGER,           -- threads seen loading batches, NULL none were seen (worker processes are not traced)
  p50_load_ns      INTEGER,           -- time a worker takes for a batch, NULL unknown
  PRIMARY KEY (rank, name)
) STRICT, WITHOUT ROWID;

-- Peak of each allocator. Written by passes/memory.cc.
CREATE TABLE memory_peak (
  rank             INTEGER NOT NULL REFERENCES rank (rank),
  device_type      TEXT NOT NULL,     -- 'cpu', 'cuda'
  device_id        INTEGER NOT NULL,  -- -1 for the CPU
  peak_bytes       INTEGER NOT NULL,  -- most bytes allocated at once; for the CPU of those whose allocation was seen
  peak_time_ns     INTEGER NOT NULL,  -- first moment of it
  peak_step        INTEGER,           -- step at that moment, NULL outside
  peak_reserved_bytes INTEGER,        -- most bytes reserved, NULL unknown
  end_bytes        INTEGER NOT NULL,  -- still allocated at the last event
  allocations      INTEGER NOT NULL,  -- events that allocate
  releases         INTEGER NOT NULL,  -- events that release
  allocated_bytes  INTEGER NOT NULL,  -- sum of all allocations: the churn
  ooms             INTEGER NOT NULL,  -- failed allocations
  PRIMARY KEY (rank, device_type, device_id)
) STRICT, WITHOUT ROWID;

-- Allocated bytes over time: at most 512 equal spans of time per allocator. Written by passes/memory.cc.
CREATE TABLE memory_timeline (
  rank        INTEGER NOT NULL REFERENCES rank (rank),
  device_type TEXT NOT NULL,     -- as in memory_peak
  device_id   INTEGER NOT NULL,  -- as in memory_peak
  begin_ns    INTEGER NOT NULL,  -- of the span
  end_ns      INTEGER NOT NULL,  -- the same
  max_bytes   INTEGER NOT NULL,  -- most bytes allocated at a moment of the span
  last_bytes  INTEGER NOT NULL,  -- allocated at its end
  PRIMARY KEY (rank, device_type, device_id, begin_ns)
) STRICT, WITHOUT ROWID;

-- What holds an allocator's memory at its peak, by the stack that allocated it; only where
-- stacks were traced. Written by passes/memory.cc.
CREATE TABLE memory_holder (
  rank        INTEGER NOT NULL REFERENCES rank (rank),
  device_type TEXT NOT NULL,     -- as in memory_peak
  device_id   INTEGER NOT NULL,  -- as in memory_peak
  ordinal     INTEGER NOT NULL,  -- most bytes first, from 0
  bytes       INTEGER NOT NULL,  -- of its blocks that are live at the peak
  blocks      INTEGER NOT NULL,  -- how many these are
  stack       TEXT NOT NULL,     -- innermost frame first, one a line; '' allocated before the trace begins, or untold
  PRIMARY KEY (rank, device_type, device_id, ordinal)
) STRICT, WITHOUT ROWID;

-- What a caching allocator held when a snapshot of it was taken. Written by passes/memory.cc.
CREATE TABLE memory_state (
  rank                  INTEGER NOT NULL REFERENCES rank (rank),
  device_id             INTEGER NOT NULL,  -- its GPU
  segments              INTEGER NOT NULL,  -- pieces of memory from the driver
  reserved_bytes        INTEGER NOT NULL,  -- in them
  allocated_bytes       INTEGER NOT NULL,  -- that the program holds
  pending_bytes         INTEGER NOT NULL,  -- freed, but a stream still uses them
  free_segment_bytes    INTEGER NOT NULL,  -- in segments that nothing lives in: empty_cache() would return them
  inactive_split_bytes  INTEGER NOT NULL,  -- unused parts of segments in use: fragmentation
  inactive_split_blocks INTEGER NOT NULL,  -- how many parts
  largest_free_bytes    INTEGER NOT NULL,  -- largest block that is unused
  PRIMARY KEY (rank, device_id),
  CHECK (allocated_bytes + pending_bytes + free_segment_bytes + inactive_split_bytes = reserved_bytes)
) STRICT, WITHOUT ROWID;

-- Operators and kernels by name. Written by passes/op_stats.cc.
CREATE TABLE op_stats (
  rank           INTEGER NOT NULL REFERENCES rank (rank),
  kind           TEXT NOT NULL CHECK (kind IN ('operator', 'backward', 'user', 'kernel', 'memcpy', 'memset')),  -- what ran
  name           TEXT NOT NULL,     -- of the operator, backward function, user range, kernel or copy kind
  on_compute     INTEGER NOT NULL CHECK (on_compute IN (0, 1)),  -- 1: on compute lanes, 0: on others (loaders, communication)
  category       TEXT,              -- what a kernel, copy or fill does: 'gemm', 'attention', 'convolution', 'normalisation', 'softmax',
                                    -- 'elementwise', 'reduction', 'optimizer', 'layout', 'indexing', 'pooling', 'loss', 'comm_all_reduce', …, 'comm_other', 'copy', 'fill', 'other'; NULL operators
  uses_tensor_cores INTEGER CHECK (uses_tensor_cores IN (0, 1)),  -- 1: its name says so, 0: it could but its name does not say so, NULL: it could not
  count          INTEGER NOT NULL,  -- finished ones in the whole trace
  total_ns       INTEGER NOT NULL,  -- sum of their durations
  self_ns        INTEGER NOT NULL,  -- the same without the spans below them on their thread
  min_ns         INTEGER NOT NULL,  -- shortest
  p50_ns         INTEGER NOT NULL,  -- duration, lower nearest rank
  p90_ns         INTEGER NOT NULL,  -- the same
  p99_ns         INTEGER NOT NULL,  -- the same
  max_ns         INTEGER NOT NULL,  -- longest
  in_steps_count   INTEGER NOT NULL,  -- those that began in a window of a step that counts (steady; where none is, complete; else all); operators beside a GPU: while the host was in one
  in_steps_self_ns INTEGER NOT NULL,  -- self time of those
  PRIMARY KEY (rank, kind, name, on_compute)
) STRICT, WITHOUT ROWID;

-- GPUs of each rank over the whole trace, from the first to the last of their work. Written by
-- passes/device.cc.
CREATE TABLE device_summary (
  rank             INTEGER NOT NULL REFERENCES rank (rank),
  device_id        INTEGER NOT NULL,  -- as the process numbers it
  kernels          INTEGER NOT NULL,  -- with times
  copies           INTEGER NOT NULL,  -- copies and fills with times
  begin_ns         INTEGER NOT NULL,  -- its first work begins
  end_ns           INTEGER NOT NULL,  -- its last work ends
  busy_ns          INTEGER NOT NULL,  -- anything runs; overlapping work counts once
  compute_ns       INTEGER NOT NULL,  -- kernels run that don't communicate
  comm_ns          INTEGER NOT NULL,  -- kernels run that communicate
  copy_ns          INTEGER NOT NULL,  -- copies or fills run
  work_ns          INTEGER NOT NULL,  -- sum of all durations; by busy_ns it is the mean number of things that run at once
  gaps             INTEGER NOT NULL,  -- stretches in which nothing runs
  idle_host_ns     INTEGER NOT NULL CHECK (idle_host_ns >= 0),      -- of them, before the launch call of what ends the gap returned
  idle_launched_ns INTEGER NOT NULL CHECK (idle_launched_ns >= 0),  -- it was launched, but had not begun
  idle_unknown_ns  INTEGER NOT NULL CHECK (idle_unknown_ns >= 0),   -- its launch is not known, or nothing was captured then
  tensor_able_ns   INTEGER NOT NULL,  -- sum of durations of kernels that could use tensor cores: GEMM, attention, convolution
  tensor_core_ns   INTEGER NOT NULL CHECK (tensor_core_ns BETWEEN 0 AND tensor_able_ns),  -- of them, those whose names say that they do
  PRIMARY KEY (rank, device_id),
  CHECK (busy_ns + idle_host_ns + idle_launched_ns + idle_unknown_ns = end_ns - begin_ns)
) STRICT, WITHOUT ROWID;

-- GPUs of each rank and step. Written by passes/device.cc.
CREATE TABLE step_device (
  rank             INTEGER NOT NULL REFERENCES rank (rank),
  step             INTEGER NOT NULL REFERENCES run_step (step),
  device_id        INTEGER NOT NULL,  -- as in device_summary
  step_ns          INTEGER NOT NULL,  -- length of the window
  kernels          INTEGER NOT NULL,  -- that begin in the window
  busy_ns          INTEGER NOT NULL,  -- as in device_summary, inside the window
  compute_ns       INTEGER NOT NULL,  -- the same
  comm_ns          INTEGER NOT NULL,  -- the same
  copy_ns          INTEGER NOT NULL,  -- the same
  idle_host_ns     INTEGER NOT NULL CHECK (idle_host_ns >= 0),      -- the same
  idle_launched_ns INTEGER NOT NULL CHECK (idle_launched_ns >= 0),  -- the same
  idle_unknown_ns  INTEGER NOT NULL CHECK (idle_unknown_ns >= 0),   -- the same
  PRIMARY KEY (step, rank, device_id),
  CHECK (busy_ns + idle_host_ns + idle_launched_ns + idle_unknown_ns = step_ns)
) STRICT, WITHOUT ROWID;

-- Gaps of each stream between its first and its last work. They are not gaps of the GPU:
-- another stream may run. Written by passes/device.cc.
CREATE TABLE stream_idle (
  rank           INTEGER NOT NULL REFERENCES rank (rank),
  device_id      INTEGER NOT NULL,  -- as in lane
  stream_id      INTEGER NOT NULL,  -- as in lane
  work           INTEGER NOT NULL,  -- kernels, copies and fills on it
  busy_ns        INTEGER NOT NULL,  -- union of them
  gaps           INTEGER NOT NULL,  -- stretches between them
  longest_gap_ns INTEGER NOT NULL,  -- longest of these, 0 none
  host_wait_ns   INTEGER NOT NULL CHECK (host_wait_ns >= 0),    -- before the launch call of what ends the gap returned
  kernel_wait_ns INTEGER NOT NULL CHECK (kernel_wait_ns >= 0),  -- launched; another stream of the GPU runs
  latency_ns     INTEGER NOT NULL CHECK (latency_ns >= 0),      -- launched; nothing runs on the GPU
  unknown_ns     INTEGER NOT NULL CHECK (unknown_ns >= 0),      -- the launch is not known
  PRIMARY KEY (rank, device_id, stream_id)
) STRICT, WITHOUT ROWID;

-- How many streams of a GPU work at once. Written by passes/device.cc.
CREATE TABLE stream_concurrency (
  rank      INTEGER NOT NULL REFERENCES rank (rank),
  device_id INTEGER NOT NULL,  -- as in device_summary
  streams   INTEGER NOT NULL,  -- so many streams at once, 0 none
  total_ns  INTEGER NOT NULL,  -- time, over device_summary's span, in which it was so; adds up to it
  PRIMARY KEY (rank, device_id, streams)
) STRICT, WITHOUT ROWID;

-- Kernels, copies and fills of each step by what they do: those that were launched in it, or,
-- where the launch is not known, begin in its window. Written by passes/kernels.cc.
CREATE TABLE step_category (
  rank       INTEGER NOT NULL REFERENCES rank (rank),
  step       INTEGER NOT NULL REFERENCES run_step (step),
  category   TEXT NOT NULL,     -- as in op_stats
  count      INTEGER NOT NULL,  -- how many
  total_ns   INTEGER NOT NULL,  -- sum of their durations
  longest_ns INTEGER NOT NULL,  -- longest of them
  PRIMARY KEY (step, rank, category)
) STRICT, WITHOUT ROWID;

-- The same by name, of the 32 names that take most time on a rank. Others: v_kernel of its file.
-- Written by passes/kernels.cc.
CREATE TABLE step_kernel (
  rank       INTEGER NOT NULL REFERENCES rank (rank),
  step       INTEGER NOT NULL REFERENCES run_step (step),
  name       TEXT NOT NULL,     -- as in op_stats
  count      INTEGER NOT NULL,  -- how many
  total_ns   INTEGER NOT NULL,  -- sum of their durations
  longest_ns INTEGER NOT NULL,  -- longest of them
  PRIMARY KEY (step, rank, name)
) STRICT, WITHOUT ROWID;

-- What keeps kernels from using their GPU in each step, as far as the trace tells: how large they
-- were launched, what ran beside them, what order streams kept. Written by passes/kernel_use.cc.
CREATE TABLE step_kernel_use (
  rank          INTEGER NOT NULL REFERENCES rank (rank),
  step          INTEGER NOT NULL REFERENCES run_step (step),
  known         INTEGER NOT NULL,  -- compute kernels whose blocks, and whose GPU's multiprocessors, are known
  known_ns      INTEGER NOT NULL,  -- sum of their durations
  unfilled_ns   INTEGER NOT NULL CHECK (unfilled_ns BETWEEN 0 AND known_ns),   -- of it, duration * (1 - blocks / multiprocessors) where there are fewer blocks
  last_wave_ns  INTEGER NOT NULL CHECK (last_wave_ns BETWEEN 0 AND known_ns),  -- of it, duration * (1 - w / ceil(w)) of matrix products of w > 1 waves of blocks
  beside_comm   INTEGER NOT NULL,  -- compute kernels that run beside communication for most of their time, and elsewhere without any
  contended_ns  INTEGER NOT NULL CHECK (contended_ns >= 0),   -- sum of their durations less the medians of the same kernels alone
  serialized_ns INTEGER NOT NULL CHECK (serialized_ns >= 0),  -- the shorter of two pieces of work of different streams that only one of the default stream between them keeps from running at once
  PRIMARY KEY (step, rank)
) STRICT, WITHOUT ROWID;

-- Floating-point operations of each step, of operators whose shapes are told. Written by
-- passes/flops.cc.
CREATE TABLE step_flop (
  rank      INTEGER NOT NULL REFERENCES rank (rank),
  step      INTEGER NOT NULL REFERENCES run_step (step),
  operators INTEGER NOT NULL,  -- matrix products and fused attention
  flop      INTEGER NOT NULL CHECK (flop >= 0),  -- additions and multiplications in them: 2 m n k of a product
  PRIMARY KEY (step, rank)
) STRICT, WITHOUT ROWID;

-- Nodes of CUDA graphs over all their launches. Written by passes/kernels.cc.
CREATE TABLE graph_node (
  rank          INTEGER NOT NULL REFERENCES rank (rank),
  graph_node_id INTEGER NOT NULL,  -- as in kernel
  name          TEXT NOT NULL,     -- of its kernel, copy or fill
  count         INTEGER NOT NULL,  -- times that it ran
  total_ns      INTEGER NOT NULL,  -- sum of its durations
  p50_ns        INTEGER NOT NULL,  -- lower nearest rank
  max_ns        INTEGER NOT NULL,  -- longest
  PRIMARY KEY (rank, graph_node_id, name)
) STRICT, WITHOUT ROWID;

-- Calls that launched work on a GPU, by name. Written by passes/launches.cc.
CREATE TABLE launch_stats (
  rank         INTEGER NOT NULL REFERENCES rank (rank),
  name         TEXT NOT NULL,     -- e.g. 'cudaLaunchKernel', 'cudaGraphLaunch'
  calls        INTEGER NOT NULL,  -- calls that launched something: a graph's is one call
  work         INTEGER NOT NULL,  -- kernels, copies and fills that they launched
  host_ns      INTEGER NOT NULL,  -- sum of the calls' durations: the cost of launching
  p50_ns       INTEGER NOT NULL,  -- duration of a call, lower nearest rank
  p99_ns       INTEGER NOT NULL,  -- the same
  p50_delay_ns INTEGER NOT NULL,  -- from the end of a call to the begin of its first work, never negative
  p99_delay_ns INTEGER NOT NULL,  -- the same
  p50_queue_ns INTEGER NOT NULL,  -- of the delay, while earlier work of the stream ran
  p99_queue_ns INTEGER NOT NULL,  -- the same
  skewed       INTEGER NOT NULL,  -- work that seems to begin before its call: clocks of host and GPU differ
  max_skew_ns  INTEGER NOT NULL,  -- by how much at most
  PRIMARY KEY (rank, name)
) STRICT, WITHOUT ROWID;

-- Launches that wait for their stream, over the time of the trace. Written by passes/launches.cc.
CREATE TABLE stream_queue (
  rank           INTEGER NOT NULL REFERENCES rank (rank),
  device_id      INTEGER NOT NULL,  -- as in lane
  stream_id      INTEGER NOT NULL,  -- as in lane
  launches       INTEGER NOT NULL,  -- with a known call
  before_capture INTEGER NOT NULL,  -- work whose call came before the capture began: not in the length
  launch_unknown INTEGER NOT NULL,  -- other work without a known call: not in the length
  max_length     INTEGER NOT NULL,  -- most launches that had not begun
  mean_length    REAL NOT NULL,     -- over time
  p50_length     INTEGER NOT NULL,  -- half of the time it was at most so long
  full_ns        INTEGER NOT NULL,  -- time at 1,024 or more, where a launch call blocks
  PRIMARY KEY (rank, device_id, stream_id)
) STRICT, WITHOUT ROWID;

-- The same over time: at most 512 equal spans of time per stream. Written by passes/launches.cc.
CREATE TABLE queue_timeline (
  rank       INTEGER NOT NULL REFERENCES rank (rank),
  device_id  INTEGER NOT NULL,  -- as in lane
  stream_id  INTEGER NOT NULL,  -- as in lane
  begin_ns   INTEGER NOT NULL,  -- of the span
  end_ns     INTEGER NOT NULL,  -- the same
  max_length INTEGER NOT NULL,  -- most launches that had not begun at a moment of the span
  PRIMARY KEY (rank, device_id, stream_id, begin_ns)
) STRICT, WITHOUT ROWID;

-- Copies and fills by direction. Written by passes/copies.cc.
CREATE TABLE copy_stats (
  rank            INTEGER NOT NULL REFERENCES rank (rank),
  device_id       INTEGER NOT NULL,  -- GPU that ran them
  direction       TEXT NOT NULL,     -- 'HtoD', 'DtoH', 'DtoD', 'PtoP', …; 'memset'
  source          TEXT NOT NULL,     -- kind of memory: 'pageable', 'pinned', 'device'; '' unknown
  destination     TEXT NOT NULL,     -- the same
  count           INTEGER NOT NULL,  -- how many
  in_steps_count    INTEGER NOT NULL,  -- those that began in a window of a step that counts (steady; where none is, complete; else all)
  bytes           INTEGER NOT NULL,  -- sum
  total_ns        INTEGER NOT NULL,  -- sum of their durations
  exposed_ns      INTEGER NOT NULL,  -- union of them while no kernel runs on the GPU
  p50_bytes       INTEGER NOT NULL,  -- size, lower nearest rank
  gb_per_s        REAL,              -- bytes / total_ns; NULL: they took no time
  min_gb_per_s    REAL,              -- of a copy that took time, NULL none
  p50_gb_per_s    REAL,              -- the same, lower nearest rank
  max_gb_per_s    REAL,              -- the same
  PRIMARY KEY (rank, device_id, direction, source, destination)
) STRICT, WITHOUT ROWID;

-- What was worked on in each step, as told by the program. Written by passes/throughput.cc.
CREATE TABLE step_batch (
  rank    INTEGER NOT NULL REFERENCES rank (rank),
  step    INTEGER NOT NULL REFERENCES run_step (step),
  samples INTEGER,  -- this rank's samples, NULL not told
  tokens  INTEGER,  -- this rank's tokens, NULL not told
  PRIMARY KEY (step, rank)
) STRICT, WITHOUT ROWID;

-- What the lateness of a rank costs in a step; only rows that cost something. Written by
-- passes/straggler.cc.
CREATE TABLE step_lateness (
  step           INTEGER NOT NULL REFERENCES run_step (step),
  rank           INTEGER NOT NULL REFERENCES rank (rank),
  late_ns        INTEGER NOT NULL,  -- how much later than the median other rank it handed in (CPU) or began (GPU) its last collective of the step
  others_wait_ns INTEGER NOT NULL,  -- median over the other ranks of their exposed wait for it
  cost_ns        INTEGER NOT NULL CHECK (cost_ns >= others_wait_ns),  -- max(others_wait_ns, min(late_ns, exposed communication of the median other rank))
  PRIMARY KEY (step, rank)
) STRICT, WITHOUT ROWID;

-- Who makes the others wait, over the steps that count (run_metric 'step.basis').
-- Written by passes/straggler.cc.
CREATE TABLE straggler (
  rank          INTEGER PRIMARY KEY REFERENCES rank (rank),
  collectives   INTEGER NOT NULL,  -- complete collectives with a common wait that it was part of
  times_last    INTEGER NOT NULL,  -- of them it arrived last
  own_wait_ns   INTEGER NOT NULL,  -- its own exposed wait
  caused_wait_ns INTEGER NOT NULL, -- exposed wait for it, summed over the other ranks
  cost_ns       INTEGER NOT NULL,  -- bound of its cost per step: mean over steps of step_lateness.cost_ns
  net_cost_ns   INTEGER NOT NULL,  -- the same less the cost of the median other rank in each step: what is not common jitter
  noise_ns      INTEGER NOT NULL,  -- by which net_cost_ns may be off by chance (batches of steps)
  cause         TEXT,              -- part of its breakdown that is longest against the median of the others, NULL none is longer
  cause_ns      INTEGER            -- by how much per step, NULL none
) STRICT;

-- Whom ranks wait for in collectives, and who is behind it: a rank may be late because it waited
-- itself, in a collective that those who wait for it now took no part in. The rows of a rank and
-- step add up to its waits. Written by passes/wait_cause.cc.
CREATE TABLE wait_cause (
  step       INTEGER NOT NULL REFERENCES run_step (step),
  rank       INTEGER NOT NULL REFERENCES rank (rank),  -- who waits
  late_rank  INTEGER NOT NULL,  -- who arrives last in the collective
  cause_rank INTEGER NOT NULL,  -- who made it late: itself, or whom it waited for
  wait_ns    INTEGER NOT NULL CHECK (wait_ns > 0),  -- sum, hidden or not
  PRIMARY KEY (step, rank, late_rank, cause_rank)
) STRICT, WITHOUT ROWID;

-- One value of the run by name: what reports print. Written by passes/summary.cc.
CREATE TABLE run_metric (
  name  TEXT PRIMARY KEY,  -- dotted, unit last, e.g. 'step.median_ns'
  value ANY                -- INTEGER or REAL, NULL not available
) STRICT, WITHOUT ROWID;

-- Parts of the step over the steps that count and all ranks, in order of precedence.
-- Written by passes/summary.cc.
CREATE TABLE part_summary (
  ordinal   INTEGER PRIMARY KEY,  -- order in reports, from 0
  part      TEXT NOT NULL UNIQUE,  -- 'compute', 'exposed_comm_transfer', …
  total_ns  INTEGER NOT NULL,      -- sum; the parts add up to run_metric 'step.total_ns'
  median_ns INTEGER                -- over (step, rank), stands alone: medians don't add up; NULL without such steps
) STRICT;

-- The same for each rank. Written by passes/summary.cc.
CREATE TABLE rank_part_summary (
  rank      INTEGER NOT NULL REFERENCES rank (rank),
  part      TEXT NOT NULL,     -- as in part_summary
  total_ns  INTEGER NOT NULL,  -- sum over its steps that count
  median_ns INTEGER NOT NULL,  -- over the same
  PRIMARY KEY (rank, part)
) STRICT, WITHOUT ROWID;

-- Each rank's steps in short. Written by passes/summary.cc.
CREATE TABLE rank_summary (
  rank           INTEGER PRIMARY KEY REFERENCES rank (rank),
  steps          INTEGER NOT NULL,  -- steps that the figures are made of
  step_median_ns INTEGER,           -- of step_ns, NULL without such steps
  step_p99_ns    INTEGER,           -- the same, lower nearest rank
  step_total_ns  INTEGER NOT NULL,  -- sum of step_ns
  comm_ns        INTEGER NOT NULL,  -- sum of step_overlap.comm_ns
  exposed_ns     INTEGER NOT NULL,  -- sum of step_overlap.exposed_ns
  samples        INTEGER,           -- sum of step_batch.samples, NULL not told
  tokens         INTEGER            -- sum of step_batch.tokens, NULL not told
) STRICT;

-- Collectives by what they are, over the steps that count. Written by passes/summary.cc.
CREATE TABLE collective_summary (
  communicator_id INTEGER NOT NULL,  -- run_communicator.id, -1 unknown
  op              TEXT NOT NULL,     -- as in collective
  dtype           TEXT NOT NULL,     -- as in collective, '' unknown
  bytes           INTEGER NOT NULL,  -- as in collective, -1 unknown; where nearly every call has a size of its own, the mean of those of one power of two
  count           INTEGER NOT NULL,  -- collectives
  complete        INTEGER NOT NULL,  -- of them in state 'complete'
  wait_ns         INTEGER NOT NULL,  -- sum over calls, hidden or not
  transfer_ns     INTEGER NOT NULL,  -- sum over collectives
  p50_wait_ns     INTEGER,           -- of the calls, NULL unknown
  p50_skew_ns     INTEGER,           -- of the collectives, NULL unknown
  p50_transfer_ns INTEGER,           -- the same
  p99_transfer_ns INTEGER,           -- the same
  p50_duration_ns INTEGER,           -- the same
  p50_busbw_gb_per_s REAL,           -- the same
  is_bw_raw       INTEGER NOT NULL CHECK (is_bw_raw IN (0, 1)),  -- 1: some bandwidth is of the raw duration
  PRIMARY KEY (communicator_id, op, dtype, bytes)
) STRICT, WITHOUT ROWID;

-- CUDA and HIP calls of the host by name. Written by passes/calls.cc.
CREATE TABLE call_stats (
  rank         INTEGER NOT NULL REFERENCES rank (rank),
  name         TEXT NOT NULL,     -- e.g. 'cudaMalloc'
  blocks       INTEGER NOT NULL CHECK (blocks IN (0, 1)),  -- 1: it blocks the host until the device has done something
  count        INTEGER NOT NULL,  -- in the whole trace
  total_ns     INTEGER NOT NULL,  -- sum of their durations
  in_steps_count INTEGER NOT NULL,  -- those that began in a window of a step that counts
  in_steps_ns  INTEGER NOT NULL,  -- sum of those
  longest_id   INTEGER,           -- api_call.id of the longest of those, NULL none
  PRIMARY KEY (rank, name)
) STRICT, WITHOUT ROWID;

-- What a collective costs: transfer = latency + bytes on the bus / bandwidth, fitted over the
-- sizes that a communicator moves. Written by passes/comm_fit.cc.
CREATE TABLE comm_fit (
  communicator_id INTEGER NOT NULL REFERENCES run_communicator (id),
  op              TEXT NOT NULL,     -- as in collective
  collectives     INTEGER NOT NULL,  -- complete ones with size and transfer
  sizes           INTEGER NOT NULL,  -- different sizes among them
  latency_ns      INTEGER NOT NULL CHECK (latency_ns >= 0),  -- of one that moves nothing
  bus_gb_per_s    REAL,              -- 10^9 bytes per second on the bus (nccl-tests), NULL: larger ones take no longer
  error_frac      REAL NOT NULL,     -- median over sizes of |fit - median transfer| / median transfer
  PRIMARY KEY (communicator_id, op)
) STRICT, WITHOUT ROWID;

-- What communicators are for, told by their members and what they do. Written by
-- passes/parallelism.cc.
CREATE TABLE parallel_group (
  communicator_id INTEGER PRIMARY KEY REFERENCES run_communicator (id),
  kind            TEXT NOT NULL CHECK (kind IN ('data', 'tensor', 'pipeline', 'expert', 'world', 'other')),  -- kind of parallelism
  reason          TEXT NOT NULL      -- what says so
) STRICT;

-- Pipeline stages in each step. Written by passes/parallelism.cc.
CREATE TABLE pipeline_step (
  step        INTEGER NOT NULL REFERENCES run_step (step),
  rank        INTEGER NOT NULL REFERENCES rank (rank),
  stage       INTEGER NOT NULL,  -- from 0
  stages      INTEGER NOT NULL,  -- of its pipeline
  microbatches INTEGER NOT NULL, -- as counted by its transfers
  step_ns     INTEGER NOT NULL,  -- length of the window
  compute_ns  INTEGER NOT NULL,  -- of it a compute lane works
  bubble_ns   INTEGER NOT NULL CHECK (bubble_ns >= 0),  -- of it neither compute nor exposed communication: the pipeline is not full, or a stage is late
  PRIMARY KEY (step, rank)
) STRICT, WITHOUT ROWID;

-- Steps that take much longer than usual, and where. Written by passes/outliers.cc.
CREATE TABLE step_outlier (
  step       INTEGER PRIMARY KEY REFERENCES run_step (step),
  period_ns  INTEGER NOT NULL,  -- its step_period_ns
  excess_ns  INTEGER NOT NULL,  -- that minus the median of the steps that count
  rank       INTEGER NOT NULL REFERENCES rank (rank),  -- whose part exceeds its own median most
  part       TEXT NOT NULL,     -- which part of the breakdown, or 'between_steps'
  part_ns    INTEGER NOT NULL   -- by how much
) STRICT;

-- How allocated memory grows over the steps that count. Written by passes/memory_trend.cc.
CREATE TABLE memory_trend (
  rank                INTEGER NOT NULL REFERENCES rank (rank),
  device_type         TEXT NOT NULL,     -- as in memory_peak
  device_id           INTEGER NOT NULL,  -- as in memory_peak
  steps               INTEGER NOT NULL,  -- steps with a value
  first_bytes         INTEGER NOT NULL,  -- allocated at the end of the first of them
  last_bytes          INTEGER NOT NULL,  -- allocated at the end of the last
  bytes_per_step      REAL NOT NULL,     -- median slope (Theil-Sen) of what is allocated at a step's end
  rising_frac         REAL NOT NULL CHECK (rising_frac BETWEEN 0 AND 1),  -- share of pairs of steps between which it rises
  capacity_bytes      INTEGER,           -- of the GPU, NULL unknown
  PRIMARY KEY (rank, device_type, device_id)
) STRICT, WITHOUT ROWID;

-- The critical path over ranks: what each step of the replayed ones waited for, each moment
-- once. The rows of a step add up to its period. Written by passes/replay.cc.
CREATE TABLE critical_path (
  step     INTEGER NOT NULL REFERENCES run_step (step),
  rank     INTEGER NOT NULL REFERENCES rank (rank),  -- whose work was waited for
  part     TEXT NOT NULL,     -- 'compute', 'exposed_comm_transfer', 'exposed_comm_unsplit', 'exposed_copy', 'input_wait', 'sync', 'host_bound', 'launch' or 'idle'
  total_ns INTEGER NOT NULL CHECK (total_ns > 0),  -- sum
  PRIMARY KEY (step, rank, part)
) STRICT, WITHOUT ROWID;

-- The same by what ran, over the replayed steps that count: the 64 that take most of it.
-- Written by passes/replay.cc.
CREATE TABLE critical_path_name (
  rank     INTEGER NOT NULL REFERENCES rank (rank),
  part     TEXT NOT NULL,     -- as in critical_path
  name     TEXT NOT NULL,     -- operator, kernel, collective or call
  total_ns INTEGER NOT NULL,  -- sum
  count    INTEGER NOT NULL,  -- how often it was on the path
  PRIMARY KEY (rank, part, name)
) STRICT, WITHOUT ROWID;

-- The path of one replayed step, that of median length. Written by passes/replay.cc.
CREATE TABLE critical_path_piece (
  ordinal  INTEGER PRIMARY KEY,  -- order in time, from 0
  step     INTEGER NOT NULL REFERENCES run_step (step),
  rank     INTEGER NOT NULL REFERENCES rank (rank),
  part     TEXT NOT NULL,     -- as in critical_path
  name     TEXT NOT NULL,     -- what ran, '' nothing
  begin_ns INTEGER NOT NULL,  -- aligned time
  end_ns   INTEGER NOT NULL   -- the next one begins
) STRICT;

-- How long a step would take if something were different, by a replay of the steps' dependency
-- graph over all ranks. Written by passes/replay.cc.
CREATE TABLE what_if (
  scenario TEXT PRIMARY KEY,  -- as `tutti whatif --scenario` takes it; 'unchanged' the run as it was
  step_ns  INTEGER NOT NULL,  -- predicted step, mean over the replayed steps that count
  saved_ns INTEGER NOT NULL   -- that of 'unchanged' minus it; negative: it would be slower
) STRICT, WITHOUT ROWID;

-- What costs time, or went wrong, and what to do about it. Written by passes/findings.cc.
CREATE TABLE finding (
  id         INTEGER PRIMARY KEY,   -- order by cost, from 1; what stopped the job comes first
  kind       TEXT NOT NULL,         -- 'input_wait', 'straggler', 'exposed_comm', 'hang', …: docs/metrics.md lists them
  title      TEXT NOT NULL,         -- one line with the figures
  cost_ns    INTEGER,               -- bound of what its removal saves per step, NULL where it has no such cost
  replayed_ns INTEGER,              -- what a replay of the steps without it saves per step, NULL not replayed
  share      REAL,                  -- cost_ns / run_metric 'step.mean_ns'
  confidence TEXT NOT NULL CHECK (confidence IN ('high', 'medium', 'low')),  -- how sure it is
  reason     TEXT NOT NULL,         -- what the confidence rests on
  cause      TEXT,                  -- part of the breakdown or event behind it, NULL none
  first_step INTEGER,               -- steps in which it was seen
  last_step  INTEGER,               -- the same
  steps_seen INTEGER NOT NULL,      -- how many of them
  formula    TEXT NOT NULL,         -- how cost_ns was computed
  advice     TEXT NOT NULL          -- what to change, with values where the trace tells them
) STRICT;

-- Ranks that a finding names. Written by passes/findings.cc.
CREATE TABLE finding_rank (
  finding_id INTEGER NOT NULL REFERENCES finding (id),
  rank       INTEGER NOT NULL,  -- the cause, not those that suffer from it
  PRIMARY KEY (finding_id, rank)
) STRICT, WITHOUT ROWID;

-- Rows that show a finding. Written by passes/findings.cc.
CREATE TABLE finding_evidence (
  finding_id INTEGER NOT NULL REFERENCES finding (id),
  ordinal    INTEGER NOT NULL,  -- the most telling first, from 0
  rank       INTEGER,           -- whose file or row, NULL the run
  source     TEXT NOT NULL,     -- table that holds the row, raw or derived
  row_id     INTEGER,           -- its id; the step for tables by (step, rank)
  begin_ns   INTEGER,           -- where to look, aligned time
  end_ns     INTEGER,           -- the same
  note       TEXT NOT NULL,     -- what is seen there
  PRIMARY KEY (finding_id, ordinal)
) STRICT, WITHOUT ROWID;

-- Stable views: the public query surface. A minor version only adds columns.

-- Breakdown of the steady steps.
CREATE VIEW v_step_breakdown AS
SELECT s.number, b.*
FROM step_breakdown AS b
JOIN run_step AS s ON s.step = b.step
WHERE s.is_steady = 1;

-- Calls of collectives with what they were part of.
CREATE VIEW v_collective_call AS
SELECT
  c.id AS collective_id, c.communicator_id, c.sequence, c.op, c.dtype, c.bytes, c.state, k.rank, k.step,
  k.enqueue_ns, k.arrival_ns, k.end_ns, c.ready_ns, k.wait_ns, k.transfer_ns, c.skew_ns, c.last_rank
FROM collective AS c
JOIN collective_call AS k ON k.collective_id = c.id;

-- Findings with their ranks as JSON.
CREATE VIEW v_finding AS
SELECT
  f.id, f.kind, f.title, f.cost_ns, f.share, f.confidence, f.cause, f.first_step, f.last_step, f.advice,
  (SELECT json_group_array(r.rank) FROM finding_rank AS r WHERE r.finding_id = f.id) AS ranks  -- JSON array of the ranks it names
FROM finding AS f;
