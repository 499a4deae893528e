"""Runs that a server does (impipe serve, --via) are as local ones."""
import hashlib
import os
import shutil
import signal
import socket
import struct
import time
import unittest

import numpy as np

from program import LONG_SHAPE, PROGRAM, RUN_TIMEOUT, SANITIZED, ProgramTest, colour, ocio_config, ramp

LOCAL = "impipe: the run is local: "

# Command lines; what they write goes to out/.
LINES = [
    ["mean2 | std2", "a.png", "b.png"],
    ["mean2", "a.png", "--json"],
    ["mean2", "a.png", "b.png", "--csv"],
    ["mean2", "a.png", "--no-header"],
    ["imhist 8", "a.png"],
    ["imgaussfilt 2", "a.png", "-o", "out/a.png"],
    ["imgaussfilt 2", "a.png", "b.png", "c.jpg", "-o", "out/"],
    ["imgaussfilt 2", "c.jpg", "-o", "out/c.jpg", "--quality", "80"],
    ["imgaussfilt 2", "c.jpg", "-o", "out/c.png", "--strip"],
    ["medfilt2 5", "a.png", "-o", "out/{stem}-m.tif"],
    ["imresize 0.5", "c.jpg", "-o", "out/c.bmp"],
    ["rgb2gray | edge sobel", "c.jpg", "-o", "out/c.png"],
    ["imadjust | conv2 k7 | edge prewitt", "a.png", "-o", "out/e.png"],
    ["imlincomb 0.5 0.5 :b", "a.png", "--with", "b=b.png", "-o", "out/m.png"],
    ["map 'x / 2'", "f.npy", "-o", "out/f.npy"],
    ["imfilter @kernel.txt", "f.npy", "-o", "out/k.npy"],
    ["imfilter @none.txt", "f.npy", "-o", "out/k.npy"],
    ["im2single", "a.png", "-o", "out/s.exr"],
    ["imrotate 30", "c.jpg", "-o", "out/r.png"],
    ["bwlabel", "a.png", "-o", "out/l.npy"],
    ["phantom 64", "-o", "out/p.png"],
    ["phantom 64", "-o", "-", "--format", "npy"],
    ["imgaussfilt 1", "a.png", "--hash"],
    ["imgaussfilt 1", "a.png", "--hash", "--json"],
    ["imgaussfilt 1", "a.png", "-n"],
    ["imgaussfilt 1", "a.png", "-o", "out/q.png", "-q"],
    ["imgaussfilt 1", "a.png", "-o", "out/q.png", "--no-fuse"],
    ["imgaussfilt 1", "folder", "-r", "-o", "out/"],
    ["imgaussfilt 1", "*.png", "-o", "out/"],
    ["imgaussfilt 1", "none.png", "-o", "out/"],
    ["imgaussfilt 1", "broken.png", "-o", "out/"],
    ["imgaussfilt 1", "a.png", "broken.png", "b.png", "-o", "out/", "--fail-fast", "-j", "1"],
    ["imgaussfilt 1", "broken.png", "-o", "out/", "--errors", "none/errors"],
    ["imgausfilt 1", "a.png", "-o", "out/"],
    ["imgaussfilt 1", "a.png"],
    ["imgaussfilt 1", "a.png", "-o", "out/", "--nothing"],
    ["imgaussfilt 1", "a.png", "-o", "out/x.nothing"],
    ["imgaussfilt 1", "a.png", "-o", "out/", "--device", "none:3"],
    ["imgaussfilt 1", "a.png", "-o", "out/a.png", "--depth", "uint16"],
    ["imgaussfilt 1", "--files-from", "list", "-o", "out/"],
    ["run", "--help"],
    ["imgaussfilt 1", "\u00e4 \n.png", "-o", "out/"],
]


class Served(ProgramTest):
    devices = "cpu"

    def setUp(self):
        super().setUp()
        os.mkdir(self.path("runtime"), 0o700)
        self.server_env = {"XDG_RUNTIME_DIR": self.path("runtime"),
                           "IMPIPE_CACHE_DIR": self.path("cache"), "HOME": self.folder}
        self.socket = self.path("runtime", "impipe.sock")

    def environment(self, extra=None):
        return {**super().environment(), **self.server_env, **(extra or {})}

    def serve(self, *arguments, env=None):
        server = self.start("serve", "--device", self.devices, *arguments, env=env)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.stderr.close)
        self.addCleanup(self.end, server)
        self.assertEqual(server.stderr.readline().decode(), f"impipe: serving at {self.socket}\n")
        return server

    def end(self, server):
        if server.poll() is None:
            server.kill()
        server.wait()

    def via(self, *arguments, **options):
        return self.impipe("--via", *arguments, **options)

    def wait_until(self, holds):
        end = time.monotonic() + RUN_TIMEOUT
        while not holds():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.005)


