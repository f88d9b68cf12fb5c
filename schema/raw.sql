-- Contract 2, first half: the raw tables of one rank's trace (rank-00007.sqlite).
-- Written by the collector and the importers, read by everything after them.
--
-- Times are integer nanoseconds since the Unix epoch on the rank's own monotonic
-- clock (one realtime anchor, then CLOCK_MONOTONIC_RAW); intervals are half-open
-- [begin_ns, end_ns). end_ns is NULL for what was still open when the trace ended.
-- Columns that end in _id name a row of `string` unless a reference says otherwise.
-- Every table and column carries a comment: the reference in docs is made of them.
-- What was added since version 1 is listed in additions.cc, so that older files still open.

-- Facts about this file as key and value; the keys are listed in docs/schema.md.
CREATE TABLE meta (
  key   TEXT PRIMARY KEY,  -- dotted lower-case name, e.g. 'tutti.version'
  value TEXT NOT NULL      -- as text, whatever its type
) STRICT, WITHOUT ROWID;

-- Each text that other tables refer to, once.
CREATE TABLE string (
  id   INTEGER PRIMARY KEY,  -- chosen by the writer; 0 is the empty string
  text TEXT NOT NULL         -- UTF-8; invalid input bytes were replaced by U+FFFD
) STRICT;

-- Files of other tools that this trace was imported from. Empty in a recorded file.
CREATE TABLE import_source (
  id             INTEGER PRIMARY KEY,  -- unique in this file
  path           TEXT NOT NULL,        -- as it was given; of an archive 'archive!member'
  format         TEXT NOT NULL,        -- 'kineto', 'nsys', 'flight_recorder', 'memory_snapshot', 'straggler_study'
  format_version TEXT,                 -- as the file tells, NULL untold
  producer       TEXT,                 -- program and version that wrote it, NULL untold
  bytes          INTEGER NOT NULL,     -- size of the file
  events_read    INTEGER NOT NULL,     -- events of the file that became rows
  events_skipped INTEGER NOT NULL      -- events that did not; trace_stat says which and why
) STRICT;

-- The operating-system process that was this rank. One row in a recorded file.
CREATE TABLE process (
  pid           INTEGER PRIMARY KEY,  -- as its own pid namespace numbers it
  parent_pid    INTEGER,              -- the same for its parent
  host          TEXT NOT NULL,        -- host name
  boot_id       TEXT,                 -- kernel boot id: equal boot ids share a clock
  rank          INTEGER,              -- global rank, NULL unknown
  local_rank    INTEGER,              -- rank on its node, NULL unknown
  world_size    INTEGER,              -- ranks of the job as this process was told, NULL unknown
  rank_source   TEXT,                 -- variable or origin that gave the rank, e.g. 'RANK'
  attempt       INTEGER NOT NULL,     -- 0 for the first launch of an elastic job
  run_id        TEXT,                 -- identity of the job, e.g. 'MASTER_ADDR:PORT'
  executable    TEXT,                 -- path of the program
  promoted_by   TEXT,                 -- what made it a rank, e.g. 'annotate'
  torch_version TEXT,                 -- NULL where no torch was seen
  begin_ns      INTEGER,              -- when capture began
  end_ns        INTEGER,              -- when the process was seen to have ended; NULL if it was not
  exit_status   INTEGER,              -- wait status decoded as a shell does (128+n for signal n), NULL unknown
  cpu_user_ns   INTEGER,              -- CPU time at the end, user mode, NULL unknown
  cpu_system_ns INTEGER               -- CPU time at the end, kernel mode, NULL unknown
) STRICT;

-- Threads that wrote events.
CREATE TABLE thread (
  tid         INTEGER PRIMARY KEY,  -- kernel thread id; of two threads with one id in turn, the later gets a new negative id
  kernel_tid  INTEGER NOT NULL,     -- kernel thread id
  name        TEXT,                 -- as the kernel knows it
  role        TEXT,                 -- 'main', 'autograd', 'gloo', 'loader' or NULL: what it was seen doing
  torch_tid   INTEGER,              -- torch's own thread number, NULL none
  begin_ns    INTEGER,              -- first event
  end_ns      INTEGER               -- last event
) STRICT;

