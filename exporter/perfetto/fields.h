// Field numbers and values of Perfetto's trace format that the export writes. Source:
// protos/perfetto/trace/{trace_packet,clock_snapshot}.proto,
// interned_data/interned_data.proto and track_event/*.proto; a test compares them with the
// classes of the `perfetto` Python package.
#pragma once

#include <cstdint>

namespace tutti::exporter::perfetto {

// Trace
constexpr uint32_t kTracePacket = 1;

// TracePacket
constexpr uint32_t kPacketClockSnapshot = 6;
constexpr uint32_t kPacketTimestamp = 8;
constexpr uint32_t kPacketSequenceId = 10;
constexpr uint32_t kPacketTrackEvent = 11;
constexpr uint32_t kPacketInternedData = 12;
constexpr uint32_t kPacketSequenceFlags = 13;
constexpr uint32_t kPacketDefaults = 59;
constexpr uint32_t kPacketTrackDescriptor = 60;
constexpr uint32_t kIncrementalStateCleared = 1;  // values of sequence_flags
constexpr uint32_t kNeedsIncrementalState = 2;

// TracePacketDefaults, TrackEventDefaults
constexpr uint32_t kDefaultsTrackEvent = 11;
constexpr uint32_t kDefaultsTrackUuid = 11;

// ClockSnapshot and its Clock
constexpr uint32_t kSnapshotClock = 1;
constexpr uint32_t kClockId = 1;
constexpr uint32_t kClockTimestamp = 2;
constexpr uint32_t kClockRealtime = 1;  // values of clock_id
constexpr uint32_t kClockBoottime = 6;

// InternedData; its entries are all {iid, text}
constexpr uint32_t kInternedCategory = 1;
constexpr uint32_t kInternedEventName = 2;
constexpr uint32_t kInternedAnnotationName = 3;
constexpr uint32_t kInternedAnnotationText = 29;
constexpr uint32_t kEntryIid = 1;
constexpr uint32_t kEntryText = 2;

// TrackEvent
constexpr uint32_t kEventCategoryIid = 3;
constexpr uint32_t kEventAnnotation = 4;
constexpr uint32_t kEventType = 9;
constexpr uint32_t kEventNameIid = 10;
constexpr uint32_t kEventTrackUuid = 11;
constexpr uint32_t kEventCategory = 22;
constexpr uint32_t kEventName = 23;
constexpr uint32_t kEventCounterValue = 30;
constexpr uint32_t kEventDoubleCounterValue = 44;
constexpr uint32_t kEventFlowId = 47;
constexpr uint32_t kEventTerminatingFlowId = 48;

// DebugAnnotation
constexpr uint32_t kAnnotationNameIid = 1;
constexpr uint32_t kAnnotationInt = 4;
constexpr uint32_t kAnnotationDouble = 5;
constexpr uint32_t kAnnotationText = 6;
constexpr uint32_t kAnnotationName = 10;
constexpr uint32_t kAnnotationTextIid = 17;

// TrackDescriptor
constexpr uint32_t kTrackUuid = 1;
constexpr uint32_t kTrackName = 2;
constexpr uint32_t kTrackProcess = 3;
constexpr uint32_t kTrackThread = 4;
constexpr uint32_t kTrackParentUuid = 5;
constexpr uint32_t kTrackCounter = 8;
constexpr uint32_t kTrackChildOrdering = 11;
constexpr uint32_t kTrackSiblingOrderRank = 12;
constexpr uint32_t kOrderExplicit = 3;  // value of child_ordering

// ProcessDescriptor, ThreadDescriptor, CounterDescriptor
constexpr uint32_t kProcessPid = 1;
constexpr uint32_t kProcessSortIndex = 3;
constexpr uint32_t kProcessName = 6;
constexpr uint32_t kProcessLabel = 8;
constexpr uint32_t kThreadPid = 1;
constexpr uint32_t kThreadTid = 2;
constexpr uint32_t kThreadName = 5;
constexpr uint32_t kCounterUnit = 3;
constexpr uint32_t kCounterUnitName = 6;
constexpr uint32_t kUnitTimeNs = 1;  // values of unit
constexpr uint32_t kUnitCount = 2;
constexpr uint32_t kUnitSizeBytes = 3;

}  // namespace tutti::exporter::perfetto
