"""Benchmarks of single operations: programs beside this file."""
import pathlib
import shutil
import statistics

from measure import (
    BenchError,
    Figure,
    google_benchmark,
    in_mirrored_turns,
    json_of,
    output_of,
    ratios,
)

SCALING_RANKS = (1, 4, 16, 64, 256, 1024)
SCALING_EVENTS = 1_000_000


def ring(build, rounds):
    flags = [f"--benchmark_repetitions={rounds}"] if rounds else []
    ns = google_benchmark(build, "tests/bench/ring_bench", "cpu_time", *flags)
    median = {name: statistics.median(values) for name, values in ns.items()}
    span = Figure("span into a ring / floor", ratios(ns["Span"], ns["Floor"]), at_most=1.25)
    span.notes.append(
        f"floor {median['Floor']:.1f} ns (two TSC reads, one 64-byte store), "
        f"span {median['Span']:.1f} ns"
    )
    visible = Figure(
        "span that shows while it is open / floor", ratios(ns["OpenSpan"], ns["Floor"])
    )
    visible.notes.append(f"{median['OpenSpan']:.1f} ns: what the callbacks of an operator write")
    event = Figure("event with one stamp / TSC read", ratios(ns["Write"], ns["TscRead"]))
    event.notes.append(
        f"event {median['Write']:.1f} ns, TSC read {median['TscRead']:.1f} ns, "
        f"any event in a process that is not traced {median['NotARank']:.1f} ns"
    )
    return [span, visible, event]


def callback(build, rounds):
    program = build.program("tests/bench/callback_benchmark")

    def traced():
        record = [build.tutti(), "record", "-o", build.new_run(), "--trace", "torch", "--"]
        return json_of([*record, program])

    turns = in_mirrored_turns(
        {
            "empty": lambda: json_of([program, "empty"]),
            "stamps": lambda: json_of([program, "stamps"]),
            "traced": traced,
        },
        rounds or 8,
    )
    added = {name: [turn["added_ns"] for turn in results] for name, results in turns.items()}
    on = {name: [turn["on_ns"] for turn in results] for name, results in turns.items()}
    median = {name: statistics.median(values) for name, values in added.items()}
    cost = Figure(
        "callback on an operator / empty callback",
        ratios(added["traced"], added["empty"]),
        at_most=1.25,
    )
    bare = statistics.median(turn["off_ns"] for turn in turns["empty"] + turns["traced"])
    cost.notes.append(
        f"add_ of one element: {bare:.0f} ns unobserved; an empty callback adds "
        f"{median['empty']:.1f} ns, Tutti's {median['traced']:.1f} ns"
    )
    stamps = Figure("callback on an operator / one that takes two stamps",
                    ratios(added["traced"], added["stamps"]))
    stamps.notes.append(
        f"a callback that only reads the TSC at begin and end adds {median['stamps']:.1f} ns, "
        f"{median['stamps'] / median['empty']:.2f} x the empty one"
    )
    operator = Figure("the whole operator / with empty callback", ratios(on["traced"], on["empty"]))
    allocations = Figure(
        "allocations per 1000 callbacks",
        [1000 * (turn["allocations_on"] - turn["allocations_off"]) / turn["operators"]
         for turn in turns["traced"]],
        at_most=0,
    )
    return [cost, stamps, operator, allocations]


def ingest(build, rounds):
    def limits():
        return google_benchmark(build, "tests/bench/ingest_benchmark", "items_per_second",
                                "--benchmark_repetitions=1", "--benchmark_min_time=0.01")

    converter = build.program("tests/bench/convert_benchmark")
    turns = in_mirrored_turns({"limits": limits, "convert": lambda: json_of([converter])},
                              rounds or 8)
    convert = [turn["rows_per_s"] for turn in turns["convert"]]
    rate = {name: [turn[name][0] for turn in turns["limits"]] for name in turns["limits"][0]}
    limit = Figure("spool to SQLite / virtual-table limit",
                   ratios(convert, rate["virtual_table_limit"]), at_least=0.70)
    millions = {name: statistics.median(values) / 1e6 for name, values in rate.items()}
    limit.notes.append(
        f"million rows/s of CPU time: spool to SQLite {statistics.median(convert) / 1e6:.2f}, "
        f"the writer alone {millions['trace_writer']:.2f},"
    )
    limit.notes.append(
        f"limit {millions['virtual_table_limit']:.2f}, prepared one-row inserts "
        f"{millions['plain_insert']:.2f}"
    )
    last = turns["convert"][-1]
    size = Figure("bytes per operator in the rank file",
                  [turn["bytes_per_event"] for turn in turns["convert"]], format="{:.1f}")
    size.notes.append(f"{last['spool_bytes_per_event']:.1f} bytes in the spool before")
    return [
        limit,
        Figure("the writer alone / virtual-table limit",
               ratios(rate["trace_writer"], rate["virtual_table_limit"])),
        Figure("spool to SQLite / prepared one-row inserts", ratios(convert, rate["plain_insert"])),
        size,
    ]