class Equality(Served):
    def make_inputs(self):
        self.picture("a.png", ramp())
        self.picture("b.png", ramp(seed=5))
        self.picture("c.jpg", colour(), quality=90)
        self.picture("folder/below/d.png", ramp(seed=7))
        self.picture("\u00e4 \n.png", ramp(seed=8))
        self.picture("f.npy", ramp(seed=3).astype(np.float32))
        self.write("kernel.txt", "1 2 1\n2 4 2\n1 2 1\n")
        self.write("list", "a.png\nb.png\n")
        with open(self.path("a.png"), "rb") as whole:
            self.write("broken.png", whole.read()[:200])

    def result(self, line, env):
        """The exit code, what was printed, and the files with their modes."""
        os.umask(0o027)
        result = self.impipe(*line, code=None, binary=True, env=env)
        os.umask(0o022)
        files = {}
        for name in self.tree("out") if os.path.isdir(self.path("out")) else []:
            path = self.path("out", name)
            with open(path, "rb") as file:
                files[name] = (os.stat(path).st_mode, hashlib.sha256(file.read()).hexdigest())
            os.remove(path)
        return result.code, result.out, result.err, files

    def compare(self, device):
        self.make_inputs()
        self.serve()
        runs = 0
        for line in LINES:
            with self.subTest(line=line):
                env = {"IMPIPE_DEVICE": device}
                expected = self.result(line, env)
                self.assertEqual(self.result(line, {**env, "IMPIPE_SERVE": "1"}), expected)
                runs += 1
        self.assertGreater(runs, 40)

    def test_on_the_processor(self):
        self.compare("cpu")


class EqualityOpenCl(Equality):
    devices = "opencl:0"

    def test_on_the_processor(self):
        if "opencl:0" not in self.impipe("devices").out:
            return  # the processor's own are compared above
        self.compare("opencl:0")


