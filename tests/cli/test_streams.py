"""Streams of frames: Y4M in and out, raw samples, pictures one behind the other.

What colours should be is computed here, with whole numbers, from the definitions of ITU-R BT.601,
709 and 2020; ffmpeg judges the files and stands on both sides of the pipe.
"""
import io
import os
import signal
import subprocess
import sys
import time
import unittest

import numpy as np
from PIL import Image
from program import PROGRAM, SANITIZED, ProgramTest, colour, ramp

IDENTITY = "rot90 0"
WEIGHTS = {"601": (299, 587, 114), "709": (2126, 7152, 722), "2020": (2627, 6780, 593)}
KINDS = ("420jpeg", "420mpeg2", "420paldv", "420", "422", "444", "411", "mono", "444alpha",
         "420p10", "422p12", "444p9", "444p16", "420p14", "mono10", "mono16")


def shape_of(kind):
    """Pixels of a sample of Cb and Cr across and down, bits."""
    across, down = {"420": (2, 2), "422": (2, 1), "411": (4, 1), "444": (1, 1),
                    "mon": (0, 0)}[kind[:3]]
    digits = kind.replace("mono", "p").partition("p")[2]
    return across, down, int(digits) if digits.isdigit() else 8


def random_frame(kind, width, height, rng):
    """The planes of a frame of any codes, those that no colour has among them."""
    across, down, bits = shape_of(kind)
    kind_of = np.uint16 if bits > 8 else np.uint8
    sizes = [(height, width)]
    if across:
        sizes += [(-(-height // down), -(-width // across))] * 2
    if kind == "444alpha":
        sizes.append((height, width))
    return [rng.integers(0, 2 ** bits, size).astype(kind_of) for size in sizes]


def y4m(kind, width, height, frames, words="F30000:1001 Ip A1:1", lines=None, end=""):
    out = f"YUV4MPEG2 W{width} H{height} {words} C{kind}{end}\n".encode()
    for i, planes in enumerate(frames):
        out += (lines[i] if lines else b"FRAME") + b"\n" + b"".join(p.tobytes() for p in planes)
    return out


def spans(bits, full):
    """Codes of black, from black to white, and of Cb and Cr from end to end."""
    scale = 1 << (bits - 8)
    return (0, 2 ** bits - 1, 2 ** bits - 1) if full else (16 * scale, 219 * scale, 224 * scale)


def quotient(numerator, divisor):
    """Rounded half up, of whole numbers."""
    return (2 * numerator + divisor) // (2 * divisor)


def rgb_of(planes, across, down, bits, full, matrix):
    r, g, b = WEIGHTS[matrix]
    total = r + g + b
    black, luma, chroma = spans(bits, full)
    white = 255 if bits == 8 else 65535
    y = planes[0].astype(object) - black
    height, width = y.shape
    cb, cr = (np.repeat(np.repeat(p, down, 0), across, 1)[:height, :width].astype(object)
              - 2 ** (bits - 1) for p in planes[1:3])
    over = luma * chroma * total
    red = quotient(white * (y * chroma * total + 2 * (total - r) * luma * cr), over)
    blue = quotient(white * (y * chroma * total + 2 * (total - b) * luma * cb), over)
    green = quotient(white * (y * chroma * total * g - 2 * b * (total - b) * luma * cb
                              - 2 * r * (total - r) * luma * cr), over * g)
    stack = np.stack([red, green, blue], axis=-1)
    return np.clip(stack, 0, white).astype(np.uint16 if bits > 8 else np.uint8)


def planes_of(rgb, across, down, bits, full, matrix):
    r, g, b = WEIGHTS[matrix]
    total = r + g + b
    black, luma, chroma = spans(bits, full)
    white = 255 if bits == 8 else 65535
    red, green, blue = (rgb[..., c].astype(object) for c in range(3))
    weighted = r * red + g * green + b * blue
    y = quotient(luma * weighted, total * white) + black
    height, width = weighted.shape
    out = [y]
    for c, weight in ((blue, b), (red, r)):
        difference = total * c - weighted
        rows = []
        for top in range(0, height, down):
            row = []
            for left in range(0, width, across):
                block = difference[top:top + down, left:left + across]
                row.append(quotient(chroma * block.sum(), 2 * (total - weight) * white * block.size)
                           + 2 ** (bits - 1))
            rows.append(row)
        out.append(np.clip(np.array(rows), 0, 2 ** bits - 1))
    return [p.astype(np.uint16 if bits > 8 else np.uint8) for p in out]


def ffmpeg(*arguments, **options):
    return subprocess.run(["ffmpeg", "-v", "error", "-y", *arguments], check=True,
                          capture_output=True, **options)


class Frames(ProgramTest):
    def setUp(self):
        super().setUp()
        self.rng = np.random.default_rng(5)

    def frames(self, kind, count=3, width=13, height=7):
        return [random_frame(kind, width, height, self.rng) for _ in range(count)]

    def through(self, data, *arguments, code=0, err=""):
        run = self.impipe(*arguments, "-", "-o", "-", stdin=data, binary=True, code=code)
        self.assertEqual(run.err, err)
        return run.out

    def arrays(self, data, *arguments):
        run = self.impipe(IDENTITY, "-", "-o", "-", "--format", "npy", *arguments, stdin=data,
                          binary=True)
        stream, out = io.BytesIO(run.out), []
        while stream.tell() < len(run.out):
            out.append(np.load(stream))
        return out


class Y4m(Frames):
    def test_what_is_not_changed_keeps_its_samples(self):
        for kind in KINDS:
            for end in ("", " XCOLORRANGE=FULL XANYTHING=1", " XCOLORRANGE=LIMITED"):
                with self.subTest(kind, end=end):
                    data = y4m(kind, 13, 7, self.frames(kind), "F25:1 It A59:54", end=end,
                               lines=[b"FRAME", b"FRAME Itpp XQ=2", b"FRAME"])
                    self.assertEqual(self.through(data, IDENTITY), data)
                    self.assertEqual(self.through(data, "imlincomb 1"), data)

    def test_unchanged_parts_of_a_changed_frame_keep_their_samples(self):
        # A row is black; all others stay.
        [planes] = self.frames("444", 1)
        out = self.through(y4m("444", 13, 7, [planes]), "map 'row==3 ? 0 : x'")
        got = np.frombuffer(out[-3 * 7 * 13:], np.uint8).reshape(3, 7, 13)
        expected = np.stack(planes)
        changes = rgb_of(planes, 1, 1, 8, False, "601")[3].any(axis=-1)  # others are black
        expected[0, 3, changes], expected[1:, 3, changes] = 16, 128
        np.testing.assert_array_equal(got, expected)

    def test_colours_are_those_of_the_definition(self):
        for kind in ("444", "420jpeg", "422", "411", "420p10", "444p16", "422p12"):
            across, down, bits = shape_of(kind)
            for full in (False, True):
                for matrix in WEIGHTS:
                    with self.subTest(kind, full=full, matrix=matrix):
                        frames = self.frames(kind, 2)
                        data = y4m(kind, 13, 7, frames,
                                   end=" XCOLORRANGE=FULL" if full else "")
                        for got, planes in zip(self.arrays(data, "--matrix", matrix), frames,
                                               strict=True):
                            np.testing.assert_array_equal(
                                got, rgb_of(planes, across, down, bits, full, matrix))

    def test_samples_are_those_of_the_definition(self):
        words = {"444": "444", "422": "422", "420": "420jpeg"}
        for across, down, name in ((1, 1, "444"), (2, 1, "422"), (2, 2, "420")):
            for deep in (False, True):
                for matrix in WEIGHTS:
                    with self.subTest(name, deep=deep, matrix=matrix):
                        top, kind = (65536, np.uint16) if deep else (256, np.uint8)
                        rgb = self.rng.integers(0, top, (7, 13, 3)).astype(kind)
                        np.save(self.path("a.npy"), rgb)
                        out = self.impipe(IDENTITY, "a.npy", "-o", "-", "--format", "y4m",
                                          "--subsampling", name, "--matrix", matrix,
                                          binary=True).out
                        word = f"{name}p16" if deep else words[name]
                        planes = planes_of(rgb, across, down, 16 if deep else 8, False, matrix)
                        self.assertEqual(out, y4m(word, 13, 7, [planes], "F25:1 Ip A1:1",
                                                  end=" XCOLORRANGE=LIMITED"))

    def test_colours_that_there_are_come_back(self):
        # 4:4:4 of colours within red, green and blue, also when they went through a PNG.
        rgb = self.rng.integers(8, 248, (40, 60, 3)).astype(np.uint8)
        Image.fromarray(rgb).save(self.path("a.png"))
        self.impipe(IDENTITY, "a.png", "-o", "a.y4m", "--subsampling", "444")
        self.impipe(IDENTITY, "a.y4m", "-o", "back_{page}.png", "--strip")
        self.impipe(IDENTITY, "back_1.png", "-o", "b.y4m", "--subsampling", "444")
        with open(self.path("a.y4m"), "rb") as a, open(self.path("b.y4m"), "rb") as b:
            self.assertEqual(a.read(), b.read())

    def test_ffmpeg_shows_the_same_colours(self):
        Image.fromarray(colour(48, 64)).save(self.path("a.png"))
        for pixels in ("yuv444p", "yuvj444p", "yuv444p10le", "gray", "gray10le"):
            with self.subTest(pixels):
                ffmpeg("-i", self.path("a.png"), "-pix_fmt", pixels, "-strict", "-1",
                       self.path("a.y4m"))
                ffmpeg("-i", self.path("a.y4m"), "-pix_fmt", "rgb24", "-sws_flags",
                       "accurate_rnd+full_chroma_int+full_chroma_inp", self.path("theirs.png"))
                self.impipe(IDENTITY, "a.y4m", "-d", "uint8", "-o", "ours_{page}.png")
                theirs = np.asarray(Image.open(self.path("theirs.png")).convert("RGB"), int)
                ours = np.asarray(Image.open(self.path("ours_1.png")).convert("RGB"), int)
                self.assertLessEqual(np.abs(theirs - ours).max(), 1)

    def test_ffmpeg_on_both_sides(self):
        ffmpeg("-f", "lavfi", "-i", "testsrc=s=96x64:r=10:d=2", "-pix_fmt", "yuv420p", "-f",
               "yuv4mpegpipe", self.path("in.y4m"))
        command = (f"ffmpeg -v error -i in.y4m -f yuv4mpegpipe - | '{PROGRAM}' 'imresize 0.5' - "
                   "--format y4m -o - | ffmpeg -v error -y -i - -c:v ffv1 out.mkv")
        done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=self.folder,
                              capture_output=True, env=self.environment())
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        shown = subprocess.run(
            ["ffprobe", "-v", "error", "-count_frames", "-show_entries",
             "stream=width,height,r_frame_rate,nb_read_frames,pix_fmt,color_range", "-of",
             "csv=p=0", self.path("out.mkv")], capture_output=True, text=True)
        self.assertEqual(shown.stdout.strip(), "48,32,yuv420p,tv,10/1,20")

    def test_the_header_follows_the_picture(self):
        for pipeline, kind, words, expected in (
                ("imresize 0.5", "420jpeg", "F24:1 Ip A4:3", "W7 H4 F24:1 Ip A4:3 C420jpeg"),
                ("imresize [7 26]", "422", "F24:1 Ip A1:1", "W26 H7 F24:1 Ip A1:1 C422"),
                ("rgb2gray", "420p10", "F24:1 Ip A1:1 XB=1",
                 "W13 H7 F24:1 Ip A1:1 XB=1 Cmono10 XCOLORRANGE=FULL"),
                ("imbinarize 0.5", "420jpeg XYSCSS=420JPEG", "F24:1 Ib A1:1",
                 "W13 H7 F24:1 Ib A1:1 Cmono XCOLORRANGE=FULL")):
            with self.subTest(pipeline):
                frames = self.frames(kind.split()[0], 1)
                run = self.impipe(pipeline, "-", "-o", "-",
                                  stdin=y4m(kind, 13, 7, frames, words), binary=True)
                self.assertEqual(run.out.split(b"\n")[0].decode(), "YUV4MPEG2 " + expected)
        data = y4m("444", 13, 7, self.frames("444", 1), "F24:1 Ip A4:3")
        run = self.impipe("imresize [7 26]", "-", "-o", "-", stdin=data, binary=True)
        self.assertIn(b" A0:0 ", run.out.split(b"\n")[0])
        self.assertEqual(run.err, "impipe: -: the result is without the shape of its pixels (4:3)\n")

    def test_depth_and_rate_on_request(self):
        data = y4m("420p10", 13, 7, self.frames("420p10", 1))
        for more, words in ((["-d", "uint8"], b"F30000:1001 Ip A1:1 C420jpeg XCOLORRANGE=LIMITED"),
                            (["--subsampling", "444"],
                             b"F30000:1001 Ip A1:1 C444p10 XCOLORRANGE=LIMITED"),
                            (["--fps", "23.976"], b"F23976:1000 Ip A1:1 C420p10"),
                            (["--fps", "24"], b"F24:1 Ip A1:1 C420p10")):
            with self.subTest(more):
                out = self.impipe(IDENTITY, "-", "-o", "-", *more, stdin=data, binary=True).out
                self.assertEqual(out.split(b"\n")[0], b"YUV4MPEG2 W13 H7 " + words)
        for rate in ("0", "1/0", "x", "1.", "-3"):
            run = self.impipe(IDENTITY, "-", "-o", "-", f"--fps={rate}", stdin=data, code=2)
            self.assertEqual(run.err, f"impipe: --fps: '{rate}' is no number of frames a second, "
                                      "such as 25 or 30000/1001\n")


class Streams(Frames):
    """As they come, in order, with bounded memory, to their end."""

    def test_frames_go_through_as_they_come(self):
        [frame] = self.frames("420jpeg", 1, 64, 48)
        data = y4m("420jpeg", 64, 48, [frame])
        head = data.index(b"\n") + 1
        run = self.start("imcomplement", "-", "-o", "-", stdin=subprocess.PIPE)
        run.stdin.write(data[:head])
        for i in range(5):
            run.stdin.write(data[head:])
            run.stdin.flush()
            # The result is there before the next frame has come.
            got = run.stdout.read(len(data) if i == 0 else len(data) - head)
            self.assertEqual(got[-len(data) + head:][:6], b"FRAME\n")
        run.stdin.close()
        self.assertEqual((run.stdout.read(), run.stderr.read(), run.wait()), (b"", b"", 0))
        run.stdout.close()
        run.stderr.close()

    def test_order_and_memory(self):
        # 600 frames of 1.4 MB: 830 MB in each direction.
        count, width, height = 600, 1280, 720
        script = (
            "import sys\n"
            f"w, h, n = {width}, {height}, {count}\n"
            "sys.stdout.buffer.write(b'YUV4MPEG2 W%d H%d F25:1 C420jpeg\\n' % (w, h))\n"
            "for i in range(n):\n"
            "    body = bytes([16 + i % 200]) * (w * h) + bytes([128]) * (w * h // 2)\n"
            "    sys.stdout.buffer.write(b'FRAME\\n' + body)\n")
        measure = ("import os, sys\n"
                   "pid = os.spawnv(os.P_NOWAIT, sys.argv[1], sys.argv[1:])\n"
                   "_, status, usage = os.wait4(pid, 0)\n"
                   "print(usage.ru_maxrss, file=sys.stderr)\n"
                   "sys.exit(os.waitstatus_to_exitcode(status))")
        source = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
        run = self.start(command=[sys.executable, "-S", "-E", "-c", measure, PROGRAM, IDENTITY,
                                  "-", "-o", "-", "-j", "4"], stdin=source.stdout)
        source.stdout.close()
        self.assertEqual(run.stdout.readline(), b"YUV4MPEG2 W%d H%d F25:1 C420jpeg\n"
                         % (width, height))
        for i in range(count):
            frame = run.stdout.read(6 + width * height * 3 // 2)
            self.assertEqual((frame[:6], frame[6], frame[-1]), (b"FRAME\n", 16 + i % 200, 128))
        _, err = run.communicate()
        source.wait()
        self.assertEqual(run.returncode, 0)
        if not SANITIZED:  # whose allocator keeps what is freed
            self.assertLess(int(err), 128 * 1024)  # KiB

    def test_a_slow_reader_holds_the_stream_back(self):
        [frame] = self.frames("420jpeg", 1, 640, 480)
        data = y4m("420jpeg", 640, 480, [frame])
        body = data[data.index(b"\n") + 1:]
        run = self.start(IDENTITY, "-", "-o", "-", "-j", "2", stdin=subprocess.PIPE)
        os.set_blocking(run.stdin.fileno(), False)
        sent, still = 0, 0
        queue = data + body * 400
        while still < 40 and sent < len(queue):
            try:
                sent += os.write(run.stdin.fileno(), queue[sent:sent + (1 << 20)])
                still = 0
            except BlockingIOError:
                still += 1
                time.sleep(0.02)
        self.assertLess(sent, len(data) + 40 * len(body))  # of 400 frames
        os.set_blocking(run.stdin.fileno(), True)
        rest = (sent - len(data)) % len(body)
        threadless, _ = run.communicate(body[rest:] if rest else b"")
        frames = -(-(sent - len(data)) // len(body)) + 1
        self.assertEqual((run.returncode, threadless), (0, data + body * (frames - 1)))

    def test_a_cut_stream_gives_every_whole_frame(self):
        frames = self.frames("420jpeg", 3)
        data = y4m("420jpeg", 13, 7, frames)
        size = 13 * 7 + 2 * 7 * 4
        whole = y4m("420jpeg", 13, 7, frames[:2])
        for cut, reason in ((5, f"frame 3 has {size - 5} of {size} bytes"),
                            (size, f"frame 3 has 0 of {size} bytes"),
                            (size + 1, "frame 3 ends within its first line")):
            with self.subTest(cut):
                out = self.through(data[:-cut], IDENTITY, code=1,
                                   err=f"impipe: -: decode: truncated Y4M: {reason}\n")
                self.assertEqual(out, whole)
                self.write("a.y4m", data[:-cut])
                self.impipe(IDENTITY, "a.y4m", "-o", "out.y4m", code=1)
                with open(self.path("out.y4m"), "rb") as file:
                    self.assertEqual(file.read(), whole)
        self.impipe(IDENTITY, "a.y4m", "-o", "out.y4m", "-u", code=1)  # not taken for whole
        broken = whole + b"FRAMX\n" + bytes(size)
        self.assertEqual(self.through(broken, IDENTITY, code=1, err="impipe: -: decode: damaged Y4M:"
                                      " frame 3 does not begin where it should\n"), whole)

    def test_headers_that_lie(self):
        head = b"YUV4MPEG2 "
        for text, reason in (
                (b"W2147483648 H2 F25:1\n", "damaged Y4M: its header has 'W2147483648'"),
                (b"W2147483647 H2147483647 C444\n",
                 "too large: a side of 2147483647x2147483647 exceeds 16777215 pixels"),
                (b"W0 H4\n", "damaged Y4M: its header has 'W0'"),
                (b"W-4 H4\n", "damaged Y4M: its header has 'W-4'"),
                (b"H4\n", "damaged Y4M: its header has no size"),
                (b"W4 H4 C420p99\n",
                 "Y4M of colours '420p99', which are not known; known are 420, 422, 444 and 411, "
                 "with p9 to p16, 444alpha and mono"),
                (b"W4 H4", "truncated Y4M: its header has no end"),
                (b"W4 " + b"X" * 5000 + b"\n", "damaged Y4M: its header is longer than 1024"),
                (b"W4 H4\n", "Y4M without frames"),
                (b"W4 W4 H4\nFRAME\n", "damaged Y4M: its header has 'W4' and 'W4'"),
                (b"W4 H4 H2\nFRAME\n", "damaged Y4M: its header has 'H4' and 'H2'"),
                (b"W4 H4 C444alpha Cmono\nFRAME\n" + bytes(32),
                 "damaged Y4M: its header has 'C444alpha' and 'Cmono'"),
                (b"F25:1 W4 F24:1 H4\nFRAME\n",
                 "damaged Y4M: its header has 'F25:1' and 'F24:1'"),
                (b"W4 H4 Ip It\nFRAME\n", "damaged Y4M: its header has 'Ip' and 'It'"),
                (b"W4 H4 A1:1 A4:3\nFRAME\n", "damaged Y4M: its header has 'A1:1' and 'A4:3'"),
                (b"W4 H4 XCOLORRANGE=FULL XCOLORRANGE=LIMITED\nFRAME\n",
                 "damaged Y4M: its header has 'XCOLORRANGE=FULL' and 'XCOLORRANGE=LIMITED'"),
                (b"W30000 H30000 C444\nFRAME\n" + bytes(100),
                 "truncated Y4M: frame 1 has 100 of 2700000000 bytes")):
            with self.subTest(text[:30]):
                self.assertEqual(self.through(head + text, IDENTITY, code=1,
                                              err=f"impipe: -: decode: {reason}\n"), b"")
                self.write("a.y4m", head + text)
                run = self.impipe(IDENTITY, "a.y4m", "-o", "b.y4m", code=1)
                self.assertTrue(run.err.startswith("impipe: a.y4m: decode: "), run.err)
                self.assertEqual(self.tree(), ["a.y4m"])
        run = self.impipe(IDENTITY, "-", "-o", "-", stdin=head + b"W40000 H40000 C444\n", code=None)
        self.assertIn("too many pixels", run.err)

    def endless(self, *arguments, **options):
        """A run whose input does not end."""
        script = ("import sys\n"
                  "sys.stdout.buffer.write(b'YUV4MPEG2 W640 H480 F25:1 C420jpeg\\n')\n"
                  "try:\n"
                  "    while True: sys.stdout.buffer.write(b'FRAME\\n' + bytes(640 * 720))\n"
                  "except BrokenPipeError: pass\n")
        source = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL)
        run = self.start("imcomplement", "-", *arguments, stdin=source.stdout, **options)
        source.stdout.close()
        self.addCleanup(source.wait)
        self.addCleanup(source.kill)
        return run

    def test_a_closed_pipe_ends_it(self):
        run = self.endless("-o", "-")
        self.assertEqual(len(run.stdout.read(1 << 20)), 1 << 20)
        run.stdout.close()
        err = run.stderr.read().decode()
        run.stderr.close()
        self.assertEqual((run.wait(timeout=60), err),
                         (1, "impipe: stdout: Broken pipe\n"))

    def test_a_signal_ends_it(self):
        run = self.endless("-o", "out.y4m")
        while not any(os.path.getsize(self.path(n)) > 1 << 20 for n in self.tree()):
            time.sleep(0.01)
        run.send_signal(signal.SIGINT)
        _, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130)
        self.assertRegex(err.decode(), "^impipe: stopped by SIGINT")
        self.assertEqual(self.tree(), [])  # no half of a file

    def test_a_signal_ends_a_pipe_that_waits(self):
        run = self.start("imcomplement", "-", "-o", "-", stdin=subprocess.PIPE)
        [frame] = self.frames("mono", 1)
        data = y4m("mono", 13, 7, [frame])
        run.stdin.write(data)
        run.stdin.flush()
        self.assertEqual(len(run.stdout.read(len(data))) , len(data) + 0)
        run.send_signal(signal.SIGINT)
        self.assertEqual(run.wait(timeout=60), 130)
        for pipe in (run.stdin, run.stdout, run.stderr):
            pipe.close()


class Files(Frames):
    """Y4M and raw samples as files, pictures into streams and out of them."""

    def test_frames_are_pages(self):
        frames = self.frames("444", 5)
        self.write("clip.y4m", y4m("444", 13, 7, frames))
        self.assertEqual(self.impipe("info", "clip.y4m").out,
                         "clip.y4m: Y4M, 13x7, uint8 x3, white 255, 8-bit, 4:4:4, limited range, "
                         "30000:1001 frames/s, 5 pages\n")
        run = self.impipe("mean2", "clip.y4m", "--pages", "2,4-9", "--json")
        self.assertEqual([line.split('"page":')[1] for line in run.lines()], ["2}", "4}", "5}"])
        self.assertEqual(run.err, "impipe: clip.y4m: it has 5 frames, and --pages asks for 6-9 too\n")
        run = self.impipe("mean2", "clip.y4m", "--pages", "2,4-9", "--strict", code=1)
        self.assertEqual(run.err, "impipe: clip.y4m: decode: --strict: it has 5 frames, and --pages "
                                  "asks for 6-9 too\n")
        run = self.impipe(IDENTITY, "clip.y4m", "--pages", "2,4", "-o", "some.y4m")
        self.assertRegex(run.end, r"^impipe: 2 frames in [\d.]+ s -> some.y4m\n$")
        with open(self.path("some.y4m"), "rb") as file:
            self.assertEqual(file.read(), y4m("444", 13, 7, [frames[1], frames[3]]))
        run = self.impipe(IDENTITY, "clip.y4m", "-o", "out/{stem}_{page:02}.png", "--pages", "3-4")
        self.assertEqual(run.err, "impipe: clip.y4m: the result is without the frame rate "
                                  "(30000:1001)\n")
        self.assertEqual(self.tree("out"), ["clip_03.png", "clip_04.png"])
        np.testing.assert_array_equal(self.pixels("out/clip_04.png"),
                                      rgb_of(frames[3], 1, 1, 8, False, "601"))
        run = self.impipe(IDENTITY, "clip.y4m", "--pages", "7", "-o", "x.y4m", code=1)
        self.assertEqual(run.err, "impipe: clip.y4m: decode: it has 5 frames, none of which --pages "
                                  "asks for\n")
        run = self.impipe(IDENTITY, "clip.y4m", "-o", "x.png", code=1)
        self.assertEqual(run.err, "impipe: clip.y4m: plan: it is a stream of frames, and PNG holds "
                                  "one picture; -o '{stem}_{page}.png' names each, --format y4m "
                                  "keeps them together\n")
        run = self.impipe(f"save s{{page}}.png | {IDENTITY}", "clip.y4m", "-o", "y.y4m",
                          "--pages", "2,4")
        self.assertEqual([name for name in self.tree() if name.endswith(".png") and name[0] == "s"],
                         ["s2.png", "s4.png"])
        np.testing.assert_array_equal(self.pixels("s4.png"), rgb_of(frames[3], 1, 1, 8, False,
                                                                    "601"))
        run = self.impipe(f"save s.png | {IDENTITY}", "clip.y4m", "-o", "y.y4m", code=1)
        self.assertEqual(run.err, "impipe: clip.y4m: plan: it is a stream of frames, and 's.png' "
                                  "of `save` is one PNG; save '{stem}_{page}.png' names each\n")
        run = self.impipe(IDENTITY, "clip.y4m", "--in-place", code=1)
        self.assertEqual(run.err, "impipe: clip.y4m: plan: it is a stream of frames, which "
                                  "--in-place cannot replace; give -o\n")

    def test_a_folder_of_clips_and_pictures(self):
        clips = {f"in/{n}.y4m": y4m("420jpeg", 13, 7, self.frames("420jpeg", n)) for n in (1, 2, 3)}
        for name, data in clips.items():
            self.write(name, data)
        self.picture("in/a.png")
        self.impipe(IDENTITY, "in", "-o", "out")
        self.assertEqual(self.tree("out"), ["1.y4m", "2.y4m", "3.y4m", "a.png"])
        for name, data in clips.items():
            with open(self.path(name.replace("in", "out")), "rb") as file:
                self.assertEqual(file.read(), data)
        before = os.stat(self.path("out/3.y4m")).st_mtime_ns
        self.impipe(IDENTITY, "in", "-o", "out", "-u")
        run = self.impipe(IDENTITY, "in/1.y4m", "-o", "out/1.y4m", "-u", "-j", 2)
        self.assertEqual(run.err, "")
        self.assertEqual(os.stat(self.path("out/3.y4m")).st_mtime_ns, before)

    def test_pictures_become_frames(self):
        pictures = [colour(8, 12, seed) for seed in range(5)]
        for i, pixels in enumerate(pictures):
            self.picture(f"in/{i}.png", pixels)
        self.impipe(IDENTITY, "in", "-o", "out.y4m", "--fps", "12", "--subsampling", "444")
        expected = y4m("444", 12, 8, [planes_of(p, 1, 1, 8, False, "601") for p in pictures],
                       "F12:1 Ip A1:1", end=" XCOLORRANGE=LIMITED")
        with open(self.path("out.y4m"), "rb") as file:
            self.assertEqual(file.read(), expected)
        run = self.impipe(IDENTITY, "in", "-o", "-", "--format", "y4m", "--fps", "12",
                          "--subsampling", "444", binary=True)
        self.assertEqual((run.out, run.err), (expected, ""))
        self.picture("in/7.png", colour(9, 12))
        run = self.impipe(IDENTITY, "in", "-o", "out.y4m", code=1)
        self.assertEqual(run.err, "impipe: in/7.png: encode: the result is YUV4MPEG2 W12 H9 F25:1 "
                         "Ip A1:1 C420jpeg XCOLORRANGE=LIMITED, and those before it in 'out.y4m' "
                         "are YUV4MPEG2 W12 H8 F25:1 Ip A1:1 C420jpeg XCOLORRANGE=LIMITED\n"
                         "impipe: 1 of 6 files failed\n")
        Image.fromarray(pictures[0]).save(self.path("a.gif"), save_all=True,
                                          append_images=[Image.fromarray(pictures[1])])
        self.impipe("rgb2gray", "a.gif", "-o", "gif.y4m")
        self.assertIn("2 pages", self.impipe("info", "gif.y4m").out)

    def test_raw_samples(self):
        frames = self.frames("444", 3)
        data = y4m("444", 13, 7, frames)
        colours = [rgb_of(p, 1, 1, 8, False, "601") for p in frames]
        note = ("impipe: raw samples of 13x7 rgb24: ffmpeg -f rawvideo -pixel_format rgb24 "
                "-video_size 13x7 -i FILE\n")
        run = self.impipe(IDENTITY, "-", "-o", "-", "--format", "raw", stdin=data, binary=True)
        self.assertEqual(run.out, b"".join(c.tobytes() for c in colours))
        self.assertTrue(run.err.startswith(note), run.err)
        self.write("a.y4m", data)
        self.impipe(IDENTITY, "a.y4m", "-o", "out.raw")
        with open(self.path("out.raw"), "rb") as file:
            self.assertEqual(file.read(), run.out)
        back = ffmpeg("-f", "rawvideo", "-pixel_format", "rgb24", "-video_size", "13x7", "-i",
                      self.path("out.raw"), "-f", "rawvideo", "-pix_fmt", "rgb24", "-").stdout
        self.assertEqual(back, run.out)
        self.write("camera.raw", b"not ours to read")
        run = self.impipe(IDENTITY, ".", "-o", "out/")
        self.assertEqual(self.tree("out"), ["a.y4m"])

    def test_a_stream_with_an_operand_and_rows(self):
        frames = self.frames("mono", 3)
        self.write("a.y4m", y4m("mono", 13, 7, frames))
        other = ramp(7, 13)
        self.picture("b.png", other)
        run = self.impipe("imlincomb 0.5 0.5 :b | mean2", "a.y4m", "--with", "b=b.png")
        self.assertEqual(run.lines()[0], "file\tpage\tmean2")
        expected = [np.floor((f[0].astype(int) + other + 1) / 2).mean() for f in frames]
        np.testing.assert_allclose([float(l.split("\t")[2]) for l in run.lines()[1:]], expected)


if __name__ == "__main__":
    unittest.main()
