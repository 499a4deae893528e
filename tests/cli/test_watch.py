"""--watch: what is in a folder and what comes into it is done once, when it is whole, until a signal
or --idle ends it."""
import errno
import io
import json
import os
import shutil
import signal
import time
import unittest

import numpy as np
from PIL import Image
from program import RUN_TIMEOUT, SANITIZED, ProgramTest, colour, ramp, without_root_rights
from test_jobs import build_failing_files


def png(pixels):
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "png")
    return out.getvalue()


class WatchTest(ProgramTest):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("in"))
        self.runs = 0

    def old(self, name, pixels=None, age=3600):
        """A picture that nobody has written to for a while."""
        path = self.picture(name, pixels)
        os.utime(path, (time.time() - age,) * 2)
        return path

    def watch(self, *arguments, pipeline="imcomplement", folder="in", progress="lines", env=None,
              **options):
        """A watch that goes on: its messages go to a file, which `err` reads."""
        self.runs += 1
        name = self.path(f"err-{self.runs}")
        with open(name, "wb") as err:
            run = self.start(pipeline, "--watch", folder, "--progress", progress, *arguments,
                             env=env, stderr=err, **options)
        run.err = name
        self.addCleanup(self.end, run, signal.SIGKILL)
        began = '{"event":"begin"' if progress == "json" else "impipe: watching '"
        self.wait(run, lambda: began in self.err(run))
        return run

    def err(self, run):
        with open(run.err, encoding="utf-8") as file:
            return file.read()

    def wait(self, run, condition):
        end = time.monotonic() + RUN_TIMEOUT
        while not condition():
            self.assertIsNone(run.poll(), self.err(run))
            self.assertLess(time.monotonic(), end, self.err(run))
            time.sleep(0.01)

    def wait_for(self, run, *names, folder="out"):
        self.wait(run, lambda: set(names) <= set(self.shown(folder)))

    def shown(self, folder="out"):
        """Results that have their names."""
        if not os.path.isdir(self.path(folder)):
            return []
        return [n for n in self.tree(folder) if not os.path.basename(n).startswith(".")]

    def end(self, run, number=signal.SIGTERM):
        """Ends a watch if nothing else has; its exit code."""
        if run.poll() is None:
            run.send_signal(number)
        run.communicate(timeout=RUN_TIMEOUT)
        return run.returncode

    def ends(self, run, code=0):
        """Waits until --idle, or an error, ends it."""
        run.communicate(timeout=RUN_TIMEOUT)
        self.assertEqual(run.returncode, code, self.err(run))
        return self.err(run)

    def done(self, run):
        """The inputs that were done, in their order."""
        lines = self.err(run).splitlines()
        return [line.split("] in/")[1].split(" -> ")[0] for line in lines if line.startswith("[")]

    def assert_inverted(self, name, source=None):
        self.assertTrue((self.pixels(f"out/{name}") == 255 - self.pixels(source or f"in/{name}")).all())

    def summary(self, name="s"):
        with open(self.path(name), encoding="utf-8") as file:
            return json.load(file)


