"""compare_peers.py --device: impipe on a device beside the libraries that are here."""
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np

from peers import PEERS
from peers.pictures import Pictures
from peers.report import Report
from peers.table import KINDS, PICTURES, ROWS

SCRIPTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def with_scripts():
    """The environment of processes that find this package."""
    return dict(os.environ, PYTHONPATH=os.pathsep.join(
        [SCRIPTS, *filter(None, [os.environ.get("PYTHONPATH")])]))


def selected_rows(options):
    """[(row, kind)] of what --match and --kinds leave."""
    kinds = options.kinds.split(",") if options.kinds else KINDS
    for kind in kinds:
        if kind not in KINDS:
            sys.exit(f"compare_peers: --kinds takes some of {','.join(KINDS)}, not '{kind}'")
    # Kind by kind: the pictures of one are resident at a time.
    return [(row, kind) for kind in kinds for row in ROWS if kind in row.kinds
            and (not options.match or any(text in row.name for text in options.match))]


def make_pictures(folder, kinds, sizes):
    pictures = Pictures()
    for kind in kinds:
        for size in sizes:
            for which in range(2):
                np.save(os.path.join(folder, f"{kind}-{size}-{'ab'[which]}.npy"),
                        pictures.of(kind, size, which if kind in PICTURES else 0))


class Impipe:
    """Its times, and its results for the others to be held against."""

    def __init__(self, options, folder):
        self.program, self.device, self.folder = options.impipe, options.device, folder
        self.limit = options.row_seconds
        self.about = {}

    def _bench(self, kind, size, pipelines):
        picture = os.path.join(self.folder, f"{kind}-{size}-a.npy")
        run = subprocess.run([self.program, "bench", "--json", "--in-cache", "--device", self.device,
                              "--repeat", "5", "--input", picture, *pipelines],
                             capture_output=True, text=True,
                             timeout=20 + self.limit * len(pipelines))
        if run.returncode != 0:
            raise RuntimeError(" ".join(run.stderr.split()[:30]) or f"exit {run.returncode}")
        said = json.loads(run.stdout)
        self.about = {"version": said["version"], **said["device"],
                      "copy_bytes_per_s": said["copy_bytes_per_s"]}
        return said["results"]

    def times(self, kind, size, rows):
        """Yields (row, its result of bench or None, what went wrong)."""
        pipelines = [row.pipeline_for(kind) for row in rows]
        try:
            for row, result in zip(rows, self._bench(kind, size, pipelines)):
                yield row, result, ""
            return
        except (RuntimeError, ValueError, subprocess.TimeoutExpired):
            pass  # one of them is at fault: each by itself
        for row, pipeline in zip(rows, pipelines):
            try:
                yield row, self._bench(kind, size, [pipeline])[0], ""
            except (RuntimeError, ValueError, subprocess.TimeoutExpired) as error:
                yield row, None, str(error)[:200]

    def microseconds(self, row, result):
        """The queue's time, or on the host that from the device's memory to the result."""
        wall = 1e3 * (result["median_ms"] - result["transfer_ms"])
        if row.host or self.device.startswith("cpu"):
            return wall, abs(result["wall_deviation_ms"]) / max(result["median_ms"], 1e-9)
        return result["device_us"], result["device_deviation_us"] / max(result["device_us"], 1e-9)

    def write_result(self, row, kind, size, path):
        """An error in words, or empty."""
        command = [self.program, row.pipeline_for(kind), self._path(kind, size, "a"), "-o", path,
                   "-q", "--device", self.device]
        if ":b" in row.pipeline:
            command += ["--with", "b=" + self._path(kind, size, "b")]
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=60)
        except subprocess.TimeoutExpired:
            return "longer than 60 s"
        return "" if run.returncode == 0 else " ".join(run.stderr.split())[:200]

    def _path(self, kind, size, which):
        return os.path.join(self.folder, f"{kind}-{size}-{which}.npy")


