"""Sources by the names people give them."""

from pathlib import Path

from corpus.harvest import Source
from corpus.importing import ImportedPapers
from ingestion.errors import BadInput
from ingestion.mirror import open_mirror


def open_source(text: str) -> Source:
    """The source that `mirror:PATH` or `import:PATH` names.

    Raises:
        BadInput: another form.
    """
    kind, _, path = text.partition(":")
    if kind == "mirror" and path:
        return open_mirror(Path(path))
    if kind == "import" and path:
        return ImportedPapers(Path(path))
    raise BadInput("a source is mirror:PATH or import:PATH", which=text)
