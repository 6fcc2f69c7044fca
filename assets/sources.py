"""Sources by the names people give them."""

from pathlib import Path

from corpus.harvest import Source
from corpus.importing import ImportedPapers
from ingestion.errors import BadInput
from ingestion.mirror import open_mirror
from ingestion.snapshot import open_snapshot

FORMS = "mirror:PATH, snapshot:PATH or import:PATH"


def open_source(text: str) -> Source:
    """The source that a name of one of `FORMS` means.

    Raises:
        BadInput: another form.
    """
    kind, _, path = text.partition(":")
    if kind == "mirror" and path:
        return open_mirror(Path(path))
    if kind == "snapshot" and path:
        return open_snapshot(Path(path))
    if kind == "import" and path:
        return ImportedPapers(Path(path))
    raise BadInput(f"a source is {FORMS}", which=text)