class Serving(Served):
    def test_a_run_is_done_by_the_server(self):
        self.picture("a.png")
        server = self.serve()
        # A run that is stopped with the server, whose client gets the server's answer.
        os.kill(server.pid, signal.SIGSTOP)
        self.assertEqual(self.via("mean2", "a.png").err, LOCAL + "the server is at work\n")
        self.assertEqual(self.via("mean2", "a.png", "-q").err, "")
        os.kill(server.pid, signal.SIGCONT)
        self.wait_until(lambda: self.via("mean2", "a.png").err == "")

    def test_without_a_server_runs_are_local_and_say_so(self):
        self.picture("a.png")
        local = self.impipe("mean2", "a.png")
        for env in ({}, {"IMPIPE_SERVE": "1"}):
            run = self.impipe("mean2", "a.png", *(() if env else ("--via",)), env=env)
            self.assertEqual((run.out, run.err),
                             (local.out, LOCAL + f"there is no server at '{self.socket}'\n"))
        run = self.via("mean2", "a.png", env={"XDG_RUNTIME_DIR": ""})
        self.assertEqual(run.err, LOCAL + "there is no folder for the socket: set XDG_RUNTIME_DIR, "
                         "or IMPIPE_SOCKET=PATH for the server and the runs\n")

    def test_the_socket_is_the_users_alone(self):
        self.serve()
        self.assertEqual(os.stat(self.socket).st_mode & 0o7777, 0o700)
        os.mkdir(self.path("open"))
        refused = self.impipe("serve", "--socket", "open/s", code=2)
        self.assertEqual(refused.err, f"impipe: the socket's folder '{self.path('open')}' has to be "
                         "yours, and closed to others (chmod 700)\n")
        os.chmod(self.path("runtime"), 0o755)
        self.picture("a.png")
        self.assertIn("closed to others", self.via("mean2", "a.png").err)

    def test_two_servers_refuse_each_other_and_a_killed_ones_socket_is_replaced(self):
        server = self.serve()
        self.assertEqual(self.impipe("serve", "--device", "cpu", code=2).err,
                         f"impipe: another server is at '{self.socket}'\n")
        server.kill()
        server.wait()
        self.assertTrue(os.path.exists(self.socket))
        self.picture("a.png")
        self.assertIn("there is no server", self.via("mean2", "a.png").err)
        self.serve()
        self.assertEqual(self.via("mean2", "a.png").err, "")

    def test_a_file_in_the_sockets_place_stays(self):
        self.write("runtime/impipe.sock", "mine")
        self.assertEqual(self.impipe("serve", "--device", "cpu", code=2).err,
                         f"impipe: '{self.socket}' is there, and no socket\n")
        self.assertEqual(self.tree("runtime"), ["impipe.sock", "impipe.sock.lock"])

    def test_it_ends_when_idle_and_by_sigterm(self):
        server = self.serve("--idle", "0.1")
        self.assertEqual(server.wait(RUN_TIMEOUT), 0)
        self.assertFalse(os.path.exists(self.socket))
        server = self.serve()
        server.terminate()
        self.assertEqual(server.wait(RUN_TIMEOUT), 0)
        self.assertFalse(os.path.exists(self.socket))

    def test_what_a_process_has_from_its_start_has_to_be_the_servers(self):
        self.picture("a.png")
        self.serve()

        def reason(wrap=None, env=None):
            err = self.via("mean2", "a.png", wrap=wrap, env=env, code=None).err
            self.assertTrue(err.startswith(LOCAL), err)
            return err[len(LOCAL):].splitlines()[0]

        self.assertEqual(reason(env={"IMPIPE_CACHE_DIR": "/none"}),
                         "the server has another IMPIPE_CACHE_DIR")
        self.assertEqual(reason(env={"CUDA_VISIBLE_DEVICES": "1"}),
                         "the server has another CUDA_VISIBLE_DEVICES")
        self.assertEqual(reason(lambda c: ["sh", "-c", 'ulimit -n 100; exec "$@"', "sh", *c]),
                         "the server has another set of limits (ulimit)")
        copy = self.path("copy")
        with open(PROGRAM, "rb") as program:
            self.write("copy", program.read())
        os.chmod(copy, 0o755)
        self.assertEqual(reason(lambda c: [copy, *c[1:]]),
                         "the server has another build of impipe")

    def test_runs_that_are_not_for_a_server_are_local(self):
        self.picture("in/a.png")
        self.serve()
        for line, why in [(["mean2", "--watch", "in", "--idle", "0.1"], "--watch goes on for long"),
                          (["mean2", "/dev/fd/0/a.png"],
                           "it names a file that is open in this process")]:
            run = self.via(*line, code=None)
            self.assertEqual(run.err.splitlines()[0], LOCAL + why)

    def test_a_pipes_text_is_read_anew(self):
        self.picture("a.npy", ramp().astype(np.float32))
        self.serve()
        for factor in "23":
            self.via("imfilter @/dev/stdin", "a.npy", "-o", "b.npy", stdin=factor.encode())
            np.testing.assert_array_equal(self.pixels("b.npy"),
                                          int(factor) * self.pixels("a.npy"))

    def test_runs_have_their_own_environment(self):
        self.picture("a.png", np.full((4, 5, 3), 100, np.uint8))
        self.write("c.ocio", ocio_config("FileTransform> {src: x.cube}"))
        self.write("luts/a/x.cube", "LUT_1D_SIZE 2\n0 0 0\n0.5 0.5 0.5\n")
        self.write("luts/b/x.cube", "LUT_1D_SIZE 2\n0 0 0\n2 2 2\n")
        self.serve(env={"OCIO": self.path("c.ocio"), "SHOT": "a"})

        def mean(**env):
            run = self.via("ocio lin enc | mean2", "a.png", "--no-header", env=env)
            self.assertEqual(run.err, "")
            return float(run.out.split()[-1])

        for shot, value in (("a", 50), ("b", 200)):
            self.assertEqual(mean(OCIO="c.ocio", SHOT=shot), value)
        self.write("luts/b/x.cube", "LUT_1D_SIZE 2\n0 0 0\n0.25 0.25 0.25\n")
        self.assertEqual(mean(OCIO="c.ocio", SHOT="b"), 25)
        run = self.via("ocio lin enc | mean2", "a.png", code=2)
        self.assertIn("there is no configuration", run.err)

    def test_damaged_requests_do_no_harm(self):
        self.picture("a.png")
        self.serve()
        rng = np.random.default_rng(1)
        head = struct.pack("<8sQ", b"impipe 1", 40)
        for data in [b"", b"x", head, head + b"0\0" * 20, head[:8] + b"\xff" * 8, b"impipe 2" * 2,
                     *(head + rng.bytes(40) for _ in range(30)), *(rng.bytes(60) for _ in range(30))]:
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(self.socket)
                # Some have descriptors with them.
                rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("3i", 0, 1, 2))]
                client.sendmsg([data or b"\0"], rights if len(data) % 3 else [])
                client.shutdown(socket.SHUT_WR)
                answer = client.recv(256)
                self.assertNotEqual(answer[:1], b"\0", data)
        self.wait_until(lambda: self.via("mean2", "a.png").err == "")

    def test_many_runs_take_no_more_memory(self):
        self.picture("a.png", colour(200, 300))
        server = self.serve()

        def resident():
            with open(f"/proc/{server.pid}/statm", encoding="ascii") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

        def run(times):
            for i in range(times):
                self.via("imgaussfilt 2", "a.png", "-o", "out/a.png", env={"IMPIPE_J": str(i)})
        run(10)
        before = resident(), len(os.listdir(f"/proc/{server.pid}/fd"))
        run(20 if SANITIZED else 200)
        after = resident(), len(os.listdir(f"/proc/{server.pid}/fd"))
        self.assertEqual(after[1], before[1])
        if not SANITIZED:
            self.assertLess(after[0], before[0] + (4 << 20))


