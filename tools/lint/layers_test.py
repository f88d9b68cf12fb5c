"""Each test lays out a small tree and names the edges that must be refused in it."""
import pathlib
import tempfile
import unittest

import layers


class LayersTest(unittest.TestCase):
    def objections(self, files):
        """Checks a tree {path: [header]}; a header in angle brackets is a vendor's."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path, headers in files.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                quoted = [h if h.startswith("<") else f'"{h}"' for h in headers]
                (root / path).write_text("".join(f"#include {h}\n" for h in quoted))
            return layers.check(root)

    def refuses(self, files, *expected):
        found = self.objections(files)
        self.assertEqual(len(found), len(expected), found)
        for fragment in expected:
            self.assertTrue(any(fragment in line for line in found), (fragment, found))

    def test_the_data_flow_is_allowed(self):
        self.refuses({
            "common/status.h": ["<string>"],
            "common/wire/record.h": ["common/status.h"],
            "schema/store.h": ["common/status.h", "<sqlite3.h>"],
            "tracer/core/ring.h": ["common/wire/record.h"],
            "tracer/sources/nvtx/nvtx.cc": ["tracer/core/ring.h", "<nvtx3/nvToolsExt.h>"],
            "collector/drain/drainer.h": ["schema/store.h", "common/wire/record.h"],
            "analyzer/pass.h": ["schema/store.h"],
            "analyzer/passes/overlap.cc": ["analyzer/passes/overlap.h", "analyzer/pass.h"],
            "analyzer/passes/overlap.h": [],
            "analyzer/pass_list.cc": ["analyzer/passes/overlap.h"],
            "collector/collector.h": ["collector/drain/drainer.h"],
            "cli/main.cc": ["collector/collector.h"],
            "tracer/annotate.h": ["<nvtx3/nvToolsExt.h>"],
            "workloads/mnist.cc": ["tracer/annotate.h", "<torch/torch.h>"],
            "tests/e2e/all.cc": ["schema/store.h", "collector/drain/drainer.h"],
        })

    def test_stages_must_not_include_each_other(self):
        files = {"schema/store.h": [], "collector/drain.h": [], "tracer/core/ring.h": []}
        self.refuses({**files, "analyzer/a.cc": ["collector/drain.h"]}, "analyzer/a.cc")
        self.refuses({**files, "collector/c.cc": ["tracer/core/ring.h"]}, "collector/c.cc")
        self.refuses({**files, "tracer/core/t.cc": ["schema/store.h"]}, "tracer/core/t.cc")
        self.refuses({**files, "workloads/w.cc": ["tracer/core/ring.h"]}, "workloads/w.cc")

    def test_tracer_core_sees_only_the_wire_of_common(self):
        self.refuses(
            {"common/status.h": [], "tracer/core/ring.cc": ["common/status.h"]},
            "may not include common/status.h",
        )

    def test_sources_and_passes_are_islands(self):
        self.refuses(
            {
                "tracer/sources/nvtx/n.h": [],
                "tracer/sources/torch/t.cc": ["tracer/sources/nvtx/n.h"],
                "analyzer/passes/a.h": [],
                "analyzer/passes/b.cc": ["analyzer/passes/a.h"],
                "analyzer/passes/a_test.cc": ["analyzer/passes/a.h"],
            },
            "tracer/sources/torch/t.cc",
            "analyzer/passes/b.cc",
        )

    def test_testing_folders_are_for_tests(self):
        self.refuses(
            {
                "tracer/core/ring.h": [],
                "tracer/testing/fake.h": ["tracer/core/ring.h"],
                "tracer/core/ring_test.cc": ["tracer/testing/fake.h"],
                "tracer/core/ring.cc": ["tracer/testing/fake.h"],
                "schema/testing/scratch.h": [],
                "collector/testing/run.h": ["schema/testing/scratch.h"],
            },
            "tracer/core/ring.cc: may not include tracer/testing/fake.h",
        )

    def test_vendor_headers_stay_in_their_folder(self):
        self.refuses(
            {
                "collector/c.cc": ["<sqlite3.h>"],
                "analyzer/a.cc": ["<ATen/ATen.h>"],
                "tracer/core/t.cc": ["<cupti.h>"],
                "cli/main.cc": ["<imgui.h>"],
                "collector/c_test.cc": ["<cupti.h>"],
            },
            "sqlite3.h", "ATen/ATen.h", "cupti.h belongs", "imgui.h",
        )

    def test_cli_sees_the_facade_of_a_stage(self):
        self.refuses(
            {
                "collector/collector.h": ["collector/record.h"],
                "collector/record.h": [],
                "cli/x.cc": ["collector/collector.h"],
                "cli/y.cc": ["collector/record.h"],
                "cli/y_test.cc": ["collector/record.h"],
            },
            "cli/y.cc: may include collector/collector.h only, not collector/record.h",
        )

    def test_finds_cycles(self):
        self.refuses(
            {"common/a.h": ["common/b.h"], "common/b.h": ["common/a.h"]},
            "include cycle: common/a.h -> common/b.h -> common/a.h",
        )


if __name__ == "__main__":
    unittest.main()