-- GPUs of this process. Empty for CPU training.
CREATE TABLE device (
  id           INTEGER PRIMARY KEY,  -- index as the process numbers it
  name         TEXT NOT NULL,        -- product name; 'GPU <id>': not told
  uuid         TEXT,                 -- as the driver tells it
  sm_count     INTEGER,              -- streaming multiprocessors
  memory_bytes INTEGER,              -- device memory
  compute_capability TEXT,           -- e.g. '9.0'
  warp_size            INTEGER,      -- threads that run in lockstep
  max_threads_per_sm   INTEGER,      -- resident at once
  registers_per_sm     INTEGER,      -- of 32 bits
  shared_bytes_per_sm  INTEGER       -- shared memory
) STRICT;

-- Streams of the GPUs.
CREATE TABLE stream (
  device_id INTEGER NOT NULL REFERENCES device (id),  -- its GPU
  stream_id INTEGER NOT NULL,                         -- as the driver numbers it
  name      TEXT,                                     -- given by the program, NULL none
  priority  INTEGER,                                  -- CUDA priority, NULL unknown
  PRIMARY KEY (device_id, stream_id)
) STRICT, WITHOUT ROWID;

-- Process groups and NCCL communicators as this rank knows them.
CREATE TABLE communicator (
  id          INTEGER PRIMARY KEY,  -- unique in this file
  backend     TEXT NOT NULL,        -- 'gloo', 'nccl', …
  uid         TEXT,                 -- the group's own id (torch: pg_uid; NCCL: hash), NULL unknown
  description TEXT,                 -- torch: pg_desc, e.g. 'default_pg'
  ordinal     INTEGER NOT NULL,     -- creation order in this process among those of its backend, from 0
  group_rank  INTEGER,              -- own rank in the group
  group_size  INTEGER,              -- ranks in the group
  global_ranks TEXT,                -- JSON array of global ranks by group rank, NULL unknown
  last_enqueued_sequence  INTEGER,  -- of the last call that the host had made, collective or point-to-point; NULL untold
  last_started_sequence   INTEGER,  -- of the last that had begun; NULL untold
  last_completed_sequence INTEGER   -- of the last that was done; NULL untold
) STRICT;

-- Training steps as marked by the program.
CREATE TABLE step (
  id       INTEGER PRIMARY KEY,  -- order in time, from 0
  number   INTEGER NOT NULL,     -- as annotated by the program
  tid      INTEGER NOT NULL REFERENCES thread (tid),  -- thread that marked it
  begin_ns INTEGER NOT NULL,     -- host enters the step
  end_ns   INTEGER,              -- host leaves it; NULL still open
  origin   TEXT NOT NULL         -- 'annotate', 'profiler_step', 'nvtx': which convention marked it
) STRICT;

-- Ranges that the program, its framework or a library named (NVTX, annotations).
CREATE TABLE range (
  id          INTEGER PRIMARY KEY,  -- unique in this file
  tid         INTEGER NOT NULL REFERENCES thread (tid),  -- thread that began it
  end_tid     INTEGER REFERENCES thread (tid),  -- thread that ended it, where that is another
  kind        TEXT NOT NULL CHECK (kind IN ('push_pop', 'start_end', 'mark')),  -- how it was marked
  domain_id   INTEGER NOT NULL,  -- NVTX domain, 0 the default one
  category    INTEGER NOT NULL,  -- number in the domain, 0 none
  category_id INTEGER NOT NULL,  -- its name, 0 none
  name_id     INTEGER NOT NULL,  -- message
  begin_ns    INTEGER NOT NULL,  -- it begins
  end_ns      INTEGER,           -- = begin_ns for marks; NULL still open
  depth       INTEGER NOT NULL,  -- ranges below it on this thread in this domain
  argb        INTEGER,           -- colour, NULL none
  payload     ANY                -- number given with it, or JSON text of an extended payload; NULL none
) STRICT;

-- Ranges that another tool projected onto a GPU's stream: from the first to the last of the
-- work that was launched inside.
CREATE TABLE gpu_range (
  id        INTEGER PRIMARY KEY,  -- unique in this file
  device_id INTEGER NOT NULL,     -- its GPU
  stream_id INTEGER NOT NULL,     -- its stream on that GPU
  name_id   INTEGER NOT NULL,     -- as the program named it
  begin_ns  INTEGER NOT NULL,     -- first of its work starts
  end_ns    INTEGER NOT NULL      -- last of its work ends
) STRICT;

