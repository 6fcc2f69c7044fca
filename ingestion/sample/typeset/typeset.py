"""Typesets the sample's two PDFs from the sources beside this file: `python ingestion/sample/typeset/typeset.py`.

Needs the package `typst`, which brings the compiler and its fonts. Nothing of the machine or the day enters the files,
so that the same release of the package makes the same bytes.
"""

from pathlib import Path

HERE = Path(__file__).resolve().parent


def sources() -> list[Path]:
    """The typst sources, each named as its PDF in the mirror: id of the paper and version."""
    return sorted(HERE.glob("*.typ"))


def typeset(source: Path) -> bytes:
    """The PDF of a source."""
    import typst

    return typst.compile(source, format="pdf", ignore_system_fonts=True, timestamp=0)


def main() -> None:
    for source in sources():
        target = HERE.parent / "pdf" / f"{source.stem}.pdf"
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(typeset(source))
        print(f"{target.name}: {target.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