class Signals(Served):
    def begin(self, pipeline="medfilt2 9 | medfilt2 9"):
        """A client of a long run."""
        for i in range(40):
            self.picture(f"in/{i:02}.png", ramp(*LONG_SHAPE, i))
        shutil.rmtree(self.path("out"), ignore_errors=True)
        server = self.serve()
        run = self.start("--via", pipeline, "in", "-o", "out/", "-j", "1")
        self.addCleanup(run.stdout.close)
        self.addCleanup(run.stderr.close)
        self.wait_for_results(run, 1)
        return server, run

    def check_whole(self):
        for name in self.tree("out"):
            self.assertTrue(name.endswith(".png") and not name.startswith("."), name)
            self.pixels("out/" + name)

    def test_a_signal_of_the_client_stops_its_run(self):
        for number, name in [(signal.SIGINT, "SIGINT"), (signal.SIGTERM, "SIGTERM")]:
            with self.subTest(name):
                server, run = self.begin()
                run.send_signal(number)
                self.assertEqual(run.wait(RUN_TIMEOUT), 128 + number)
                self.assertRegex(run.stderr.read().decode(),
                                 rf"impipe: stopped by {name}: \d+ of 40 files are done\n$")
                self.check_whole()
                self.assertEqual(self.via("mean2", "in/00.png").err, "")
                server.terminate()
                server.wait()

    def test_the_clients_death_stops_its_run(self):
        server, run = self.begin()
        run.kill()
        run.wait()
        self.wait_until(lambda: self.via("mean2", "in/00.png").err == "")
        self.check_whole()
        self.assertLess(len(self.tree("out")), 40)
        self.assertIsNone(server.poll())

    def test_a_second_signal_ends_the_run_at_once_and_the_server_goes_on(self):
        server, run = self.begin()
        run.send_signal(signal.SIGINT)
        time.sleep(0.02)
        run.send_signal(signal.SIGINT)
        self.assertEqual(run.wait(RUN_TIMEOUT), 130)
        self.wait_until(lambda: self.via("mean2", "in/00.png").err == "")
        self.check_whole()
        self.assertIsNone(server.poll())

    def test_the_servers_end_stops_the_run(self):
        server, run = self.begin()
        server.terminate()
        self.assertEqual(run.wait(RUN_TIMEOUT), 143)
        self.assertRegex(run.stderr.read().decode(), "impipe: stopped by SIGTERM: .* of 40 files")
        self.assertEqual(server.wait(RUN_TIMEOUT), 0)
        self.check_whole()
        self.assertFalse(os.path.exists(self.socket))

    def test_a_server_that_is_killed_fails_the_run(self):
        server, run = self.begin()
        server.kill()
        self.assertEqual(run.wait(RUN_TIMEOUT), 1)
        self.assertEqual(run.stderr.read().decode().splitlines()[-1],
                         "impipe: the server ended before the run")

    def test_a_run_that_waits_long_is_local(self):
        _, run = self.begin(" | ".join(["medfilt2 9"] * 40))
        self.assertEqual(self.via("mean2", "in/00.png").err, LOCAL + "the server is at work\n")
        run.kill()
        run.wait()

    def test_runs_side_by_side_all_have_their_results(self):
        self.picture("a.png")
        self.serve()
        runs = [self.start("--via", "imgaussfilt 1", "a.png", "-o", f"out/{i}.png", "-q")
                for i in range(16)]
        for run in runs:
            run.communicate()
            self.assertEqual(run.returncode, 0)
        self.assertEqual(len(self.tree("out")), 16)


if __name__ == "__main__":
    unittest.main()