-- Phases of a step (forward, backward, optimizer, checkpoint, evaluation, data).
CREATE TABLE phase (
  id       INTEGER PRIMARY KEY,  -- unique in this file
  tid      INTEGER NOT NULL REFERENCES thread (tid),  -- thread that marked it
  phase    TEXT NOT NULL,     -- 'forward', 'backward', 'optimizer', 'checkpoint', 'evaluation', 'data'
  begin_ns INTEGER NOT NULL,  -- host enters the phase
  end_ns   INTEGER,           -- host leaves it; NULL still open
  origin   TEXT NOT NULL      -- which convention marked it
) STRICT;

-- Operators, autograd functions and user ranges of torch (RecordFunction).
CREATE TABLE cpu_op (
  id          INTEGER PRIMARY KEY,  -- unique in this file
  tid         INTEGER NOT NULL REFERENCES thread (tid),  -- thread on which it began
  name_id     INTEGER NOT NULL,  -- e.g. 'aten::addmm'
  scope       INTEGER NOT NULL,  -- at::RecordScope: 0 function, 1 backward function, 7 user
  begin_ns    INTEGER NOT NULL,  -- it is called
  end_ns      INTEGER,           -- it returns; NULL still open
  depth       INTEGER NOT NULL,  -- spans open below it on its thread
  sequence_nr INTEGER,           -- autograd sequence number; forward and backward share it
  torch_tid   INTEGER,           -- torch's number of the calling thread
  forward_tid INTEGER,           -- backward functions: torch_tid of the forward
  shapes_id   INTEGER NOT NULL,  -- input shapes as text, 0 not captured
  end_tid     INTEGER REFERENCES thread (tid),  -- asynchronous ones: thread on which it ended, else NULL
  external_id INTEGER            -- number by which device work names it, NULL none
) STRICT;

-- Calls of Python functions, as the PyTorch profiler's with_stack records them.
CREATE TABLE python_call (
  id               INTEGER PRIMARY KEY,  -- unique in this file
  tid              INTEGER NOT NULL REFERENCES thread (tid),  -- thread that ran it
  name_id          INTEGER NOT NULL,     -- e.g. 'train.py(88): step' or 'nn.Module: Linear_0'
  begin_ns         INTEGER NOT NULL,     -- it is called
  end_ns           INTEGER,              -- it returns; NULL still open
  depth            INTEGER NOT NULL,     -- Python calls open below it on its thread
  python_id        INTEGER,              -- the profiler's number of the call, NULL none
  parent_python_id INTEGER               -- that of its caller, NULL none
) STRICT;

-- CUDA runtime and driver calls.
CREATE TABLE api_call (
  id             INTEGER PRIMARY KEY,  -- unique in this file
  tid            INTEGER NOT NULL REFERENCES thread (tid),  -- thread that called
  name_id        INTEGER NOT NULL,  -- e.g. 'cudaLaunchKernel'
  begin_ns       INTEGER NOT NULL,  -- the call begins
  end_ns         INTEGER,           -- it returns; NULL still open
  correlation_id INTEGER NOT NULL,  -- of the device work it launched
  return_value   INTEGER,           -- error code, 0 success
  external_id    INTEGER,           -- cpu_op.external_id of the operator that called, NULL unknown
  api            TEXT               -- 'runtime' or 'driver', NULL unknown
) STRICT;

-- Kernels on a GPU. begin_ns is NULL where the driver gave no time (untimed).
CREATE TABLE kernel (
  id             INTEGER PRIMARY KEY,  -- unique in this file
  device_id      INTEGER NOT NULL,  -- its GPU
  context_id     INTEGER,           -- CUDA context, NULL unknown
  stream_id      INTEGER NOT NULL,  -- its stream on that GPU
  name_id        INTEGER NOT NULL,  -- demangled
  begin_ns       INTEGER,           -- starts on the device, NULL untimed
  end_ns         INTEGER,           -- ends there, NULL untimed
  correlation_id INTEGER,           -- of the launch; shared by all nodes of a graph launch
  graph_node_id  INTEGER,           -- node of a CUDA graph, NULL outside graphs
  grid_x INTEGER, grid_y INTEGER, grid_z INTEGER,     -- blocks
  block_x INTEGER, block_y INTEGER, block_z INTEGER,  -- threads
  registers_per_thread INTEGER,     -- NULL unknown
  static_shared_bytes  INTEGER,     -- shared memory per block fixed at compile time
  dynamic_shared_bytes INTEGER,     -- shared memory per block asked for at launch
  local_bytes_per_thread INTEGER,   -- local memory, where registers spill to
  cluster_size   INTEGER,           -- thread blocks per cluster, NULL none
  queued_ns      INTEGER,           -- put into the command buffer, NULL unknown
  submitted_ns   INTEGER,           -- submitted to the device, NULL unknown
  channel_id     INTEGER,           -- hardware channel, NULL unknown
  external_id    INTEGER            -- cpu_op.external_id of the operator it belongs to, NULL unknown
) STRICT;