def intervals(build, rounds):
    ms = google_benchmark(
        build, "tests/bench/interval_benchmark", "cpu_time",
        f"--benchmark_repetitions={rounds or 7}", "--benchmark_enable_random_interleaving=true",
    )
    figure = Figure("std::sort and sweep / merge and union",
                    ratios(ms["sort_sweep"], ms["merge_union"]), at_least=3)
    figure.notes.append(
        f"10 million intervals of 64 threads: {statistics.median(ms['sort_sweep']):.0f} ms sorted, "
        f"{statistics.median(ms['merge_union']):.0f} ms merged"
    )
    return [figure]


def scaling(build, rounds):
    """All passes over the same number of events on ever more ranks, as a curve."""
    program = build.program("tests/bench/analyze_bench")
    points = []
    for ranks in SCALING_RANKS:
        results = [json_of([program, str(SCALING_EVENTS), str(ranks)]) for _ in range(rounds or 3)]
        points.append((ranks, results))
    rates = [statistics.median(r["events_per_s"] for r in results) for _, results in points]
    most = max(rates)
    figure = Figure("events a second, most ranks / one",
                    [r["events_per_s"] / rates[0] for r in points[-1][1]])
    for (ranks, results), rate in zip(points, rates):
        peak = statistics.median(r["peak_resident_bytes"] for r in results) / 1e6
        bar = "#" * max(round(rate / most * 40), 1)
        figure.notes.append(f"{ranks:5} ranks  {rate / 1e3:6,.0f} thousand events/s, "
                            f"{peak:5,.0f} MB  {bar}")
    return [figure]


def viewer(build, rounds):
    """Figures against the budget of a frame, in CPU time of the thread that draws."""
    program = build.program("tests/bench/viewer_bench")
    results = [json_of([program]) for _ in range(rounds or 3)]
    budgets = (
        ("viewer: p99 of a frame's scene / 6 ms", "frame_p99_ms", 6),
        ("viewer: packing 10 M events / 4 s", "index_s", 4),
        ("viewer: search of all names / 0.1 s", "search_s", 0.1),
        ("viewer: resident bytes an event / 16", "bytes_per_event", 16),
    )
    figures = []
    for what, key, budget in budgets:
        # Packing is a part of what has 4 seconds of two cores: reading the files is the other.
        at_most = None if key == "index_s" else 1
        figure = Figure(what, [result[key] / budget for result in results], at_most=at_most)
        values = ", ".join(f"{result[key]:.3g}" for result in results)
        figure.notes.append(f"{results[0]['events']:,} events: {key} {values}")
        figures.append(figure)
    return figures + viewer_frames(build, rounds)


def viewer_frames(build, rounds):
    """Whole frames, panels and all: what a graphics card is handed, and instructions of a run that
    is small enough for callgrind."""
    program = build.program("tests/bench/viewer_frame_bench")
    results = [json_of([program]) for _ in range(rounds or 3)]
    time_figure = Figure("viewer: p99 of a whole frame / 6 ms",
                         [result["ui_p99_ms"] / 6 for result in results], at_most=1)
    values = ", ".join(f"{result['ui_p99_ms']:.3g}" for result in results)
    time_figure.notes.append(f"CPU of the interface's thread: ui_p99_ms {values}")
    vertices = Figure("viewer: most vertices of a frame / 200,000",
                      [result["most_vertices"] / 200_000 for result in results], at_most=1)
    first = results[0]
    vertices.notes.append(f"{first['mean_vertices']:,} vertices a frame on average, at most "
                          f"{first['most_vertices']:,} in {first['most_commands']} draw commands")
    figures = [time_figure, vertices]
    if shutil.which("valgrind"):
        instructions = callgrind_instructions(program, build.scratch) / first["frames"]
        figure = Figure("viewer: million instructions of a frame", [instructions / 1e6])
        figure.notes.append("1 M events, counted by callgrind")
        figures.append(figure)
    return figures


def callgrind_instructions(program, folder):
    """Instructions of all frames that the program draws of a million events."""
    out = pathlib.Path(folder) / "callgrind.out"
    output_of(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}",
               "--toggle-collect=tutti::viewer::bench::*DrawFrames*", program, "1000000"])
    for line in out.read_text().splitlines():
        if line.startswith(("summary:", "totals:")):
            return int(line.split()[1])
    raise BenchError("callgrind counted nothing")
