#include "schema/meta_keys.h"

#include <algorithm>

namespace tutti::schema {
namespace {

constexpr MetaKey kKeys[] = {
    {"clock.anchor_monotonic_raw_ns", "CLOCK_MONOTONIC_RAW at the anchor of this file's time"},
    {"clock.anchor_realtime_ns", "CLOCK_REALTIME at the anchor of this file's time"},
    {"clock.kind", "what the tracer stamped events with: 'tsc' or 'monotonic_raw'"},
    {"collector.convert_cpu_ns", "CPU time spent turning the spool into this file"},
    {"collector.drain_cpu_ns", "CPU time of the drainer, for all its processes, until this ended"},
    {"collector.spool_bytes", "size of the spool that this file was made from"},
    {"file.complete", "'1' once everything was written; missing if the writer was killed"},
    {"file.kind", "'rank': the raw tables of one rank"},
    {"import.formats", "formats of the files that this was imported from, by commas"},
    {"migrated.from_version", "version of the file that tutti migrate made this of"},
    {"process.program", "the program's name; of an interpreter, the script that it ran"},
    {"recording.buffer_bytes", "memory for the rings of this process"},
    {"recording.id", "identity of the recording, the same for all its ranks"},
    {"recording.manifest", "name of the recording's manifest in RUN/manifest.d"},
    {"recording.running_until_ns",
     "end of what this file holds of a process that went on; missing if it had ended"},
    {"recording.sources", "what was captured"},
    {"schema.version", "PRAGMA user_version of this file"},
    {"tracer.events_lost", "events that trace_stat says are missing"},
    {"tracer.records", "records that the tracer published"},
    {"tutti.version", "version of the program that wrote this file"},
    {"wire.version", "version of the records between tracer and collector"},
};

}  // namespace

std::span<const MetaKey> MetaKeys() { return kKeys; }

bool IsMetaKey(std::string_view key) {
  return std::ranges::any_of(kKeys, [&](const MetaKey& known) { return known.key == key; });
}

}  // namespace tutti::schema
