"""What confinement costs: CPU seconds of parsing within limits against bare docvortex, and memory over many files.

    python benchmarks/pdf_parsing.py FILE.pdf … [--many 60] [--concurrency 1]

Bare is measured twice: one process that imports docvortex once and parses the files in a loop, and one process for each
file. Loop and ours take turns file by file, so that a busy machine is as busy for both. Each figure covers imports and
every process that was started: each side runs below a process of its own that adopts what is left behind (Linux),
since resource usage of children alone misses a quarter. Ours covers checks, structure and the way back.
"""

import argparse
import ctypes
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

from ingestion.documents.parsing.files import parse_files
from ingestion.documents.parsing.parsers import docvortex_parser

LIMIT_RATIO = 1.15
_PR_SET_CHILD_SUBREAPER = 36


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--many", type=int, default=60, help="files of the memory run; 0 leaves it out")
    parser.add_argument("--concurrency", type=int, default=1)
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--below", choices=SIDES, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.below:
        _adopt(given.below)
    elif given.side:
        SIDES[given.side]()
    elif given.files:
        _compare(given.files)
        if given.many:
            _many(given.files, given.many, given.concurrency)


# --- the two sides: each reads names of files and answers each with one line ---


def _bare() -> None:
    import docvortex

    for name in sys.stdin:
        begun = time.process_time()
        docvortex.parse(Path(name.strip()).read_bytes(), file_suffix="pdf", parse_mode="txt").to_dict()
        print(time.process_time() - begun, flush=True)


def _ours() -> None:
    files = (Path(name.strip()) for name in sys.stdin)
    for _, outcome in parse_files(files, docvortex_parser()):
        told = (outcome.status, outcome.page_count or 0, outcome.peak_bytes)
        print(outcome.cpu_seconds, *told, flush=True)


SIDES = {"bare": _bare, "ours": _ours}


def _adopt(side: str) -> None:
    """Run a side and say last what it and all below it used."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    subprocess.run([sys.executable, __file__, "--side", side], check=True)
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(usage.ru_utime + usage.ru_stime, flush=True)


@dataclass
class _Side:
    name: str

    def __post_init__(self) -> None:
        run = [sys.executable, __file__, "--below", self.name]
        self._process = subprocess.Popen(
            run, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def parse(self, file: Path) -> list[str]:
        print(file.resolve(), file=self._process.stdin, flush=True)
        return self._process.stdout.readline().split()

    def total(self) -> float:
        """CPU seconds of everything, after the end."""
        self._process.stdin.close()
        used = float(self._process.stdout.readline())
        self._process.wait()
        return used


def _compare(files: Sequence[Path]) -> None:
    print(f"{'file':<28}{'status':<14}{'pages':>6}{'ours':>9}{'bare':>9}{'ratio':>7}{'peak':>9}{'alone':>9}")
    looped, ours, all_alone = _Side("bare"), _Side("ours"), 0.0
    for file in files:
        (bare,), (mine, status, pages, peak) = looped.parse(file), ours.parse(file)
        single = _Side("bare")
        single.parse(file)
        alone = single.total()
        all_alone += alone
        ratio = float(mine) / float(bare)
        print(
            f"{file.name[:27]:<28}{status:<14}{pages:>6}{float(mine):>8.2f}s{float(bare):>8.2f}s{ratio:>7.2f}"
            f"{int(peak) / 2**20:>6.0f} MB{alone:>8.2f}s",
            flush=True,
        )
    mine, bare = ours.total(), looped.total()
    print("together, with imports and all processes:")
    print(f"{'  ours':<34}{mine:>8.1f}s")
    for name, other in (("bare, one process for all", bare), ("bare, one process each", all_alone)):
        print(f"  {name:<32}{other:>8.1f}s  ratio {mine / other:.2f}, limit {LIMIT_RATIO}")


def _many(files: Sequence[Path], count: int, concurrency: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        links = []
        for number, file in enumerate(islice(cycle(files), count)):
            links.append(Path(folder) / f"{number:03}.pdf")
            links[-1].symlink_to(file.resolve())
        begun, peak = time.monotonic(), 0
        for number, (_, outcome) in enumerate(parse_files(links, docvortex_parser(), concurrency=concurrency), 1):
            peak = max(peak, outcome.peak_bytes)
            if number in (1, 2, 5) or number % 10 == 0:
                print(f"{number:>4} files: {_resident():>4.0f} MB here, {peak / 2**20:.0f} MB in a parser at most")
        print(f"{count} files in {time.monotonic() - begun:.0f} s, {concurrency} at once")


def _resident() -> float:
    """Megabytes of this process, now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


if __name__ == "__main__":
    main()