def write_results(impipe, jobs):
    """impipe's results at the size that is checked, four processes at a time."""
    waiting = queue.SimpleQueue()
    for job in jobs:
        if job["expected"]:
            waiting.put(job)
    rows = {row.name: row for row in ROWS}

    def work():
        while True:
            try:
                job = waiting.get_nowait()
            except queue.Empty:
                return
            problem = impipe.write_result(rows[job["row"]], job["kind"], job["size"],
                                          job["expected"])
            if problem:
                print(f"impipe: {job['row']}, {job['kind']}: no result to compare: {problem}",
                      flush=True)

    workers = [threading.Thread(target=work) for _ in range(min(4, os.cpu_count() or 1))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


class PeerRun:
    """One peer through all jobs: a process, and another one behind a row that ended it."""

    def __init__(self, name, folder, jobs, report, options, until):
        self.name, self.folder, self.jobs, self.report = name, folder, jobs, report
        self.options, self.until = options, until
        self.lost_in_graphs = 0  # processes that went down while a graph was recorded

    def all(self):
        left = list(range(len(self.jobs)))
        while left and time.monotonic() < self.until:
            ended_at = self._process(left)
            if ended_at is None:
                return
            left = [number for number in left if number > ended_at]
        if left:
            self.report.note(self.name, f"{len(left)} rows left out: its time was over")

    def _process(self, left):
        """Runs rows until the process ends; the number of the row it ended in, or None."""
        with open(os.path.join(self.folder, "jobs.json"), "w") as file:
            json.dump([self.jobs[number] for number in left], file)
        environment = with_scripts()
        if self.lost_in_graphs >= 2:
            environment["IMPIPE_PEERS_GRAPHS"] = "0"
        logs = self.options.logs or self.folder
        log = open(os.path.join(logs, f"peer-{self.name}.log"), "a")
        process = subprocess.Popen([sys.executable, "-m", "peers.worker", self.name, self.folder],
                                   stdout=subprocess.PIPE, stderr=log, text=True, env=environment)
        lines = queue.SimpleQueue()
        threading.Thread(target=lambda: [*map(lines.put, process.stdout), lines.put(None)],
                         daemon=True).start()
        try:
            return self._read(lines, left)
        finally:
            process.kill()
            process.wait()
            log.close()

    def _read(self, lines, left):
        at, limit = None, 90  # a library may take long to load
        while True:
            try:
                line = lines.get(timeout=max(1, min(limit, self.until - time.monotonic())))
            except queue.Empty:
                return self._ended(at, left, f"longer than {self.options.row_seconds} s")
            if line is None:
                return self._ended(at, left, "its process ended")
            try:
                said = json.loads(line)
            except ValueError:
                continue  # what a library printed
            if "missing" in said:
                self.report.note(self.name, "not here: " + said["missing"])
                return None
            if "done" in said:
                return None
            if "peer" in said:
                self.report.peer(self.name, said["peer"], said["where"])
            elif "begin" in said:
                at, limit = left[said["begin"]], self.options.row_seconds
            elif "interim" in said:
                self.report.interim(self.jobs[at], self.name, said)
            elif "end" in said:
                lost = "error" in said and "cuda" in said["error"].lower()
                self.lost_in_graphs += lost and self.report.has(self.jobs[at], self.name)
                self.report.measured(self.jobs[at], self.name, said)
                if lost:
                    return at

    def _ended(self, at, left, why):
        if at is None:
            self.report.note(self.name, "not here: " + why)
            return None
        if time.monotonic() >= self.until:
            why = "its time was over"
        self.lost_in_graphs += self.report.has(self.jobs[at], self.name)
        self.report.measured(self.jobs[at], self.name, {"error": why})
        return at


def compare_device(options):
    """Exit status: 1 when a result disagrees."""
    begin = time.monotonic()
    sizes = [int(size) for size in str(options.sizes).split(",")]
    chosen = selected_rows(options)
    names = options.peers.split(",") if options.peers else list(PEERS)
    for name in names:
        if name not in PEERS:
            sys.exit(f"compare_peers: --peers takes some of {','.join(PEERS)}, not '{name}'")
    with tempfile.TemporaryDirectory(prefix="impipe-peers-") as folder:
        compiling = subprocess.Popen([sys.executable, "-m", "peers.compiled", *names],
                                     env=with_scripts(), stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL)
        make_pictures(folder, dict.fromkeys(kind for _, kind in chosen), sizes)
        jobs = [{"row": row.name, "kind": kind, "size": size, "expected":
                 os.path.join(folder, f"expected-{number}.npy") if size == min(sizes) else ""}
                for size in sizes for number, (row, kind) in enumerate(chosen)]
        impipe = Impipe(options, folder)
        write_results(impipe, jobs)
        compiling.wait()
        report = Report(options, PEERS)
        for size in sizes:
            for kind in dict.fromkeys(kind for _, kind in chosen):
                rows = [row for row, its in chosen if its == kind]
                for row, result, problem in impipe.times(kind, size, rows):
                    us, spread = impipe.microseconds(row, result) if result else (None, None)
                    report.ours(row, kind, size, us, spread, problem)
        report.about = impipe.about
        print(f"impipe is done at {time.monotonic() - begin:.0f} s", flush=True)
        end = begin + options.seconds
        for place, name in enumerate(names):
            now = time.monotonic()
            until = now + max(10, (end - now) / (len(names) - place))
            PeerRun(name, folder, jobs, report, options, until).all()
        report.finish(time.monotonic() - begin)
    return 1 if report.wrong else 0
