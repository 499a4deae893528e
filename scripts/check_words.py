#!/usr/bin/env python3
"""Checks the words of new comments, documents and commit messages; lines that stand are not read.

    check_words.py                    the last 20 commits that were written after BEGINS
    check_words.py RANGE              all commits of a range, such as origin/main..
    check_words.py --self-test        phrases of texts of its own are found, others are not

Of each commit: lines that it adds to comments in src and to documents have none of PHRASES, which
only this project's authors understand; the subject has at most 72 characters; a perf commit has a
body, which quotes the command and the ratio. A line that the same commit takes away elsewhere was
moved, not added. Without a history, as in an archive, nothing is read. Exit 1 on a finding.
"""
import collections
import os
import re
import subprocess
import sys

# The author's date, which a rebase keeps.
BEGINS = "2026-11-29T22:00:00+00:00"
COMMITS = 20
# Commits that were published with a finding; their full hashes.
ACCEPTED = set()
LONGEST_SUBJECT = 72
# At most 15: a phrase, and what an engineer outside the project would say.
PHRASES = [(re.compile(phrase, re.IGNORECASE), instead) for phrase, instead in (
    (r"\basked for ahead\b", "prefetched"),
    (r"\b(?:is|are|was|were|be|been) told\b", "reported"),
    (r"\bturned\b(?! (?:on|off|into|out)\b)", "rotated, transposed, byte-swapped, complemented"),
    (r"\b(?:what|which) nobody\b", "unused, unread"),
    (r"\bled on\b|\bleads? on\b", "followed"),
    (r"\bbeside\b", "next to, compared with"),
    (r"\bst(?:an|oo)ds? for\b", "represents"),
    (r"\bsp(?:eak|oke)s? for\b", "represents"),
    (r"\b(?:of|16-bit|8-bit|byte) codes\b(?! of)", "integer pixels"),
    (r"\b(?:its|their|whose|all) places\b|\bplaces of\b", "coordinates, offsets, indices"),
    (r"\bwhat comes and what goes\b|\bcomes? and goes?\b", "entering and leaving pixels"),
    (r"\bwithout a rest\b", "a multiple of"),
    (r"\bmade (?:on the way|by the way|in turn)\b", "fused, computed one after the other"),
    (r"(?:^|\. )what (?:waits|stands|lies|is made|is kept|is asked)\b", "the noun"),
    (r"^(?-i:Of) (?:an?|the|what|those|them)\b", "a noun or a verb first"),
)]
COMMENT = re.compile(r"//+\s*(.*)|/\*+\s*(.*?)(?:\*/|$)|^\s*\*\s+(.*)")
SOURCES = (".cpp", ".hpp", ".inc", ".cl", ".clh", ".h", ".c", ".py")
GENERATED = ("docs/operators.md", "docs/matlab.md")


def words_of(path, line):
    """What of a line is read: the comment of a source, the text of a document without its code."""
    if path.startswith("src/") and path.endswith(SOURCES):
        found = COMMENT.search(re.sub(r'"(?:[^"\\]|\\.)*"', '""', line))
        return next((text for text in found.groups() if text is not None), "") if found else ""
    if path.startswith("docs/") and path.endswith(".md") and path not in GENERATED:
        return re.sub(r"`[^`]*`|\]\([^)]*\)", "", line)
    return ""


def phrases_in(text):
    return [(found.group(0).strip(" .:"), instead) for phrase, instead in PHRASES
            for found in [phrase.search(text.strip())] if found]


def lines_of(diff):
    """(sign, path, line number, text) of each line that a diff adds or takes away."""
    path, number = "", 0
    in_hunk = False
    for line in diff.split("\n"):
        hunk = re.match(r"@@ -\S+ \+(\d+)", line)
        if line.startswith("diff --git "):
            in_hunk = False
        elif hunk:
            in_hunk, number = True, int(hunk.group(1))
        elif not in_hunk and line.startswith("+++ "):
            path = line[6:] if line.startswith("+++ b/") else ""
        elif in_hunk and line.startswith("+"):
            yield "+", path, number, line[1:]
            number += 1
        elif in_hunk and line.startswith("-"):
            yield "-", path, number, line[1:]


def in_diff(diff):
    lines = list(lines_of(diff))
    moved = collections.Counter(text.strip() for sign, _, _, text in lines if sign == "-")
    for sign, path, number, text in lines:
        if sign == "-":
            continue
        if moved[text.strip()] > 0:
            moved[text.strip()] -= 1
            continue
        for found, instead in phrases_in(words_of(path, text)):
            yield f'{path}:{number}: "{found}": {instead}?'


