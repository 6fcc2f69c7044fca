"""What can become of a file of a paper, and what a person can do about it.

Here: the statuses of `documents` with advice and retry policy, and the outcome of parsing one file. Not here: how a
status is found out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

from ingestion.documents.values import Document

Status = Literal[
    "parsed", "abstract_only", "not_yet", "withdrawn", "encrypted", "corrupt", "not_pdf", "empty_file",
    "no_text_layer", "empty_text", "timeout", "too_large",
]  # fmt: skip
RetryPolicy = Literal["never", "later", "new_file", "other_parser", "other_limits"]
"""What must change before another attempt is worth its time: nothing helps; only time passes; the file's content;
the parser, its version or its tier; the limits."""


@dataclass(frozen=True)
class Meaning:
    """Of a status.

    Attributes:
        advice: what a person can do, one or two sentences; "" where nothing need be done.
        retry: when another attempt is worth its time.
    """

    advice: str
    retry: RetryPolicy


MEANINGS: Mapping[Status, Meaning] = MappingProxyType({
    "parsed": Meaning("", "never"),
    "abstract_only": Meaning(
        "No source holds a file of this paper; its abstract is used. Add the PDF to a mirror to have its text.",
        "new_file",
    ),
    "not_yet": Meaning("The file is not available yet. Run again in some hours.", "later"),
    "withdrawn": Meaning("The paper was withdrawn; its file is not read.", "never"),
    "encrypted": Meaning(
        "The PDF asks for a password. Remove it (qpdf --password=… --decrypt IN OUT) or fetch an open copy.", "new_file"
    ),
    "corrupt": Meaning(
        "The PDF cannot be read. Fetch it again; if a viewer does open it, try another parser.", "new_file"
    ),
    "not_pdf": Meaning(
        "The file is no PDF, whatever its name says; often it is an error page of the server. Fetch it again.",
        "new_file",
    ),
    "empty_file": Meaning("The file has no content. Fetch it again.", "new_file"),
    "no_text_layer": Meaning(
        "The pages are images without text. Use a parser with character recognition, e.g. mineru-kit, or run "
        "ocrmypdf over the file.",
        "other_parser",
    ),
    "empty_text": Meaning(
        "The parser found no text in a file that is not empty. Use another parser or tier; the abstract is used.",
        "other_parser",
    ),
    "timeout": Meaning(
        "Parsing took longer than its limit and was stopped. Give it more time, or look at the file: few papers need it.",
        "other_limits",
    ),
    "too_large": Meaning(
        "Parsing would have gone beyond the limits on size or memory. Raise them, or split the file.", "other_limits"
    ),
})  # fmt: skip

assert set(MEANINGS) == set(get_args(Status))


@dataclass(frozen=True)
class ParseOutcome:
    """What became of one file.

    Attributes:
        document: not None exactly if `status` is `parsed`.
        sha256: of the file's content, hexadecimal; "" where it could not be read or is beyond the size limit.
        page_count: pages of the file, whether parsed or not; None where unknown.
        parser: name and version ("docvortex 0.6.4"); None where the file did not get as far as a parser.
        tier: of the parser; "" where it has none.
        seconds: wall time.
        cpu_seconds: of the parser's process and all that it started.
        peak_bytes: most resident memory of one of these processes; 0 where none was started.
        notes: what was cut, repaired or went wrong, for people.
        is_retryable: the same file may give another status under the same settings.
        raw: what the parser said, packed by `ingestion.documents.raw_store`; b"" where it said nothing.
    """

    status: Status
    sha256: str
    size_bytes: int
    document: Document | None = None
    page_count: int | None = None
    parser: str | None = None
    tier: str = ""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_bytes: int = 0
    notes: tuple[str, ...] = ()
    is_retryable: bool = False
    raw: bytes = b""

    def __post_init__(self) -> None:
        if (self.document is not None) != (self.status == "parsed"):
            raise ValueError(f"status {self.status!r} {'with' if self.document else 'without'} a document")

    @property
    def advice(self) -> str:
        """What a person can do; "" for parsed."""
        return MEANINGS[self.status].advice

    @property
    def retry(self) -> RetryPolicy:
        """What must change before another attempt is worth its time."""
        return "later" if self.is_retryable else MEANINGS[self.status].retry
