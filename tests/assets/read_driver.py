"""Read every file that the lake's sources hold, and print this process's memory after each.

    python read_driver.py

A line "FILES RESIDENT_KB" for each file done; "parsed N, M from what was kept" at the end.
"""

from pathlib import Path

from assets.home import lithouse_home
from corpus import reading
from corpus.document_choice import to_do
from corpus.tables import Lake


def _resident_kb() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


def main() -> None:
    lake = Lake(lithouse_home())
    parsed = 0
    real = reading.parse_files

    def counted(files, *arguments, **options):
        nonlocal parsed
        for path, outcome in real(files, *arguments, **options):
            parsed += 1
            yield path, outcome

    reading.parse_files = counted
    papers = lake.scan("papers").select("paper_id").collect().to_series().sort().to_list()
    reader = reading.reader_named("docvortex")
    todo = to_do(lake, papers, None, reading.derivation(), reader.parser.name)
    report = reading.read_papers(
        lake, todo, reader, lambda text: len(text.split()), lambda done, _: print(done, _resident_kb(), flush=True)
    )
    print(f"parsed {parsed}, {sum(report.by_status.values()) - parsed} from what was kept")


if __name__ == "__main__":
    main()