-- Copies to, from and between GPUs.
CREATE TABLE memcpy (
  id             INTEGER PRIMARY KEY,  -- unique in this file
  device_id      INTEGER NOT NULL,  -- GPU that runs it
  stream_id      INTEGER NOT NULL,  -- its stream on that GPU
  begin_ns       INTEGER,           -- starts on the device, NULL untimed
  end_ns         INTEGER,           -- ends there, NULL untimed
  bytes          INTEGER NOT NULL,  -- copied
  copy_kind      TEXT NOT NULL,  -- 'HtoD', 'DtoH', 'DtoD', 'PtoP', …
  source_kind    TEXT,           -- 'pageable', 'pinned', 'device', …
  destination_kind TEXT,         -- the same
  is_async       INTEGER,        -- 1 asynchronous call
  peer_device_id INTEGER,        -- PtoP: the destination
  correlation_id INTEGER,        -- of the call, NULL unknown
  graph_node_id  INTEGER         -- node of a CUDA graph, NULL outside graphs
) STRICT;

-- Fills of GPU memory.
CREATE TABLE memset (
  id             INTEGER PRIMARY KEY,  -- unique in this file
  device_id      INTEGER NOT NULL,  -- GPU that runs it
  stream_id      INTEGER NOT NULL,  -- its stream on that GPU
  begin_ns       INTEGER,           -- starts on the device, NULL untimed
  end_ns         INTEGER,           -- ends there, NULL untimed
  bytes          INTEGER NOT NULL,  -- filled
  value          INTEGER,           -- they are filled with, NULL unknown
  correlation_id INTEGER,           -- of the call, NULL unknown
  graph_node_id  INTEGER            -- node of a CUDA graph, NULL outside graphs
) STRICT;

-- The host (or a stream) waits for a GPU.
CREATE TABLE sync (
  id             INTEGER PRIMARY KEY,  -- unique in this file
  kind           TEXT NOT NULL,  -- 'event', 'stream_wait_event', 'stream', 'context'
  device_id      INTEGER,        -- GPU waited for, NULL unknown
  stream_id      INTEGER,        -- stream that waits or is waited for, NULL: all streams
  event_id       INTEGER,        -- CUDA event, NULL none
  event_sync_id  INTEGER,        -- pairs a wait with the record it waits for
  begin_ns       INTEGER,        -- the wait begins, NULL untimed
  end_ns         INTEGER,        -- it ends, NULL untimed
  correlation_id INTEGER         -- of the call, NULL unknown
) STRICT;

-- Time that profiling itself, the driver or the runtime took: full buffers, lazy loading,
-- compilation.
CREATE TABLE overhead (
  id        INTEGER PRIMARY KEY,  -- unique in this file
  kind_id   INTEGER NOT NULL,     -- e.g. 'Buffer Flush', 'Lazy Function Loading'
  tid       INTEGER REFERENCES thread (tid),  -- thread that it stopped, NULL unknown
  device_id INTEGER,              -- its GPU, NULL none
  begin_ns  INTEGER NOT NULL,     -- it begins
  end_ns    INTEGER NOT NULL      -- it ends
) STRICT;

-- Arrows between two events that the file of another tool draws. An end without a partner
-- is counted in trace_stat.
CREATE TABLE flow (
  id              INTEGER PRIMARY KEY,  -- unique in this file
  kind            TEXT NOT NULL CHECK (kind IN ('forward_backward', 'launch', 'other')),  -- what it links
  name_id         INTEGER NOT NULL,     -- its name in the file, 0 none
  begin_tid       INTEGER REFERENCES thread (tid),  -- thread where it starts, NULL on a GPU
  begin_device_id INTEGER,              -- GPU where it starts, NULL on a thread
  begin_stream_id INTEGER,              -- the stream there
  begin_ns        INTEGER NOT NULL,     -- in the event where it starts
  end_tid         INTEGER REFERENCES thread (tid),  -- thread where it ends, NULL on a GPU
  end_device_id   INTEGER,              -- GPU where it ends, NULL on a thread
  end_stream_id   INTEGER,              -- the stream there
  end_ns          INTEGER NOT NULL      -- in the event where it ends; may lie before begin_ns
) STRICT;

