"""Times one peer in a process of its own: python3 -m peers.worker PEER FOLDER

FOLDER/jobs.json says what; a line of JSON on stdout says that a row begins and what came of it, so
that who reads them can end a row that takes too long or goes down with the process.
"""
import gc
import importlib
import json
import os
import sys
import traceback

import numpy as np

from peers.check import disagreement
from peers.table import ROWS


def tell(**what):
    print(json.dumps(what), flush=True)


class Inputs:
    """Resident pictures of one kind and size; those of the last ones are given back."""

    def __init__(self, peer, folder):
        self.peer, self.folder, self.key, self.all = peer, folder, None, []

    def of(self, kind, size):
        if self.key != (kind, size):
            self.key, self.all = None, []
            gc.collect()
            arrays = [np.load(os.path.join(self.folder, f"{kind}-{size}-{which}.npy"))
                      for which in "ab"]
            count = self.peer.clock.copies(arrays[0].nbytes)
            for i in range(count):
                moved = [np.roll(array, 7 * i, axis=0) if i and kind not in ("labels", "relief")
                         else array for array in arrays]
                self.all.append(tuple(self.peer.put(array) for array in moved))
            self.key = (kind, size)
        return self.all


def check(peer, row, kind, call, inputs, path):
    if call.note or not os.path.exists(path):
        return call.note or "not checked"
    found = peer.get(call.run(*inputs[0]))
    return disagreement(row, kind, call, np.load(path), found) or "yes"


def one_line(error):
    text = " ".join(str(error).split()) or type(error).__name__
    return f"{type(error).__name__}: {text}"[:200]


def work(name, folder):
    module = importlib.import_module("peers." + name)
    peer = module.Peer()
    tell(peer=peer.version(), where=peer.where)
    rows = {row.name: row for row in ROWS}
    inputs = Inputs(peer, folder)
    with open(os.path.join(folder, "jobs.json")) as file:
        jobs = json.load(file)
    for number, job in enumerate(jobs):
        row, kind, size = rows[job["row"]], job["kind"], job["size"]
        call = peer.calls(kind).get(row.name)
        if call is None:
            continue
        tell(begin=number)
        try:
            resident = inputs.of(kind, size)
            agrees = check(peer, row, kind, call, resident, job["expected"])
            time = peer.clock.measure(
                call, resident, lambda early: tell(interim=number, agrees=agrees, **early.values()))
            tell(end=number, agrees=agrees, **time.values())
        except Exception as error:  # the row's, whatever the library raises
            if os.environ.get("IMPIPE_PEERS_TRACE"):
                traceback.print_exc()
            tell(end=number, error=one_line(error))
            if "cuda" in str(error).lower():
                sys.exit(3)  # a card's errors stay with the process
    tell(done=True)


def main():
    name, folder = sys.argv[1:]
    try:
        work(name, folder)
    except BaseException as error:  # as well a panic of a library's own runtime
        if isinstance(error, SystemExit):
            raise
        if os.environ.get("IMPIPE_PEERS_TRACE"):
            traceback.print_exc()
        tell(missing=one_line(error))


if __name__ == "__main__":
    main()
