#!/usr/bin/env python3
"""Times a Gaussian blur of a folder's pictures by OpenCV in processes of one thread each.

usage: scripts/peers/opencv_folder.py FOLDER OUT [PROCESSES]: prints files a second, the best of two,
without the start of the processes.
"""
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor

import cv2


def blur(names):
    cv2.setNumThreads(1)
    for source, target in names:
        # As imgaussfilt 2: nine taps, the last pixel repeated.
        image = cv2.GaussianBlur(cv2.imread(source, cv2.IMREAD_UNCHANGED), (9, 9), 2,
                                 borderType=cv2.BORDER_REPLICATE)
        cv2.imwrite(target, image)


def main():
    folder, out = sys.argv[1:3]
    processes = int(sys.argv[3]) if len(sys.argv) > 3 else os.cpu_count()
    os.makedirs(out, exist_ok=True)
    names = [(f"{folder}/{name}", f"{out}/{name}") for name in sorted(os.listdir(folder))]
    best = 0
    with ProcessPoolExecutor(processes) as pool:
        list(pool.map(blur, [[] for _ in range(4 * processes)]))
        for _ in range(2):
            begin = time.perf_counter()
            list(pool.map(blur, [names[i:i + 32] for i in range(0, len(names), 32)]))
            best = max(best, len(names) / (time.perf_counter() - begin))
    print(f"OpenCV {cv2.__version__}, {processes} processes: {best:.0f} files/s of {len(names)}")


if __name__ == "__main__":
    main()
