"""`tutti view` from the outside: pictures and texts without a window, files that are damaged, and
a real window under Xvfb with real keys.

    TUTTI_COMMAND=build/release/cli/tutti view_test.py [Offscreen | Golden | HostileFiles | Window]
"""

import json
import os
import pathlib
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import unittest

from picture import Picture

TUTTI = os.path.abspath(os.environ["TUTTI_COMMAND"])
SKIPPED = 77  # to ctest


def kineto_trace(rank):
    """A PyTorch profiler's trace: three steps of two kernels, one of them an all-reduce."""
    events = []

    def add(cat, name, ts, dur, tid, **args):
        events.append({"ph": "X", "cat": cat, "name": name, "pid": 0 if cat == "kernel" else 100,
                       "tid": tid, "ts": ts, "dur": dur, "args": args})

    for step in range(3):
        begin = 1000 * step
        add("user_annotation", f"ProfilerStep#{step}", begin, 990, 100)
        add("cpu_op", "aten::mm", begin + 10, 100, 100, **{"External id": 10 * step + 1})
        for index, (name, at, length) in enumerate(
            [("gemm_kernel", 100, 300 + 50 * rank), ("ncclDevKernel_AllReduce", 500, 400)]
        ):
            correlation = 100 * step + index + 1
            add("cuda_runtime", "cudaLaunchKernel", begin + 20 + 40 * index, 10, 100,
                correlation=correlation)
            add("kernel", name, begin + at, length, 7 + index, correlation=correlation,
                device=0, stream=7 + index)
    info = {"backend": "nccl", "rank": rank, "world_size": 2}
    return {"schemaVersion": 1, "distributedInfo": info, "traceEvents": events}


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tutti-view-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        os.environ["XDG_CONFIG_HOME"] = str(self.folder / "config")
        os.environ["TUTTI_CACHE"] = str(self.folder / "cache")
        traces = self.folder / "traces"
        traces.mkdir()
        for rank in range(2):
            (traces / f"rank{rank}.json").write_text(json.dumps(kineto_trace(rank)))
        self.run_path = self.folder / "run"
        self.tutti("import", traces, "-o", self.run_path)

    def tutti(self, *words, code=0):
        command = [TUTTI, *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120,
                              cwd=self.folder)
        if "no OpenGL" in done.stderr or "no display without" in done.stderr:
            self.skipTest(done.stderr.strip())
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def query(self, sql):
        with sqlite3.connect(self.run_path / "run.sqlite") as database:
            return database.execute(sql).fetchone()[0]

    def view(self, *words, code=0):
        return self.tutti("view", self.run_path, "--offscreen", *words, code=code)