class Arrivals(WatchTest):
    def test_what_is_there_and_then_what_comes(self):
        self.old("in/b.png", ramp(6, 5, 1))
        self.old("in/a.png", ramp(6, 5, 2))
        self.old("in/.hidden.png")
        self.write("in/notes.txt", "no picture")
        run = self.watch("-o", "out")
        self.wait_for(run, "a.png", "b.png")
        self.picture("in/c.png", ramp(6, 5, 3))
        self.wait_for(run, "c.png")
        self.picture("in/d.jpg")
        self.wait_for(run, "d.jpg")
        self.assertEqual(self.end(run), 143)
        self.assertEqual(self.done(run), ["a.png", "b.png", "c.png", "d.jpg"])
        self.assertIn("impipe: stopped by SIGTERM: 4 of 4 files are done\n", self.err(run))
        self.assertEqual(self.tree("out"), ["a.png", "b.png", "c.png", "d.jpg"])
        for name in ("a.png", "b.png", "c.png"):
            self.assert_inverted(name)

    def test_a_file_that_is_written_slowly_is_taken_once_and_whole(self):
        """Longer than what is found has to stand still."""
        run = self.watch("-o", "out", "--summary", "s")
        data = png(ramp(200, 300))
        with open(self.path("in/slow.png"), "wb") as file:
            for at in range(0, len(data), len(data) // 2):
                file.write(data[at:at + len(data) // 2])
                file.flush()
                time.sleep(2.5 if at == 0 else 0)
            self.assertEqual(self.done(run), [])
        self.wait_for(run, "slow.png")
        self.end(run, signal.SIGINT)
        self.assertEqual(self.done(run), ["slow.png"])
        self.assertNotIn("failed", self.err(run))
        self.assertEqual((self.summary()["files"], self.summary()["exit"]), (1, 130))
        self.assert_inverted("slow.png")

    def test_a_file_that_is_being_written_when_the_watch_begins(self):
        data = png(ramp(200, 300))
        with open(self.path("in/slow.png"), "wb") as file:
            file.write(data[:len(data) // 2])
            file.flush()
            run = self.watch("-o", "out")
            self.picture("in/other.png")
            self.wait_for(run, "other.png")
            file.write(data[len(data) // 2:])
        self.wait_for(run, "slow.png")
        self.end(run)
        self.assertEqual(self.done(run), ["other.png", "slow.png"])
        self.assertNotIn("failed", self.err(run))

    def test_files_that_are_renamed(self):
        """Under another name first, or moved in from another folder, with their old times."""
        run = self.watch("-o", "out")
        self.write("in/a.png.part", png(ramp(6, 5, 1)))
        self.write("in/b.tmp", png(ramp(6, 5, 2)))
        self.write("in/.c.png.Xy12", png(ramp(6, 5, 3)))
        self.old("elsewhere/d.png", ramp(6, 5, 4))
        self.picture("in/mark.png")
        self.wait_for(run, "mark.png")
        for old, new in (("in/a.png.part", "a.png"), ("in/b.tmp", "b.png"),
                         ("in/.c.png.Xy12", "c.png"), ("elsewhere/d.png", "d.png")):
            os.rename(self.path(old), self.path("in", new))
        self.wait_for(run, "a.png", "b.png", "c.png", "d.png")
        self.end(run)
        self.assertEqual(sorted(self.done(run)), ["a.png", "b.png", "c.png", "d.png", "mark.png"])
        self.assertNotIn("failed", self.err(run))

    def test_files_that_have_another_name_for_a_moment(self):
        run = self.watch("-o", "out")
        data = png(ramp(6, 5))
        names = [f"{i:02}.png" for i in range(60)]
        for name in names:
            first = self.write(f"in/first-{name}", data)
            os.rename(first, self.path("in", name))
            time.sleep(0.005)
        self.wait_for(run, *names)
        self.end(run)
        self.assertEqual(sorted(self.done(run)), names)
        self.assertNotIn("decode", self.err(run))

    def test_a_file_that_is_written_again_is_done_again(self):
        path = self.old("in/a.png", ramp(6, 5, 1))
        run = self.watch("-o", "out", "-u")
        self.wait_for(run, "a.png")
        count = 1
        for step in ("written", "appended nothing", "moved over it, with an older time"):
            if step == "written":
                self.picture("in/a.png", ramp(6, 5, 2))
            elif step == "appended nothing":
                os.close(os.open(path, os.O_WRONLY | os.O_APPEND))
                time.sleep(0.5)
                self.assertEqual(len(self.done(run)), count)
                continue
            else:
                os.rename(self.old("elsewhere/a.png", ramp(6, 5, 3), 7200), path)
            count += 1
            self.wait(run, lambda: len(self.done(run)) == count)
            self.assert_inverted("a.png")
        self.end(run)
        self.assertEqual(self.done(run), ["a.png"] * 3)
        self.assertNotIn("skipped", self.err(run))

    def test_links(self):
        source = self.old("elsewhere/a.png")
        run = self.watch("-o", "out")
        os.link(source, self.path("in/hard.png"))
        os.symlink(source, self.path("in/soft.png"))
        self.wait_for(run, "hard.png", "soft.png")
        self.end(run)

    def test_what_is_up_to_date_is_skipped_in_the_beginning(self):
        self.old("in/a.png")
        self.old("in/b.png")
        self.impipe("imcomplement", "in/a.png", "-o", "out")
        run = self.watch("-o", "out", "-u", "--idle", 0.2, "--summary", "s")
        self.assertIn("in/a.png -> out/a.png (skipped)", self.ends(run))
        self.assertEqual((self.summary()["done"], self.summary()["skipped"]), (1, 1))

    def test_a_broken_file_is_named_once_and_the_watch_goes_on(self):
        run = self.watch("-o", "out", "--errors", "e", "--idle", 1)
        self.write("in/bad.png", png(ramp())[:100])
        self.wait(run, lambda: "bad.png: decode" in self.err(run))
        self.picture("in/good.png")
        self.wait_for(run, "good.png")
        err = self.ends(run, 1)
        self.assertEqual(err.count("in/bad.png"), 1)
        self.assertIn("impipe: 1 of 2 files failed\n", err)
        with open(self.path("e"), encoding="utf-8") as file:
            self.assertEqual([json.loads(line)["file"] for line in file], ["in/bad.png"])
        self.assertEqual(self.tree("out"), ["good.png"])

    def test_a_file_that_the_pipeline_does_not_fit(self):
        self.old("in/gray.png")
        run = self.watch("-o", "out", "--idle", 1, pipeline="rgb2hsv")
        self.wait(run, lambda: "in/gray.png: plan: " in self.err(run))
        self.picture("in/colour.png", colour())
        self.ends(run, 1)
        self.assertEqual(self.tree("out"), ["colour.png"])

    def test_many_at_once(self):
        run = self.watch("-o", "out", "--idle", 1, "--summary", "s")
        for i in range(200):
            self.picture(f"in/{i:03}.png", ramp(6, 5, i))
        self.ends(run)
        self.assertEqual(self.tree("out"), [f"{i:03}.png" for i in range(200)])
        self.assertEqual((self.summary()["files"], self.summary()["done"]), (200, 200))

    @unittest.skipIf(SANITIZED, "slow")
    def test_more_events_than_the_system_keeps(self):
        """Those of the picture are lost then, and it is found by looking."""
        with open("/proc/sys/fs/inotify/max_queued_events", encoding="ascii") as file:
            events = int(file.read())
        if events > 50_000:
            self.skipTest("it keeps very many")
        run = self.watch("-o", "out")
        run.send_signal(signal.SIGSTOP)
        for i in range(events // 3 + 100):  # made, closed, removed
            path = self.path(f"in/{i}")
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
            os.remove(path)
        self.picture("in/lost.png")
        run.send_signal(signal.SIGCONT)
        self.wait_for(run, "lost.png")
        self.end(run)
        self.assertEqual(self.done(run), ["lost.png"])


class Folders(WatchTest):
    def test_folders_that_come_with_their_files(self):
        """Before a watch on them can stand: the program is halted meanwhile."""
        self.old("in/there/a.png")
        self.old("elsewhere/deep/b.png")
        run = self.watch("-o", "out", "-r")
        self.wait_for(run, "there/a.png")
        run.send_signal(signal.SIGSTOP)
        self.picture("in/new/c.png")
        self.picture("in/new/below/d.png")
        os.rename(self.path("elsewhere"), self.path("in/moved"))
        run.send_signal(signal.SIGCONT)
        self.wait_for(run, "new/c.png", "new/below/d.png", "moved/deep/b.png")
        self.picture("in/new/below/e.png")
        self.picture("in/moved/deep/f.png")
        self.wait_for(run, "new/below/e.png", "moved/deep/f.png")
        os.rename(self.path("in/new"), self.path("in/newer"))
        self.wait_for(run, "newer/c.png", "newer/below/d.png", "newer/below/e.png")
        self.picture("in/newer/g.png")
        self.wait_for(run, "newer/g.png")
        self.assertEqual(len(self.done(run)), len(set(self.done(run))))
        os.rename(self.path("in/newer"), self.path("in/new"))  # comes as it has come before
        self.wait(run, lambda: self.done(run).count("new/c.png") == 2)
        self.end(run)
        self.assertNotIn("failed", self.err(run))

    def test_without_r_folders_are_left_alone(self):
        self.old("in/there/a.png")
        run = self.watch("-o", "out", "--idle", 0.5)
        self.picture("in/there/b.png")
        self.picture("in/new/c.png")
        self.picture("in/d.png")
        self.ends(run)
        self.assertEqual(self.tree("out"), ["d.png"])

    def test_an_output_folder_inside_the_watched_one(self):
        self.old("in/a.png")
        self.old("in/sub/b.png")
        for target, name in (("in/out", ""), ("in/sub/../results", "-r")):
            with self.subTest(target):
                run = self.watch("-o", target, "--idle", 1, "--summary", "s", *name.split())
                self.picture("in/c.png")
                self.ends(run)
                self.assertEqual(self.summary()["files"], 2 if name == "" else 3 + 2)
                os.remove(self.path("in/c.png"))  # or the next run may find it before it comes
        self.assertEqual(self.tree("in/out"), ["a.png", "c.png"])
        self.assertEqual(self.tree("in/results"),
                         ["a.png", "c.png", "out/a.png", "out/c.png", "sub/b.png"])

    def test_an_output_folder_that_is_made_anew(self):
        self.old("in/a.png")
        run = self.watch("-o", "in/out", "-r", "--idle", 2.5)
        self.wait_for(run, "a.png", folder="in/out")
        shutil.rmtree(self.path("in/out"))
        self.picture("in/b.png")
        self.ends(run)
        self.assertEqual(self.tree("in"), ["a.png", "b.png", "out/b.png"])

    def test_results_that_would_come_as_pictures(self):
        os.mkdir(self.path("in/sub"))
        os.symlink("in", self.path("link"))
        feeds = "they would come as new pictures; choose a folder outside of it"
        for arguments in (["-o", "in"], ["-o", "link"], ["-o", "in/../in/"],
                          ["-o", "{dir}/{stem}_x.png"], ["-o", "in/{stem}.jpg"],
                          ["-r", "-o", "in/sub/{stem}.png"]):
            with self.subTest(arguments):
                run = self.impipe("imcomplement", "--watch", "in", "--idle", 1, *arguments, code=2)
                self.assertIn(feeds, run.err)
        run = self.impipe("imcomplement | save 'in/{stem}_x.png'", "--watch", "in", "-o", "out",
                          code=2)
        self.assertIn(feeds, run.err)
        run = self.impipe("mean2", "--watch", "in", "--errors", "in/e.png", code=2)
        self.assertEqual(run.err, "impipe: --watch: 'in/e.png' of --errors lies in the watched "
                                  "folder, and would be taken for a picture\n")
        self.assertEqual(self.tree("in"), [])

    def test_the_folder_vanishes(self):
        for how in ("removed", "another"):
            with self.subTest(how):
                self.old("in/a.png")
                run = self.watch("-o", "out", "--summary", "s")
                self.wait(run, lambda: len(self.done(run)) == 1)
                if how == "removed":
                    shutil.rmtree(self.path("in"))
                else:  # at once, as the program sees it
                    run.send_signal(signal.SIGSTOP)
                    os.rename(self.path("in"), self.path("before"))
                    os.mkdir(self.path("in"))
                    run.send_signal(signal.SIGCONT)
                err = self.ends(run, 1)
                self.assertIn(f"impipe: --watch: the folder 'in' is "
                              f"{'gone' if how == 'removed' else 'another one now'}\n", err)
                summary = self.summary()
                self.assertEqual((summary["done"], summary["exit"]), (1, 1))
                self.assertIn("the folder 'in' is", summary["error"])


class Ends(WatchTest):
    def test_idle(self):
        begin = time.monotonic()
        run = self.watch("-o", "out", "--idle", 1, "--summary", "s")
        self.picture("in/a.png")
        err = self.ends(run)
        self.assertGreater(time.monotonic() - begin, 1)
        self.assertIn("impipe: 1 file in ", err)
        self.assertEqual((self.summary()["exit"], self.summary()["done"]), (0, 1))
        os.mkdir(self.path("empty"))
        run = self.watch("-o", "out", "--idle", 0.2, folder="empty")
        self.assertNotIn("file", self.ends(run))

    def test_what_is_still_written_is_waited_for(self):
        run = self.watch("-o", "out", "--idle", 0.3)
        data = png(ramp())
        with open(self.path("in/a.png"), "wb") as file:
            file.write(data[:200])
            file.flush()
            time.sleep(1.5)
            self.assertIsNone(run.poll())
            file.write(data[200:])
        self.ends(run)
        self.assertEqual(self.tree("out"), ["a.png"])

    def cpu_seconds(self, run):
        with open(f"/proc/{run.pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def start_long(self, *arguments, files=8, side=600):
        """A watch that computes the first of some files, for more than half a second each."""
        for i in range(files):
            self.old(f"in/{i}.png", ramp(side, side))
        steps = " | ".join(["medfilt2 15"] * 240)
        run = self.watch("-o", "out", "--no-fuse", "-j", 1, "--backend", "cpu", "--summary", "s",
                         *arguments, pipeline=steps)
        self.wait(run, lambda: self.cpu_seconds(run) > 0.2)
        self.assertEqual(self.shown(), [])
        return run

    def test_a_signal_lets_what_is_in_work_come_to_its_end(self):
        run = self.start_long()
        self.assertEqual(self.end(run), 143)
        # The first, and those whose work had begun beside it.
        done = self.tree("out")
        self.assertIn(len(done), range(1, 6))
        self.assertEqual(done, [f"{i}.png" for i in range(len(done))])
        self.assertIn(f"impipe: stopped by SIGTERM: {len(done)} of 8 files are done\n",
                      self.err(run))
        summary = self.summary()
        self.assertEqual((summary["exit"], summary["files"], summary["done"], summary["failed"]),
                         (143, 8, len(done), 0))
        for name in done:
            self.assertEqual(self.pixels(f"out/{name}").shape, (600, 600))

    def test_a_second_signal_ends_at_once(self):
        run = self.start_long(files=1, side=3000)  # some seconds, were it not ended
        while run.poll() is None:  # two that come together may be one
            run.terminate()
            time.sleep(0.2)
        self.assertEqual(self.end(run), 143)
        self.assertIn("impipe: terminated\n", self.err(run))
        self.assertEqual(self.tree("out"), [])

    def test_fail_fast(self):
        run = self.watch("-o", "out", "--fail-fast")
        self.write("in/bad.png", "no picture")
        self.assertIn("in/bad.png: decode", self.ends(run, 1))

    def test_nobody_reads_the_numbers(self):
        reader, writer = os.pipe()
        run = self.watch(pipeline="mean2", stdout=writer)
        os.close(writer)
        os.close(reader)
        self.picture("in/a.png")
        self.assertIn("stdout: Broken pipe", self.ends(run, 1))


@unittest.skipIf(SANITIZED, "a sanitizer has calls of its own")
class Trouble(WatchTest):
    def setUp(self):
        super().setUp()
        self.library = build_failing_files(self.folder)

    def failing(self, file, call, error, times=None, after=0):
        env = {"LD_PRELOAD": self.library, "FAILING_FILE": file, "FAILING_CALL": call,
               "FAILING_ERRNO": str(error), "FAILING_AFTER": str(after)}
        return env if times is None else {**env, "FAILING_TIMES": str(times)}

    def test_where_the_system_tells_nothing_the_folder_is_looked_at(self):
        self.old("in/a.png")
        self.old("in/sub/b.png")
        run = self.watch("-o", "out", "-r",
                         env=self.failing("", "inotify_init1", errno.EMFILE))
        self.assertIn("the system does not tell what comes into folders (Too many open files): "
                      "'in' is looked at every few seconds", self.err(run))
        self.wait_for(run, "a.png", "sub/b.png")
        data = png(ramp(200, 300))
        with open(self.path("in/slow.png"), "wb") as file:
            file.write(data[:1000])
            file.flush()
            time.sleep(3)  # looked at meanwhile
            file.write(data[1000:])
        self.picture("in/new/c.png")
        self.picture("in/a.png", ramp(6, 5, 1))
        self.wait(run, lambda: len(self.done(run)) == 5)
        self.end(run)
        self.assertEqual(sorted(self.done(run)),
                         ["a.png", "a.png", "new/c.png", "slow.png", "sub/b.png"])
        self.assertNotIn("failed", self.err(run))
        self.assert_inverted("a.png")
        self.assert_inverted("slow.png")

    def test_files_that_hang_are_left_behind(self):
        """In the pixels, twice, and the lanes of the threads that hang stay theirs."""
        run = self.watch("-o", "out", "--timeout", 0.5, "-j", 2, "--idle", 1, "--summary", "s",
                         env=self.failing("hang", "read", 0, None, 4))
        for i in range(2):
            self.picture(f"in/hang{i}.png")
            self.wait(run, lambda i=i: f"hang{i}.png: decode: it took longer" in self.err(run))
            self.picture(f"in/{i}.png", ramp(6, 5, i))
            self.wait_for(run, f"{i}.png")
        self.ends(run, 1)
        self.assertEqual((self.summary()["done"], self.summary()["failed"]), (2, 2))
        self.assertEqual(self.tree("out"), ["0.png", "1.png"])

    def test_what_passes_is_tried_again(self):
        run = self.watch("-o", "out", "--retries", 2, "--idle", 0.5, "--summary", "s",
                         env=self.failing("in/a.png", "read", errno.EIO, 1))
        self.picture("in/a.png")
        self.ends(run)
        self.assertEqual((self.summary()["done"], self.summary()["retries"]), (1, 1))


class Reports(WatchTest):
    def test_json(self):
        self.old("in/a.png")
        run = self.watch("-o", "out", "--idle", 1, progress="json")
        self.wait_for(run, "a.png")
        self.picture("in/b.png")
        events = [json.loads(line) for line in self.ends(run).splitlines() if line[0] == "{"]
        self.assertEqual(events[0], {"event": "begin", "watch": "in"})
        self.assertEqual([(e["event"], e.get("index")) for e in events[1:]],
                         [("file", 0), ("file", 1), ("end", None)])

    def test_openjd(self):
        self.old("in/a.png")
        run = self.impipe("imcomplement", "--watch", "in", "-o", "out", "--idle", 0.2,
                          "--progress", "openjd")
        self.assertEqual(run.lines()[0], "openjd_status: watching in")
        self.assertRegex(run.lines()[1], "^openjd_status: 1 of 1 files done, 0 skipped, 0 failed")
        self.assertEqual(len(run.lines()), 2)

    def test_rows_come_as_files_do(self):
        """With a new head when there are other columns."""
        self.old("in/a.png", np.full((4, 4), 7, np.uint8))
        with open(self.path("rows"), "wb") as rows:
            run = self.watch(pipeline="mean2 each", stdout=rows)

        def lines():
            with open(self.path("rows"), encoding="ascii") as file:
                return [line.split("\t") for line in file.read().splitlines()]
        self.wait(run, lambda: len(lines()) == 2)
        self.picture("in/b.png", np.full((4, 4), 8, np.uint8))
        self.wait(run, lambda: len(lines()) == 3)
        self.picture("in/c.png", colour(4, 4))
        self.wait(run, lambda: len(lines()) == 5)
        self.end(run)
        self.assertEqual([line[0] for line in lines()],
                         ["file", "in/a.png", "in/b.png", "file", "in/c.png"])
        self.assertEqual(lines()[1][1:], ["7"])
        self.assertEqual(len({len(line) for line in lines()[3:]}), 1)


class Names(WatchTest):
    def test_two_inputs_with_one_result(self):
        """The one that comes later fails, until the first is gone."""
        run = self.watch("-o", "out", "--format", "png")
        self.picture("in/a.png", ramp(6, 5, 1))
        self.wait_for(run, "a.png")
        self.picture("in/a.bmp", ramp(6, 5, 2))
        self.wait(run, lambda: "in/a.bmp: plan" in self.err(run))
        self.assertIn("impipe: in/a.bmp: plan: 'out/a.png' is the result of 'in/a.png' already; "
                      "-o 'FOLDER/{name}.EXT' keeps the two apart\n", self.err(run))
        self.assert_inverted("a.png")
        os.remove(self.path("in/a.png"))
        self.picture("in/a.bmp", ramp(6, 5, 3))
        self.wait(run, lambda: len(self.done(run)) == 2)
        self.end(run)
        self.assert_inverted("a.png", "in/a.bmp")

    def test_templates(self):
        self.old("in/a.0007.png", ramp(6, 5, 1))
        self.old("in/odd.png")
        self.old("in/sub/a.0007.png", ramp(6, 5, 2))
        run = self.watch("-o", "out/{frame:05}.png", "-r", "--idle", 0.2)
        err = self.ends(run, 1)
        self.assertEqual(self.tree("out"), ["00007.png"])
        self.assert_inverted("00007.png", "in/a.0007.png")
        self.assertIn("in/sub/a.0007.png: plan: 'out/00007.png' is the result of", err)
        self.assertIn("in/odd.png: plan: 'out/{frame:05}.png' has {frame}", err)

    def test_shards_by_name(self):
        runs = [self.watch("-o", "out", "--shard", f"{part}/2", "--shard-by", "name", "--idle", 1)
                for part in (1, 2)]
        names = [f"{i}.png" for i in range(20)]
        for name in names:
            self.picture(f"in/{name}", ramp(6, 5))
        for run in runs:
            self.ends(run)
        done = [self.done(run) for run in runs]
        self.assertTrue(done[0] and done[1])
        self.assertEqual(sorted(done[0] + done[1]), sorted(names))

    def test_operands(self):
        """The partner is looked for when its picture comes."""
        os.mkdir(self.path("b"))
        run = self.watch("-o", "out", "--with", "b=b", "--idle", 1, pipeline="imlincomb 0.5 0.5 :b")
        self.picture("b/x.png", np.full((6, 5), 20, np.uint8))
        self.picture("in/x.png", np.full((6, 5), 40, np.uint8))
        self.picture("in/y.png")
        self.assertIn("in/y.png: decode: --with b: there is no partner", self.ends(run, 1))
        self.assertTrue((self.pixels("out/x.png") == 30).all())


class Arguments(WatchTest):
    def test_what_does_not_go_together(self):
        self.old("in/a.png")
        self.old("b/a.png")
        watch = ["imcomplement", "--watch", "in"]
        out = ["-o", "out"]
        for arguments, message in (
                (["imcomplement", "--watch", "none", *out], "there is no folder 'none'"),
                (["imcomplement", "--watch", "in/a.png", *out], "'in/a.png' is no folder"),
                (["imcomplement", "--watch", "", *out], "--watch"),
                ([*watch, "--watch", "b", *out], "--watch"),
                ([*watch, "b", *out], "--watch takes the place of inputs, and 'b' is one"),
                ([*watch, "-", *out], "--watch takes the place of inputs, and '-' is one"),
                ([*watch, "--files-from", "list", *out], "--watch and --files-from exclude"),
                ([*watch, "--frames", "1-3", *out], "--watch and --frames exclude each other"),
                ([*watch, "--in-place"], "--watch and --in-place exclude each other"),
                ([*watch, "--compare", "cpu"], "--watch and --compare exclude each other"),
                ([*watch, "--profile", *out], "leave --profile and --trace out"),
                ([*watch, "--trace", "t", *out], "leave --profile and --trace out"),
                ([*watch, "--shard", "1/2", *out], "give --shard-by name with --shard"),
                ([*watch, "-o", "out.png"], "'out.png' is one file for all that come"),
                ([*watch, "-o", "o/{index}.png"], "{index} in -o 'o/{index}.png' would be"),
                ([*watch, "-o", "-"], "give --format npy or --format ppm with -o -"),
                (watch, "the result is an image, and nothing says where it goes"),
                (["mean2", "--watch", "in", *out], "there is no image to write"),
                (["phantom 64", "--watch", "in", *out], "the pipeline makes its own image"),
                (["imcomplement", "in", *out, "--idle", "3"], "--idle ends a --watch"),
                ([*watch, *out, "--idle", "0"], "--idle: '0' is no number of seconds above 0"),
                ([*watch, *out, "--idle", "soon"], "--idle: 'soon' is no number of seconds")):
            with self.subTest(arguments):
                run = self.impipe(*arguments, code=2)
                self.assertIn(message, run.err)
                self.assertFalse(os.path.exists(self.path("out/a.png")))

    def test_pictures_on_stdout(self):
        self.old("in/a.png", ramp(6, 5, 1))
        self.old("in/b.png", ramp(6, 5, 2))
        run = self.impipe("imcomplement", "--watch", "in", "-o", "-", "--format", "ppm", "--idle",
                          0.2, binary=True)
        self.assertEqual(run.out.count(b"P5"), 2)

    def test_a_folder_that_may_not_be_read(self):
        os.chmod(self.path("in"), 0)
        run = self.impipe("mean2", "--watch", "in", code=2, wrap=without_root_rights)
        self.assertEqual(run.err, "impipe: --watch: 'in': Permission denied\n")


if __name__ == "__main__":
    unittest.main()
