"""How long a call takes: CUDA events round graphs and calls, or wall time."""
import os
import statistics
import time

FOOTPRINT = 256 << 20  # bytes of inputs in turn: beyond every cache
LEAST_COPIES, MOST_COPIES = 2, 32


def copies(picture_bytes):
    return max(LEAST_COPIES, min(MOST_COPIES, FOOTPRINT // max(1, picture_bytes)))


class Time:
    """us: the median of groups of calls, a call; least_us; spread: of the middle half of the
    groups, over the median; how: graph, events or wall; called_us: as called from Python."""

    def __init__(self, groups_us, how, called_us=None):
        ordered = sorted(groups_us)
        self.us, self.least_us = statistics.median(ordered), ordered[0]
        quarter = len(ordered) // 4
        self.spread = (ordered[-1 - quarter] - ordered[quarter]) / self.us
        self.how, self.called_us = how, called_us

    def values(self):
        return {"us": self.us, "least_us": self.least_us, "spread": self.spread, "how": self.how,
                "called_us": self.called_us}


def _groups(once_ms, seconds):
    """How often a group of so many milliseconds is repeated."""
    return int(min(25, max(3, seconds * 1e3 / max(once_ms, 1e-3))))


class WallClock:
    """finish() waits until the device has done all that it was given."""

    def __init__(self, finish=None, one_picture=True, seconds=0.4):
        self.finish, self.one_picture, self.seconds = finish or (lambda: None), one_picture, seconds

    def copies(self, picture_bytes):
        return 1 if self.one_picture else copies(picture_bytes)

    def measure(self, call, inputs, interim):
        def group(times):
            begin = time.perf_counter()
            for i in range(times):
                call.run(*inputs[i % len(inputs)])
            self.finish()
            return (time.perf_counter() - begin) * 1e3

        group(1)
        once = group(1)
        times = max(1, min(len(inputs) * 4, int(20 / max(once, 1e-3))))
        once = group(times) if once < 200 else once * times
        groups = [group(times) * 1e3 / times for _ in range(_groups(once, self.seconds))]
        return Time(groups, "wall")


class CudaClock:
    """The steps that CuPy and PyTorch word differently are methods of the classes below."""

    seconds = 0.1

    def copies(self, picture_bytes):
        return copies(picture_bytes)

    def measure(self, call, inputs, interim):
        """interim is told the time as called: what cannot be recorded may end the process."""
        results = [None] * len(inputs)

        def rotate(count):
            for i in range(count):
                results[i] = call.run(*inputs[i])

        with self.current():
            rotate(min(3, len(inputs)))
            self.synchronize()
            once = self.elapsed_ms(lambda: rotate(1))
            count = max(1, min(len(inputs), int(100 / max(once, 1e-3))))
            together = self.elapsed_ms(lambda: rotate(count))
            called = [self.elapsed_ms(lambda: rotate(count)) * 1e3 / count
                      for _ in range(_groups(together, self.seconds))]
        called_time = Time(called, "events")
        if not call.graph or together / count > 20 or os.environ.get("IMPIPE_PEERS_GRAPHS") == "0":
            return called_time
        interim(called_time)
        try:
            replay = self.captured(lambda: rotate(count))
            with self.current():
                replay()
                self.synchronize()
                together = self.elapsed_ms(replay)
                groups = [self.elapsed_ms(replay) * 1e3 / count
                          for _ in range(_groups(together, self.seconds))]
        except Exception:  # what waits for the device cannot be recorded
            self.start_again()
            return called_time
        return Time(groups, "graph", called_time.us)


class CupyClock(CudaClock):
    def __init__(self):
        import cupy
        self.cupy = cupy
        self.start_again()

    def start_again(self):
        self.stream = self.cupy.cuda.Stream(non_blocking=True)

    def current(self):
        return self.stream

    def synchronize(self):
        self.stream.synchronize()

    def elapsed_ms(self, work):
        begin, end = self.cupy.cuda.Event(), self.cupy.cuda.Event()
        begin.record(self.stream)
        work()
        end.record(self.stream)
        end.synchronize()
        return self.cupy.cuda.get_elapsed_time(begin, end)

    def captured(self, work):
        with self.stream:
            self.stream.begin_capture()
            try:
                work()
            except Exception:
                try:
                    self.stream.end_capture()
                except Exception:  # the capture was ended by what failed
                    pass
                raise
            graph = self.stream.end_capture()
        return lambda: graph.launch(self.stream)


class TorchClock(CudaClock):
    def __init__(self):
        import torch
        self.torch = torch
        self.start_again()

    def start_again(self):
        self.torch.cuda.synchronize()
        self.stream = self.torch.cuda.Stream()

    def current(self):
        return self.torch.cuda.stream(self.stream)

    def synchronize(self):
        self.stream.synchronize()

    def elapsed_ms(self, work):
        event = self.torch.cuda.Event
        begin, end = event(enable_timing=True), event(enable_timing=True)
        begin.record(self.stream)
        work()
        end.record(self.stream)
        end.synchronize()
        return begin.elapsed_time(end)

    def captured(self, work):
        graph = self.torch.cuda.CUDAGraph()
        with self.torch.cuda.stream(self.stream):
            self.stream.synchronize()
            graph.capture_begin(capture_error_mode="relaxed")
            try:
                work()
            finally:
                graph.capture_end()
        return graph.replay