class Offscreen(Case):
    def test_the_picture_has_the_categories_in_their_colours(self):
        png = self.folder / "a.png"
        self.view("--size", "640x400", "--png", png)
        picture = Picture(png)
        self.assertEqual((picture.width, picture.height), (640, 400))
        self.assertGreater(picture.share_near((0, 114, 178)), 0.003, "compute")
        self.assertGreater(picture.share_near((230, 159, 0)), 0.003, "communication")
        self.assertGreater(picture.share_near((22, 24, 29), 12), 0.3, "dark")
        self.view("--size", "640x400", "--light", "--png", png)
        self.assertGreater(Picture(png).share_near((252, 252, 253), 8), 0.3, "light")

    def test_the_scene_has_every_event(self):
        text = self.view("--dump-scene", "-").stdout
        for label in ("rank 0", "rank 1", "GPU 0", "stream 7", "stream 8", "steps"):
            self.assertIn(label, text)
        self.assertEqual(text.count("compute gemm_kernel"), 6)
        self.assertEqual(text.count("communication ncclDevKernel_AllReduce"), 6)

    def test_goto_shows_one_step(self):
        text = self.view("--goto", "1:2", "--dump-scene", "-").stdout
        self.assertIn("scene", text)
        self.assertEqual(text.count("compute gemm_kernel"), 2)
        self.assertIn("no rank 7", self.view("--goto", "7:0", code=3).stderr)
        self.assertIn("not a place", self.view("--goto", "seven", code=2).stderr)

    def test_a_script_drives_it(self):
        script = self.folder / "script"
        script.write_text("search gemm\nkey F3\nkey F\ndump -\ncommand fit\nfilter GPU\n")
        text = self.view("--script", script, "--dump-scene", "-").stdout
        zoomed, filtered = text.split("scene ")[1:]
        self.assertIn("compute gemm_kernel", zoomed)
        self.assertNotIn("AllReduce", zoomed.split("rank 1")[0].split("stream 7")[1])
        self.assertIn("GPU 0", filtered)
        self.assertNotIn("stream 7", filtered)
        script.write_text("goto 0:1\nfly\n")
        self.assertIn("script line 2", self.view("--script", script, code=2).stderr)

    def test_foreign_files_open(self):
        done = self.tutti("view", self.folder / "traces" / "rank1.json", "--offscreen",
                          "--dump-scene", "-")
        self.assertIn("compute gemm_kernel", done.stdout)

    def test_two_runs_stand_side_by_side(self):
        other = self.folder / "other"
        self.tutti("import", self.folder / "traces" / "rank1.json", "-o", other)
        text = self.view(other, "--size", "1600x1600", "--dump-scene", "-").stdout
        rows = [line.strip() for line in text.splitlines()]
        ranks = [row.split("  ")[0] for row in rows if row[2:].startswith(("A rank", "B rank"))]
        self.assertEqual(ranks, ["- A rank 0", "- A rank 1", "- B rank 1"])
        self.assertIn("step of B minus A", text)
        # What differs is nothing: it is the same rank.
        deltas = [row for row in rows if ") A " in row]
        self.assertEqual(len(deltas), 3, text)
        for delta in deltas:
            a, b = delta.split(") A ")[1].split(", B ")
            self.assertEqual(a, b)

    def test_a_runs_notes_are_in_its_folder(self):
        self.view()
        begin = self.query("SELECT min(begin_ns) FROM run_step")
        (self.run_path / "notes.txt").write_text(f"mark\t{begin + 1_000_000}\tit stalls here\n")
        png = self.folder / "a.png"
        self.view("--size", "640x400", "--png", png)
        marked = Picture(png)
        (self.run_path / "notes.txt").unlink()
        self.view("--size", "640x400", "--png", png)
        self.assertGreater(marked.share_unlike(Picture(png)), 0.005)

    def test_memory_that_nothing_is_known_of(self):
        script = self.folder / "script"
        script.write_text("command memory\n")
        self.view("--script", script, "--png", self.folder / "a.png", "--size", "640x400")

    def test_the_replay_is_handed_in(self):
        script = self.folder / "script"
        script.write_text("command critical-path\ncommand what-if\n")
        text = self.view("--script", script, "--dump-scene", "-").stdout
        self.assertIn("path [", text)

    def test_a_command_keeps_the_picture(self):
        script = self.folder / "script"
        script.write_text("command save-picture\ntheme light\ncommand save-picture\n")
        self.view("--script", script, "--size", "640x400")
        dark = Picture(self.folder / "tutti-run.png")
        light = Picture(self.folder / "tutti-run-2.png")
        self.assertEqual((dark.width, dark.height), (640, 400))
        self.assertGreater(dark.share_unlike(light), 0.5)

    def test_options_that_need_each_other(self):
        self.tutti("view", self.run_path, "--png", "a.png", code=2)
        self.view("--size", "10", code=2)


class Golden(Case):
    """A few pictures as they were when somebody looked at them. TUTTI_UPDATE_GOLDEN=1 makes them
    anew: look at them."""

    FOLDER = pathlib.Path(__file__).parent / "golden"

    def check(self, name, *words, script=""):
        actions = self.folder / "script"
        # Without the findings: what those say is not the viewer's.
        actions.write_text("command findings\n" + script)
        png = self.folder / name
        self.view("--script", actions, "--png", png, *words)
        golden = self.FOLDER / name
        if os.environ.get("TUTTI_UPDATE_GOLDEN"):
            shutil.copy(png, golden)
        made, wanted = Picture(png), Picture(golden)
        self.assertEqual((made.width, made.height), (wanted.width, wanted.height))
        self.assertLess(made.share_unlike(wanted), 0.01, f"{golden} looks otherwise")
        return made

    def test_the_whole_run_dark(self):
        made = self.check("whole.png", "--size", "800x500")
        light = self.check("light.png", "--size", "800x500", "--light")
        self.assertGreater(made.share_unlike(light), 0.5, "the measure tells nothing")

    def test_an_event_close(self):
        made = self.check("event.png", "--size", "800x500",
                          script="select gemm\nkey F\nkey R\nfilter GPU\n")
        whole = Picture(self.FOLDER / "whole.png")
        self.assertGreater(made.share_unlike(whole), 0.03, "the measure tells nothing")

    def test_twice_as_large(self):
        self.check("scaled.png", "--size", "960x640", "--scale", "2")