-- Collectives and point-to-point transfers, one row per source that saw one. A
-- pass joins the sources into one row of `collective`.
CREATE TABLE collective_source (
  id              INTEGER PRIMARY KEY,  -- unique in this file
  origin          TEXT NOT NULL,     -- what saw it: 'gloo_op', 'c10d', 'nccl_plugin', 'nccl_nvtx', 'kernel', 'flight_recorder'
  communicator_id INTEGER REFERENCES communicator (id),  -- NULL unknown
  sequence        INTEGER,           -- order in the communicator from 0, NULL unknown
  op_id           INTEGER NOT NULL,  -- 'all_reduce', 'all_gather', 'reduce_scatter', 'broadcast', 'barrier', 'send', …
  dtype_id        INTEGER NOT NULL,  -- 'float32', …; 0 unknown
  bytes           INTEGER,           -- this rank's payload (nccl-tests' count × type size), NULL unknown
  enqueue_ns      INTEGER,           -- host hands it to the backend, NULL unknown
  begin_ns        INTEGER,           -- arrival: it begins to run; NULL: enqueued, never begun
  end_ns          INTEGER,           -- it is done; NULL: not finished when the trace ended
  tid             INTEGER REFERENCES thread (tid),  -- thread that ran it (CPU backends) or called it
  enqueue_tid     INTEGER REFERENCES thread (tid),  -- thread that called it
  peer            INTEGER,           -- other rank of a point-to-point transfer, in the group's numbers, else NULL
  root            INTEGER,           -- root of a rooted op, in the group's numbers, else NULL
  device_id       INTEGER,           -- GPU backends: its GPU
  stream_id       INTEGER,           -- GPU backends: its stream
  correlation_id  INTEGER,           -- GPU backends: of its kernel
  algorithm       TEXT,              -- NCCL: 'RING', 'TREE', …
  protocol        TEXT,              -- NCCL: 'LL', 'LL128', 'SIMPLE'
  channels        INTEGER,           -- NCCL: channels used, NULL unknown
  state           TEXT CHECK (state IN ('scheduled', 'started', 'completed')),  -- how far it was when the source was written, NULL untold
  shapes_id       INTEGER NOT NULL DEFAULT 0,  -- input and output sizes as text, 0 untold
  stack_id        INTEGER NOT NULL DEFAULT 0   -- stack of the call, innermost frame first, one a line; 0 untold
) STRICT;

-- Time that the training thread spent waiting for its next batch.
CREATE TABLE data_wait (
  id          INTEGER PRIMARY KEY,  -- unique in this file
  tid         INTEGER NOT NULL REFERENCES thread (tid),  -- thread that waited
  loader_id   INTEGER NOT NULL,  -- name of the loader
  begin_ns    INTEGER NOT NULL,  -- it asks for the batch
  end_ns      INTEGER,           -- it has the batch; NULL still waiting
  queue_depth INTEGER,           -- batches ready when the wait began, NULL unknown
  origin      TEXT NOT NULL      -- 'annotate', 'dataloader_next' (RecordFunction range), 'nvtx'
) STRICT;

-- Sizes of the batches that were worked on, as told by the program.
CREATE TABLE batch (
  id      INTEGER PRIMARY KEY,  -- unique in this file
  tid     INTEGER NOT NULL REFERENCES thread (tid),  -- thread that told it
  time_ns INTEGER NOT NULL,  -- when it was told
  samples INTEGER,  -- this rank's samples, NULL not told
  tokens  INTEGER   -- this rank's tokens, NULL not told
) STRICT;

