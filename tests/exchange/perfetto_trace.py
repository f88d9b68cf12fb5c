"""Reads a Perfetto trace with Perfetto's own classes and holds it to what its importer wants."""
import collections

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb

STATE_CLEARED, NEEDS_STATE = 1, 2
TrackEvent = pb.TrackEvent


class BadTrace(Exception):
    pass


def require(condition, what):
    if not condition:
        raise BadTrace(what)


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def packets(data):
    """The trace's packets, one parsed at a time."""
    at = 0
    while at < len(data):
        require(data[at] == 0x0A, "something is no packet")
        size, at = varint(data, at + 1)
        yield pb.TracePacket.FromString(data[at:at + size])
        at += size


class Sequence:
    """What is known of one packet sequence so far."""

    def __init__(self):
        self.time = None
        self.track = 0
        self.texts = collections.defaultdict(dict)
        self.cleared = False

    def learn(self, packet):
        if packet.sequence_flags & STATE_CLEARED:
            self.texts.clear()
            self.track = 0
            self.cleared = True
        if packet.sequence_flags & NEEDS_STATE:
            require(self.cleared, "incremental state is needed before it was cleared")
        if packet.HasField("trace_packet_defaults"):
            self.track = packet.trace_packet_defaults.track_event_defaults.track_uuid
        interned = packet.interned_data
        for kind in ("event_categories", "event_names", "debug_annotation_names",
                     "debug_annotation_string_values"):
            for entry in getattr(interned, kind):
                require(entry.iid not in self.texts[kind], f"{kind} {entry.iid} is defined twice")
                text = entry.str.decode() if kind.endswith("values") else entry.name
                self.texts[kind][entry.iid] = text

    def text(self, kind, iid, plain):
        if not iid:
            return plain
        require(iid in self.texts[kind], f"{kind} {iid} is used before it is defined")
        return self.texts[kind][iid]


Slice = collections.namedtuple("Slice", "track begin end name category args flows ended_flows")


class Trace:
    """Everything in a trace: tracks by uuid, slices, instants (slices without end), counters."""

    def __init__(self, path):
        self.tracks = {}
        self.slices = []
        self.instants = []
        self.counters = collections.defaultdict(list)  # by track
        self.open = []
        self._stacks = collections.defaultdict(list)
        self._sequences = collections.defaultdict(Sequence)
        self._sequence_of_track = {}
        self.clock = False
        for packet in packets(path.read_bytes()):
            self._add(packet)
        self.open = [self._finish(begun, None) for stack in self._stacks.values()
                     for begun in stack]
        self._check_flows()

    def _add(self, packet):
        self.clock |= packet.HasField("clock_snapshot")
        if packet.HasField("track_descriptor"):
            self._add_track(packet.track_descriptor)
        if not packet.HasField("track_event"):
            return
        sequence = self._sequences[packet.trusted_packet_sequence_id]
        sequence.learn(packet)
        require(sequence.time is None or packet.timestamp >= sequence.time,
                "a sequence's times go back")
        sequence.time = packet.timestamp
        event = packet.track_event
        track = event.track_uuid or sequence.track
        require(track in self.tracks, f"track {track} is used before it is described")
        owner = self._sequence_of_track.setdefault(track, packet.trusted_packet_sequence_id)
        require(owner == packet.trusted_packet_sequence_id, "two sequences write one track")
        self._add_event(sequence, track, packet.timestamp, event)

    def _add_track(self, track):
        require(track.uuid and track.uuid not in self.tracks, "a track is described twice")
        require(not track.parent_uuid or track.parent_uuid in self.tracks, "a parent is unknown")
        pid = track.thread.pid
        require(not pid or pid in [t.process.pid for t in self.tracks.values()],
                "a thread's process is unknown")
        self.tracks[track.uuid] = track

    def _add_event(self, sequence, track, time, event):
        if event.type == TrackEvent.TYPE_COUNTER:
            require(self.tracks[track].HasField("counter"), "a value on a track of no counter")
            field = event.WhichOneof("counter_value_field")
            self.counters[track].append((time, getattr(event, field)))
        elif event.type == TrackEvent.TYPE_SLICE_END:
            require(self._stacks[track], "a slice ends that never began")
            begun = self._stacks[track].pop()
            self.slices.append(self._finish(begun, time))
        else:
            name = sequence.text("event_names", event.name_iid, event.name)
            categories = [sequence.text("event_categories", iid, "") for iid in event.category_iids]
            args = {sequence.text("debug_annotation_names", a.name_iid, a.name):
                    self._value(sequence, a) for a in event.debug_annotations}
            begun = Slice(track, time, time, name, ",".join([*categories, *event.categories]), args,
                          list(event.flow_ids), list(event.terminating_flow_ids))
            if event.type == TrackEvent.TYPE_INSTANT:
                self.instants.append(begun)
            else:
                require(event.type == TrackEvent.TYPE_SLICE_BEGIN, "an event of no type")
                self._stacks[track].append(begun)

    def _value(self, sequence, annotation):
        field = annotation.WhichOneof("value")
        if field == "string_value_iid":
            return sequence.text("debug_annotation_string_values", annotation.string_value_iid, "")
        return getattr(annotation, field)

    def _finish(self, begun, end):
        return begun._replace(end=end)

    def all_slices(self):
        return self.slices + self.open

    def _check_flows(self):
        begins, ends = {}, {}
        for one in self.all_slices():
            for flow in one.flows:
                require(flow not in begins, "an arrow starts twice")
                begins[flow] = one
            for flow in one.ended_flows:
                require(flow not in ends, "an arrow ends twice")
                ends[flow] = one
        require(begins.keys() == ends.keys(), "an arrow has one end only")
        self.flows = [(begins[flow], ends[flow]) for flow in begins]

    def path(self, track):
        """Names from the process down to a track."""
        descriptor = self.tracks[track]
        if descriptor.HasField("process"):
            return [descriptor.process.process_name]
        if descriptor.HasField("thread"):
            process = next(t for t in self.tracks.values()
                           if t.HasField("process") and t.process.pid == descriptor.thread.pid)
            return [process.process.process_name, descriptor.thread.thread_name]
        return [*self.path(descriptor.parent_uuid), descriptor.name]
