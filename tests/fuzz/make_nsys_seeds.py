#!/usr/bin/env python3
"""make_nsys_seeds.py FOLDER: small exports of Nsight Systems to start nsys_fuzz from.

Each is a few pages long, so that the fuzzer's changes meet rows and not only free space.
"""
import pathlib
import sqlite3
import struct
import sys

STRINGS = """
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'cudaLaunchKernel_v7000'), (3, 'ncclAllReduce'),
  (4, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL'), (5, 'ncclGroupStart'), (6, 'ncclGroupEnd');
CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.25.0');
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);
INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000);
"""
KERNELS = """
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER,
  contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,
  demangledName INTEGER, shortName INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER,
  graphNodeId INTEGER, clusterX INTEGER, clusterY INTEGER, clusterZ INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
  (100, 200, 0, 1, 7, 1, 16777216000, 1, 1, 1, 1, 1, NULL, 2, 1, 1),
  (300, 400, 0, 1, 20, 2, 16777216000, 4, 4, 1, 1, 1, 3, 0, 0, 0);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER,
  globalTid INTEGER, correlationId INTEGER, nameId INTEGER, returnValue INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10, 20, 0, 16777217000, 1, 2, 0),
  (62, 64, 0, 16777217000, 2, 2, 0);
CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, smCount INTEGER);
INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA L40S', 142);
"""
DEVICE = """
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER,
  streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER,
  srcKind INTEGER, dstKind INTEGER, dstDeviceId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1, 2, 0, 7, 3, 16777216000, 64, 10, 2, 2, 1);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, end INTEGER, deviceId INTEGER,
  streamId INTEGER, bytes INTEGER, value INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (1, 2, 0, 7, 64, 0);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER, end INTEGER, deviceId INTEGER,
  contextId INTEGER, streamId INTEGER, syncType INTEGER, eventId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (1, 2, 0, 1, 7, 3, 4294967295);
CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER, deviceId INTEGER, address INTEGER,
  bytes INTEGER, memKind INTEGER, memoryOperationType INTEGER);
INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (1, 0, 99, 512, 2, 0), (2, 0, 99, 512, 2, 1);
CREATE TABLE PROFILER_OVERHEAD (start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER,
  overheadType INTEGER);
INSERT INTO PROFILER_OVERHEAD VALUES (1, 2, 16777217000, 1, 3);
CREATE TABLE OSRT_API (start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER,
  nestingLevel INTEGER);
INSERT INTO OSRT_API VALUES (1, 2, 16777217000, 1, 0);
CREATE TABLE TARGET_INFO_GPU_METRICS (typeId INTEGER, metricId INTEGER, metricName TEXT);
INSERT INTO TARGET_INFO_GPU_METRICS VALUES (256, 1, 'SM Active [Throughput %]');
CREATE TABLE GPU_METRICS (timestamp INTEGER, typeId INTEGER, metricId INTEGER, value INTEGER);
INSERT INTO GPU_METRICS VALUES (5, 256, 1, 88);
"""
NVTX = """
CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, category INTEGER,
  color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER,
  domainId INTEGER, int64Value INTEGER, doubleValue REAL, jsonText TEXT, binaryData BLOB);
CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId INTEGER, schemaId INTEGER, idx INTEGER,
  flags INTEGER, type INTEGER, name TEXT, arrayOrUnionDetail INTEGER, offset INTEGER);
INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES
  (1, 16777223, 0, NULL, 18, 'NCCL communicator ID', NULL, NULL),
  (1, 16777223, 1, NULL, 22, 'Message size [bytes]', NULL, 8),
  (1, 16777223, 2, 16, 15, 'array', 4, 16), (1, 16777223, 3, NULL, 16777223, 'again', NULL, 0);
"""
EVENTS = [
    (0, 300, 59, None, None, "step 1", 16777217000, None, None, 0, None, None, None, None),
    (1, 9, 59, None, 7, "aten::mm, seq = 1, op_id = 2", 16777217000, None, None, 0, 1, None, None,
     None),
    (2, None, 59, 4, None, None, 16777217000, None, 1, 0, None, 0.5, '{"a":1}', None),
    (3, 8, 60, None, None, "bucket", 16777217000, 16777217001, None, 0, None, None, None, None),
    (4, None, 34, None, None, "mark", 16777217000, None, None, 0, None, None, None, None),
    (0, None, 75, None, None, "NCCL", 16777217000, None, None, 1, None, None, None, None),
    (60, 70, 59, None, None, None, 16777217000, None, 3, 1, None, None, None,
     struct.pack("<QQQQQQQ", 1, 16777223, 24, 32, 0xABC, 4096, 0)),
]


def make(path, sql, events=()):
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA page_size = 512")
        database.executescript(sql)
        if events:
            database.executemany(f"INSERT INTO NVTX_EVENTS VALUES ({','.join('?' * 14)})", events)
    database.close()


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    make(folder / "kernels.sqlite", STRINGS + KERNELS)
    make(folder / "device.sqlite", STRINGS + DEVICE)
    make(folder / "nvtx.sqlite", STRINGS + NVTX, EVENTS)
    make(folder / "all.sqlite", STRINGS + KERNELS + DEVICE + NVTX, EVENTS)


if __name__ == "__main__":
    main()