-- Allocations and releases.
CREATE TABLE memory_event (
  id              INTEGER PRIMARY KEY,  -- unique in this file
  tid             INTEGER REFERENCES thread (tid),  -- thread that called the allocator, NULL untold
  time_ns         INTEGER NOT NULL,  -- when
  device_type     TEXT NOT NULL,  -- 'cpu', 'cuda'
  device_id       INTEGER,        -- GPU, NULL for the CPU
  address         INTEGER NOT NULL,  -- of the block; 64 bits, so high addresses are negative
  delta_bytes     INTEGER,        -- > 0 allocated, < 0 released; NULL: release of memory allocated before capture
  allocated_bytes INTEGER,        -- allocator's total after it; for the CPU the sum of what was seen
  reserved_bytes  INTEGER,        -- memory that the allocator holds after it, NULL unknown
  is_oom          INTEGER NOT NULL CHECK (is_oom IN (0, 1)),  -- 1: the allocation failed
  stream_id       INTEGER,           -- stream of the block, NULL unknown
  action          TEXT,              -- a memory snapshot's 'alloc', 'free_requested', 'free_completed', 'segment_alloc', 'segment_free', 'segment_map', 'segment_unmap', 'snapshot', 'oom'; NULL other sources
  stack_id        INTEGER NOT NULL DEFAULT 0  -- stack of the call, innermost frame first, one a line; 0 untold
) STRICT;

-- Memory that the caching allocator held from a GPU's driver when a snapshot was taken.
CREATE TABLE memory_segment (
  id              INTEGER PRIMARY KEY,  -- unique in this file
  device_id       INTEGER NOT NULL,  -- its GPU
  stream_id       INTEGER,           -- stream that its blocks belong to, NULL unknown
  address         INTEGER NOT NULL,  -- 64 bits, so high addresses are negative
  bytes           INTEGER NOT NULL,  -- its size
  allocated_bytes INTEGER,           -- in blocks that the program holds
  active_bytes    INTEGER,           -- the same and those that wait for a stream
  requested_bytes INTEGER,           -- what the program had asked for, before rounding
  kind            TEXT,              -- 'large' or 'small' pool, NULL untold
  pool            TEXT,              -- private pool, e.g. of a CUDA graph, NULL the common one
  is_expandable   INTEGER,           -- 1 expandable segment
  stack_id        INTEGER NOT NULL DEFAULT 0  -- stack of the call that made it, 0 untold
) STRICT;

-- The parts of a segment.
CREATE TABLE memory_block (
  id              INTEGER PRIMARY KEY,  -- unique in this file
  segment_id      INTEGER NOT NULL REFERENCES memory_segment (id),  -- its segment
  address         INTEGER NOT NULL,  -- 64 bits, so high addresses are negative
  bytes           INTEGER NOT NULL,  -- its size
  requested_bytes INTEGER,           -- what the program had asked for, NULL untold
  state           TEXT NOT NULL,     -- 'active_allocated', 'active_pending_free', 'active_awaiting_free', 'inactive'
  category        TEXT,              -- 'parameter', 'gradient', 'optimizer_state', 'activation', …; NULL unknown
  stack_id        INTEGER NOT NULL DEFAULT 0  -- stack of the call that allocated it, 0 untold
) STRICT;

-- What is counted over time.
CREATE TABLE counter (
  id          INTEGER PRIMARY KEY,  -- unique in this file
  name        TEXT NOT NULL,  -- e.g. 'process.cpu_user'
  unit        TEXT NOT NULL,  -- 'ns', 'bytes', 'count', …
  kind        TEXT NOT NULL CHECK (kind IN ('cumulative', 'gauge')),  -- sum since the start, or momentary value
  description TEXT NOT NULL,  -- what it counts, in words
  device_id   INTEGER         -- GPU, NULL none
) STRICT;

-- Values of the counters.
CREATE TABLE counter_sample (
  counter_id INTEGER NOT NULL REFERENCES counter (id),  -- what was read
  time_ns    INTEGER NOT NULL,  -- when
  value      ANY NOT NULL      -- its value, INTEGER or REAL
) STRICT;

-- Clocks read together, by which stamps were turned into nanoseconds.
CREATE TABLE clock_sync (
  ticks            INTEGER NOT NULL,  -- TSC, or monotonic_raw_ns where that is the stamp
  realtime_ns      INTEGER NOT NULL,  -- CLOCK_REALTIME
  monotonic_raw_ns INTEGER NOT NULL,  -- CLOCK_MONOTONIC_RAW
  trace_ns         INTEGER NOT NULL,  -- this file's time: anchor + monotonic_raw since the anchor
  uncertainty_ns   INTEGER NOT NULL   -- width of the reading
) STRICT;

