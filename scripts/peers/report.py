"""What compare_peers.py --device prints: lines as they come, then a table with the best peers."""
import json
import math


def short(us):
    return f"{us:.1f}" if us < 1e4 else f"{us:.0f}"


class Report:
    def __init__(self, options, names):
        self.options, self.names = options, names
        self.about, self.peers, self.notes = {}, {}, {}
        self.rows = {}  # (row, kind, size): {"ours": .., "peers": {name: ..}}
        self.wrong = 0

    def ours(self, row, kind, size, us, spread, problem):
        self.rows[row.name, kind, size] = {
            "pipeline": row.pipeline_for(kind), "host": row.host, "us": us, "spread": spread,
            "error": problem, "peers": {}}
        told = f"{short(us):>10} us" if us is not None else problem
        print(f"{'impipe':<16}{row.name:<28}{kind:<9}{size:>6}{told:>13}", flush=True)

    def peer(self, name, version, where):
        if name not in self.peers:
            self.peers[name] = {"version": version, "where": where}
            print(f"{self.names[name]}: {version}", flush=True)

    def note(self, name, text):
        self.notes[name] = text
        print(f"{self.names[name]}: {text}", flush=True)

    def interim(self, job, name, said):
        """The time as called, which stays if the graph of it fails."""
        row = self.rows[job["row"], job["kind"], job["size"]]
        row["peers"][name] = {key: value for key, value in said.items() if key != "interim"}

    def has(self, job, name):
        return name in self.rows[job["row"], job["kind"], job["size"]]["peers"]

    def measured(self, job, name, said):
        """An error changes nothing where there is a time already."""
        row = self.rows[job["row"], job["kind"], job["size"]]
        found = {key: value for key, value in said.items() if key != "end"}
        if "error" in found and name in row["peers"]:
            found = row["peers"][name]
        row["peers"][name] = found
        if found.get("agrees") == "not checked":
            found["agrees"] = self._checked_before(job, name)
        line = f"{name:<16}{job['row']:<28}{job['kind']:<9}{job['size']:>6}"
        if "error" in found:
            print(f"{line}  {found['error']}", flush=True)
        else:
            self.wrong += self._differs(found)
            ratio = f"{found['us'] / row['us']:>8.2f}" if row["us"] else f"{'-':>8}"
            print(f"{line}{short(found['us']):>10} us{ratio} x  {found['agrees']}", flush=True)
        self._write_json()

    def _checked_before(self, job, name):
        """Of the smallest pictures, whose results are compared."""
        sizes = sorted(size for row, kind, size in self.rows
                       if (row, kind) == (job["row"], job["kind"]))
        first = self.rows[job["row"], job["kind"], sizes[0]]["peers"].get(name, {})
        return first.get("agrees", "not checked")

    def _differs(self, found):
        return " differ" in found["agrees"] or found["agrees"].startswith(("shapes", "other sets"))

    def best(self, row):
        """(name, what it took) of the fastest peer, or None."""
        times = [(found["us"], name) for name, found in row["peers"].items() if "us" in found]
        return (min(times)[1], min(times)[0]) if times else None

    def finish(self, seconds):
        print()
        print(self._head())
        for name, text in self.notes.items():
            print(f"{self.names[name]}: {text}")
        print()
        lines = self._table()
        print("\n".join(self._markdown(lines) if self.options.markdown else self._text(lines)))
        print()
        print(self._means())
        print(f"{self.wrong} results disagree; {seconds:.0f} s in all")
        self._write_json()

    def _head(self):
        about = self.about
        lines = [f"impipe {about.get('version')} on {about.get('id')}: {about.get('name')}, "
                 f"{about.get('driver')}, copies at "
                 f"{about.get('copy_bytes_per_s', 0) / 1e9:.0f} GB/s"]
        lines += [f"{self.names[name]}: {peer['version']}" for name, peer in self.peers.items()]
        return "\n".join(lines)

    def _table(self):
        """Lines of cells: row, kind, size, impipe, best peer, its time, ratio, all peers."""
        lines = [["row", "picture", "size", "impipe us", "best peer", "us", "ratio", "agrees",
                  "all peers, us"]]
        for (name, kind, size), row in self.rows.items():
            best = self.best(row)
            cells = [name, kind, str(size), short(row["us"]) if row["us"] else row["error"][:40]]
            if best:
                ratio = f"{best[1] / row['us']:.2f}" if row["us"] else "-"
                cells += [best[0], short(best[1]), ratio, row["peers"][best[0]]["agrees"]]
            else:
                cells += ["none", "-", "-", "-"]
            cells.append(", ".join(self._each(peer, found)
                                   for peer, found in sorted(row["peers"].items())))
            lines.append(cells)
        return lines

    def _each(self, name, found):
        if "error" in found:
            return f"{name} failed"
        mark = "*" if self._differs(found) else "~" if found["agrees"] != "yes" else ""
        return f"{name} {short(found['us'])}{mark}"

    def _markdown(self, lines):
        yield "| " + " | ".join(lines[0]) + " |"
        yield "|" + "---|" * len(lines[0])
        for cells in lines[1:]:
            yield "| " + " | ".join(cells) + " |"

    def _text(self, lines):
        widths = [max(len(cells[i]) for cells in lines) for i in range(len(lines[0]))]
        for cells in lines:
            yield "  ".join(cell.ljust(width) for cell, width in zip(cells, widths)).rstrip()

    def _means(self):
        """Geometric mean of peer's time over impipe's, by peer, and where a peer is faster."""
        ratios, faster = {}, []
        for (row_name, kind, size), row in self.rows.items():
            for name, found in row["peers"].items():
                if "us" in found and row["us"]:
                    ratios.setdefault(name, []).append(math.log(found["us"] / row["us"]))
            best = self.best(row)
            if best and row["us"] and best[1] < row["us"]:
                faster.append(f"{row_name}, {kind}, {size}: {best[0]} {row['us'] / best[1]:.2f} "
                              "times as fast")
        lines = [f"{self.names[name]}: {math.exp(sum(logs) / len(logs)):.2f} times impipe's time, "
                 f"geometric mean of {len(logs)} rows" for name, logs in ratios.items()]
        lines.append(f"a peer is faster in {len(faster)} of {len(self.rows)} rows")
        return "\n".join(lines + ["  " + line for line in faster])

    def _write_json(self):
        if not self.options.json:
            return
        rows = [{"row": name, "kind": kind, "size": size, **row}
                for (name, kind, size), row in self.rows.items()]
        text = json.dumps({"program": "compare_peers", "impipe": self.about, "peers": self.peers,
                           "notes": self.notes, "rows": rows}, indent=1)
        with open(self.options.json, "w") as file:
            file.write(text + "\n")