class HostileFiles(Case):
    def rank_file(self):
        return self.run_path / "rank-00001.sqlite"

    def test_a_damaged_rank_is_said_and_the_others_are_shown(self):
        self.view()  # analyzed
        data = bytearray(self.rank_file().read_bytes())
        for at in range(4096, len(data), 7):
            data[at] ^= 0x5A
        times = os.stat(self.rank_file())
        self.rank_file().write_bytes(data)
        os.utime(self.rank_file(), ns=(times.st_atime_ns, times.st_mtime_ns))
        text = self.view("--dump-scene", "-").stdout
        self.assertIn("stream 7", text)
        self.assertEqual(text.count("compute gemm_kernel"), 3)
        self.assertRegex(text, "rank-00001.sqlite")

    def test_times_at_the_ends_of_the_number_line(self):
        with sqlite3.connect(self.rank_file()) as database:
            database.execute("UPDATE kernel SET begin_ns = -9223372036854775807 WHERE id % 2 = 0")
            database.execute("UPDATE kernel SET end_ns = 9223372036854775807")
        database.close()
        self.view("--dump-scene", self.folder / "scene")

    def test_no_run_is_one_line(self):
        done = self.tutti("view", self.folder / "nothing", "--offscreen", code=3)
        self.assertEqual(done.stderr.count("\n"), 1)
        (self.folder / "empty.sqlite").write_bytes(b"")
        self.tutti("view", self.folder / "empty.sqlite", "--offscreen", code=3)


class Window(Case):
    """GLFW on an X server that keeps its screen in a file, with xdotool for hands."""

    def setUp(self):
        super().setUp()
        for program in ("Xvfb", "xdotool"):
            if shutil.which(program) is None:
                self.skipTest(program + " is not there")
        read_end, write_end = os.pipe()
        command = ["Xvfb", "-displayfd", str(write_end), "-screen", "0", "1280x800x24"]
        command += ["-nolisten", "tcp", "-fbdir", str(self.folder)]
        self.server = subprocess.Popen(command, pass_fds=[write_end], stderr=subprocess.DEVNULL)
        os.close(write_end)
        self.addCleanup(self.stop, self.server)
        with os.fdopen(read_end) as pipe:
            display = ":" + pipe.readline().strip()
        self.environment = {**os.environ, "DISPLAY": display}

    def stop(self, process):
        process.terminate()
        process.wait(timeout=30)

    def brightness(self):
        """Mean of the screen's bytes; Xvfb keeps it as an xwd file."""
        data = (self.folder / "Xvfb_screen0").read_bytes()
        header, = struct.unpack(">I", data[:4])
        colors, = struct.unpack(">I", data[76:80])
        pixels = data[header + 12 * colors :]
        return sum(pixels[::97]) / len(pixels[::97])

    def wait_for(self, what, condition):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if condition():
                return
            time.sleep(0.2)
        self.fail(what + " did not happen")

    def xdotool(self, *words):
        return subprocess.run(["xdotool", *map(str, words)], env=self.environment, timeout=30,
                              capture_output=True, text=True)

    def test_keys_resizing_and_closing(self):
        viewer = subprocess.Popen([TUTTI, "view", str(self.run_path), "--size", "1000x700"],
                                  env=self.environment, stderr=subprocess.DEVNULL,
                                  cwd=self.folder)
        self.addCleanup(viewer.kill)
        window = ""

        def has_window():
            nonlocal window
            self.assertIsNone(viewer.poll(), "it ended")
            found = self.xdotool("search", "--name", "^tutti: ").stdout
            window = found.strip().split("\n")[-1]
            return window != ""

        self.wait_for("a window", has_window)
        self.wait_for("a picture", lambda: self.brightness() > 8)
        self.xdotool("windowfocus", window)
        self.xdotool("mousemove", 500, 300)
        dark = self.brightness()
        self.xdotool("key", "t")
        self.wait_for("the light theme", lambda: self.brightness() > dark + 60)
        self.xdotool("key", "t")
        self.wait_for("the dark theme", lambda: self.brightness() < dark + 20)
        self.xdotool("windowsize", window, 1200, 760)
        self.xdotool("key", "t")
        self.wait_for("light again", lambda: self.brightness() > dark + 60)
        self.xdotool("mousemove", 500, 300, "mousedown", 1, "mousemove", 700, 300, "mouseup", 1)
        self.xdotool("key", "Return")
        self.xdotool("key", "ctrl+s")
        kept = self.folder / "tutti-run.png"
        self.wait_for("a picture file", kept.exists)
        self.wait_for("all of it", lambda: kept.read_bytes().endswith(b"IEND\xaeB`\x82"))
        self.assertEqual((Picture(kept).width, Picture(kept).height), (1200, 760))
        self.assertIsNone(viewer.poll())
        self.xdotool("windowclose", window)
        viewer.send_signal(signal.SIGTERM)
        viewer.wait(timeout=60)

    def test_without_a_display_it_says_so(self):
        displays = ("DISPLAY", "WAYLAND_DISPLAY")
        environment = {k: v for k, v in os.environ.items() if k not in displays}
        done = subprocess.run([TUTTI, "view", str(self.run_path)], env=environment,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 3)
        self.assertIn("--offscreen", done.stderr)


if __name__ == "__main__":
    program = unittest.main(exit=False)
    ran, skipped = program.result.testsRun, len(program.result.skipped)
    if not program.result.wasSuccessful():
        sys.exit(1)
    sys.exit(SKIPPED if ran == skipped else 0)