-- Every loss and oddity of this trace. Empty is good news.
CREATE TABLE trace_stat (
  id       INTEGER PRIMARY KEY,  -- unique in this file
  severity TEXT NOT NULL CHECK (severity IN ('info', 'notice', 'data_loss', 'error')),  -- how bad it is
  name     TEXT NOT NULL,     -- stable short code, e.g. 'ring_dropped'
  source   TEXT NOT NULL,     -- part that noticed it, e.g. 'tracer.ring'
  count    INTEGER NOT NULL,  -- how many events it concerns
  begin_ns INTEGER,           -- first time that it concerns, NULL unknown or everywhere
  end_ns   INTEGER,           -- last such time, NULL the same
  detail   TEXT NOT NULL,     -- what was found, in words
  advice   TEXT NOT NULL      -- what to do about it, '' nothing
) STRICT;

-- Stable views: the public query surface. A minor version only adds columns.
-- A column without a comment of its own is that of the table.

-- Steps with their length.
CREATE VIEW v_step AS
SELECT
  id, number, tid, begin_ns, end_ns,
  end_ns - begin_ns AS duration_ns,  -- its length, NULL still open
  origin
FROM step;

-- Operators with names.
CREATE VIEW v_cpu_op AS
SELECT
  o.id, o.tid,
  n.text AS name,  -- e.g. 'aten::addmm'
  o.scope, o.begin_ns, o.end_ns,
  o.end_ns - o.begin_ns AS duration_ns,  -- its length, NULL still open
  o.depth, o.sequence_nr, o.torch_tid, o.forward_tid,
  s.text AS shapes  -- input shapes, NULL not captured
FROM cpu_op AS o
LEFT JOIN string AS n ON n.id = o.name_id
LEFT JOIN string AS s ON s.id = o.shapes_id AND o.shapes_id <> 0;

-- Kernels with names.
CREATE VIEW v_kernel AS
SELECT
  k.id, k.device_id, k.stream_id,
  n.text AS name,  -- demangled
  k.begin_ns, k.end_ns,
  k.end_ns - k.begin_ns AS duration_ns,  -- its length, NULL untimed
  k.correlation_id, k.graph_node_id
FROM kernel AS k
LEFT JOIN string AS n ON n.id = k.name_id;

-- Collectives with names.
CREATE VIEW v_collective AS
SELECT
  c.id, c.origin, m.backend, c.communicator_id,
  m.uid AS group_uid,  -- the group's own id, NULL unknown
  m.group_rank, m.group_size, c.sequence,
  o.text AS op,     -- 'all_reduce', 'all_gather', …
  d.text AS dtype,  -- 'float32', …; NULL unknown
  c.bytes, c.enqueue_ns, c.begin_ns, c.end_ns,
  c.end_ns - c.begin_ns AS duration_ns,  -- its length, NULL not finished
  c.tid, c.peer, c.root
FROM collective_source AS c
LEFT JOIN communicator AS m ON m.id = c.communicator_id
LEFT JOIN string AS o ON o.id = c.op_id
LEFT JOIN string AS d ON d.id = c.dtype_id AND c.dtype_id <> 0;

-- Ranges with names.
CREATE VIEW v_range AS
SELECT
  r.id, r.tid, r.kind,
  d.text AS domain,  -- NVTX domain, NULL the default one
  r.category,
  c.text AS category_name,  -- NULL none
  n.text AS name,           -- message
  r.begin_ns, r.end_ns,
  r.end_ns - r.begin_ns AS duration_ns,  -- its length, NULL still open
  r.depth, r.payload
FROM range AS r
LEFT JOIN string AS n ON n.id = r.name_id
LEFT JOIN string AS d ON d.id = r.domain_id AND r.domain_id <> 0
LEFT JOIN string AS c ON c.id = r.category_id AND r.category_id <> 0;

-- Waits for data with names.
CREATE VIEW v_data_wait AS
SELECT
  w.id, w.tid,
  n.text AS loader,  -- name of the loader
  w.begin_ns, w.end_ns,
  w.end_ns - w.begin_ns AS duration_ns,  -- its length, NULL still waiting
  w.queue_depth, w.origin
FROM data_wait AS w
LEFT JOIN string AS n ON n.id = w.loader_id;

-- Counter values with names.
CREATE VIEW v_counter AS
SELECT c.name, c.unit, c.kind, s.time_ns, s.value, c.device_id
FROM counter_sample AS s
JOIN counter AS c ON c.id = s.counter_id;
