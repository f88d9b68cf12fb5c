#!/usr/bin/env python3
"""layers.py [ROOT]: checks that #include edges follow the layers of the architecture.

Prints every edge that the table below does not allow, vendor headers outside the folders that
own them, and cycles among headers; exits 1 if there is any. The table is that of
docs/architecture.md.
"""
import pathlib
import re
import sys

STAGES = (
    "common",
    "schema",
    "tracer",
    "collector",
    "analyzer",
    "exporter",
    "viewer",
    "cli",
    "workloads",
)

# Layer -> the layers that its files may include, besides their own. A file belongs to the
# longest layer that its path starts with.
ALLOWED = {
    "common": [],
    "schema": ["common"],
    "tracer": ["tracer/core", "tracer/sources", "common/wire"],  # what puts the library together
    "tracer/annotate": [],
    "tracer/core": ["common/wire"],
    "tracer/sources": ["tracer/core", "common/wire"],
    "collector": ["common", "schema"],
    "analyzer": ["common", "schema"],
    "exporter": ["common", "schema"],
    "viewer": ["common", "schema"],
    "cli": ["common", "schema", "collector", "analyzer", "exporter", "viewer"],
    "workloads": ["tracer/annotate"],
}

# Of a stage, or of a part of one that stands alone, the one header that cli may include.
FACADES = {
    "schema": "schema/schema.h",
    "collector": "collector/collector.h",
    "collector/campaign": "collector/campaign/campaign.h",
    "analyzer": "analyzer/analyze.h",
    "analyzer/compare": "analyzer/compare/compare.h",
    "analyzer/history": "analyzer/history/history.h",
    "analyzer/mpi": "analyzer/mpi/analyze_mpi.h",
    "analyzer/replay": "analyzer/replay/whatif.h",
    "exporter": "exporter/exporter.h",
    "viewer": "viewer/viewer.h",
}

# In these folders no two files of different names may include each other: sources are
# independent of one another, and passes meet in derived tables.
ISOLATED = ("tracer/sources", "analyzer/passes")

# Pattern of a vendor's header -> where it may be included.
VENDORS = {
    r"cupti|generated_cuda|cuda(_runtime)?(_api)?\.h": ("tracer/sources/cupti",),
    r"nccl": ("tracer/sources/nccl", "workloads"),
    r"nvtx3/|nvToolsExt": ("tracer/sources/nvtx", "tracer/annotate"),
    r"(torch|ATen|c10)/": ("tracer/sources/torch", "workloads"),
    r"gloo/": ("workloads",),
    r"mpi\.h": ("analyzer/mpi",),
    r"sqlite3": ("schema",),
    r"imgui|implot|GLFW/": ("viewer",),
}

INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.M)
SUFFIXES = {".h", ".hpp", ".cc", ".cpp", ".c"}


def is_test(path):
    """Test programs, and what serves only them (folders named testing)."""
    return re.search(r"_(test|benchmark)\.\w+$", path) or "/testing/" in path


def within(path, layer):
    return path.startswith((layer + "/", layer + ".", layer + "_"))


def layer_of(path):
    """The layer of a file given as a path from the root, or None if no rule names one."""
    return max((l for l in ALLOWED if within(path, l)), key=len, default=None)


def member_of(path, folder):
    """In an isolated folder, the member that a file belongs to: its subfolder or its stem."""
    name = path[len(folder) + 1 :].split("/")[0]
    return re.sub(r"(_test|_benchmark)?\.\w+$", "", name)


def may_include(source, target):
    """Whether a file of a stage may include another file of ours."""
    stage = source.split("/")[0]
    if is_test(source) and within(target, stage):
        return not any(within(target, folder) for folder in ISOLATED) or same_member(source, target)
    if "/testing/" in target and not is_test(source):
        return False
    layer, other = layer_of(source), layer_of(target)
    if layer is not None and layer == other:
        return same_member(source, target)
    wanted = ALLOWED.get(layer, ["common"] if is_test(source) else [])
    return any(within(target, allowed) for allowed in wanted)


def same_member(source, target):
    for folder in ISOLATED:
        if within(source, folder) and within(target, folder):
            return member_of(source, folder) == member_of(target, folder)
    return True


def vendor_objection(source, header):
    if is_test(source):
        return None  # tests compare our tables with the vendor's header
    for pattern, homes in VENDORS.items():
        if re.match(pattern, header) and not source.startswith(homes):
            return f"{source}: vendor header {header} belongs in {' or '.join(homes)}"
    return None


def read_includes(root):
    """{path: [(is our own, header)]} of every source file under the root."""
    includes = {}
    for stage in STAGES:
        for file in sorted((root / stage).rglob("*")):
            if file.suffix in SUFFIXES:
                found = INCLUDE.findall(file.read_text(errors="replace"))
                path = file.relative_to(root).as_posix()
                includes[path] = [
                    (quote == '"' and (root / name).exists(), name) for quote, name in found
                ]
    return includes


def find_cycle(graph):
    """A cycle in {node: [node]} as a list of nodes, or None."""
    done, path = set(), []

    def visit(node):
        if node in path:
            return path[path.index(node) :] + [node]
        if node in done:
            return None
        path.append(node)
        cycle = next(filter(None, map(visit, graph.get(node, []))), None)
        path.pop()
        done.add(node)
        return cycle

    return next(filter(None, map(visit, graph)), None)


def facade_objections(includes):
    for source, headers in includes.items():
        if not within(source, "cli") or is_test(source):
            continue
        for own, header in headers:
            part = max((p for p in FACADES if within(header, p)), key=len, default=None)
            if own and part and header != FACADES[part]:
                yield f"{source}: may include {FACADES[part]} only, not {header}"


def check(root):
    """Returns the list of objections."""
    includes = read_includes(root)
    objections = []
    for source, headers in includes.items():
        for own, header in headers:
            if own and not may_include(source, header):
                objections.append(f"{source}: may not include {header}")
            elif not own:
                objections += filter(None, [vendor_objection(source, header)])
    objections += facade_objections(includes)
    own_edges = {s: [h for own, h in headers if own] for s, headers in includes.items()}
    cycle = find_cycle(own_edges)
    if cycle:
        objections.append("include cycle: " + " -> ".join(cycle))
    return objections


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    objections = check(root)
    for objection in objections:
        print(objection)
    return 1 if objections else 0


if __name__ == "__main__":
    sys.exit(main())