def in_message(message):
    lines = message.strip().split("\n")
    subject, body = lines[0], [line for line in lines[1:] if line.strip()]
    if len(subject) > LONGEST_SUBJECT:
        yield f"the subject has {len(subject)} characters, {LONGEST_SUBJECT} at most"
    if re.match(r"perf\b", subject) and not body:
        yield "a perf commit says in its body why, the command and the ratio"
    for line in lines:
        for found, instead in phrases_in(line):
            yield f'the message: "{found}": {instead}?'


def git(root, *arguments):
    return subprocess.run(("git", "-C", root) + arguments, check=True, capture_output=True,
                          text=True, errors="replace").stdout


def commits_of(root, span):
    """Hashes, the newest first. One at the edge of a shallow clone seems to add every file."""
    shallow = os.path.join(root, git(root, "rev-parse", "--git-path", "shallow").strip())
    edge = set()
    if os.path.exists(shallow):
        with open(shallow, encoding="ascii") as file:
            edge = set(file.read().split())
    if span:
        return [commit for commit in git(root, "rev-list", "--no-merges", span).split()
                if commit not in edge]
    begins = git(root, "rev-parse", f"--since={BEGINS}").strip().split("=")[1]
    listed = git(root, "log", "--no-merges", f"-{COMMITS}", "--format=%H %at").split("\n")
    return [commit for commit, date in (line.split() for line in listed if line)
            if int(date) >= int(begins) and commit not in edge | ACCEPTED]


def check(root, span):
    found = []
    for commit in commits_of(root, span):
        message = git(root, "log", "-1", "--format=%B", commit)
        diff = git(root, "show", "--format=", "-U0", "--no-color", "--no-ext-diff", "-M", commit,
                   "--", "src", "docs")
        found += [f"{commit[:8]} {finding}" for finding in (*in_message(message), *in_diff(diff))]
    return found


def self_test():
    head = "diff --git a/{0} b/{0}\n--- a/{0}\n+++ b/{0}\n@@ -1,1 +7,9 @@\n"
    source, page = head.format("src/a.cpp"), head.format("docs/a.md")
    cases = [
        (in_diff, source + "+  int a;  // Rows are asked for ahead.\n",
         ['src/a.cpp:7: "asked for ahead": prefetched?']),
        (in_diff, source + '+  f("a file that is told");\n+  int beside = turned;\n', []),
        (in_diff, source + "+// Of an input, or of a node.\n",
         ['src/a.cpp:7: "Of an": a noun or a verb first?']),
        (in_diff, source + "+// of a node.\n+// it is turned on\n", []),
        (in_diff, source + "-  // What waits is an order.\n+// What waits is an order.\n", []),
        (in_diff, page + "+one\n+two `beside` [a](beside.md)\n+three beside\n",
         ['docs/a.md:9: "beside": next to, compared with?']),
        (in_diff, head.format("docs/matlab.md") + "+beside\n", []),
        (in_diff, head.format("tests/a.cpp") + "+// beside\n", []),
        (in_diff, page + "+++ beside\n", ['docs/a.md:7: "beside": next to, compared with?']),
        (in_message, "fix(io): a header is read once\n", []),
        (in_message, "fix: " + "a" * 68 + "\n", ["the subject has 73 characters, 72 at most"]),
        (in_message, "perf(cpu): prefetch rows\n",
         ["a perf commit says in its body why, the command and the ratio"]),
        (in_message, "perf(cpu): prefetch rows\n\nbench imdilate: 0.8.\n", []),
        (in_message, "docs: losses are told\n", ['the message: "are told": reported?']),
    ]
    wrong = 0
    for read, text, expected in cases:
        said = list(read(text))
        if said != expected:
            wrong += 1
            print(f"self-test: {text!r}: expected {expected}, found {said}")
    print(f"self-test: {len(cases) - wrong} of {len(cases)} texts as expected")
    return 1 if wrong or len(PHRASES) > 15 else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    try:
        git(root, "rev-parse", "--verify", "HEAD")
    except (OSError, subprocess.CalledProcessError):
        print("check_words: no history of git here, nothing was read")
        return 0
    try:
        found = check(root, sys.argv[1] if len(sys.argv) > 1 else None)
    except subprocess.CalledProcessError as error:
        print(f"check_words: {error.stderr.strip()}")
        return 2
    print("\n".join(found) if found else "check_words: no phrase of the list in what was added")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
