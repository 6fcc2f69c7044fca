"""How much time, memory and space the parsing of a file may take."""

from dataclasses import dataclass, fields

from ingestion.errors import BadInput

GIGABYTE = 2**30
MEGABYTE = 2**20


@dataclass(frozen=True)
class Limits:
    """Of one file. Papers on two cores: a page takes about .3 CPU seconds, rarely 1; a part of 60 pages 850 MB.

    Attributes:
        wall_seconds: from start to end.
        cpu_seconds: of each process.
        memory_bytes: address space of each process.
        file_bytes: larger files are not opened.
        pages: pages beyond this number are left out, with a note.
        output_bytes: of each file that the parser writes.

    Raises:
        BadInput: a limit is not above zero.
    """

    wall_seconds: float = 900
    cpu_seconds: int = 600
    memory_bytes: int = 4 * GIGABYTE
    file_bytes: int = 200 * MEGABYTE
    pages: int = 400
    output_bytes: int = 64 * MEGABYTE

    def __post_init__(self) -> None:
        for field in fields(self):
            above_zero(field.name, getattr(self, field.name))


def above_zero(name: str, value: float) -> None:
    """Raises `BadInput` unless `value` is above zero: no setting of zero is read as "no limit"."""
    if not value > 0:
        raise BadInput(f"{name} must be above 0", which=str(value), advice="Leave it out for the default.")
