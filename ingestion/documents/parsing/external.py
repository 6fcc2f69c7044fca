"""Programs of others as parsers: a command that reads a PDF and writes Markdown.

Here: the two commands we know (`mineru-kit`, `magic-pdf`), a form for others, and running one in a confined process.
Both bring dependencies and weights that cannot share our environment, so they are reached as commands only.
"""

import importlib
import re
import shutil
import string
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ingestion.documents.parsing.limits import GIGABYTE, Limits
from ingestion.documents.parsing.worker import INPUT, Reply, told, written
from ingestion.documents.raw_store import RawText
from ingestion.documents.structure.characters import clean_text
from ingestion.errors import BadInput, PermanentFailure

OUTPUT = "output"
PROGRAM_LOG = "program.txt"
_FIELDS = frozenset(("input", "output", "tier"))
_MODEL_VARIABLES = (
    "MINERU_*", "HF_HOME", "HF_HUB_OFFLINE", "HF_ENDPOINT", "MODELSCOPE_CACHE", "CUDA_VISIBLE_DEVICES",
)  # fmt: skip
_LOG_BYTES = 200_000
_ROOM = Limits(wall_seconds=3600, cpu_seconds=3600 * 4, memory_bytes=64 * GIGABYTE)
"""For programs that load models: they map gigabytes that they hardly touch, and take seconds a page."""


@dataclass(frozen=True)
class Program:
    """A command that turns a PDF into Markdown.

    Attributes:
        name: as shown.
        command: arguments, the program first; never read by a shell. `{input}` is the PDF, `{output}` a folder that
            exists, for whatever it writes; `{tier}` is the tier.
        tiers: that it knows; () for programs without.
        environment: names of variables that it may see besides the common ones; a final * stands for any rest.
        install: how to install it.
        weights: how to get its weights; "" where it needs none.
        absent_weights: regular expression of what it prints when they are absent.
        needs_text_layer: it does not recognise characters.
        limits: for one file.
    """

    name: str
    command: tuple[str, ...]
    install: str
    tiers: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    weights: str = ""
    absent_weights: str = ""
    needs_text_layer: bool = False
    limits: Limits = _ROOM

    def __post_init__(self) -> None:
        fields = {name for word in self.command for _, name, _, _ in string.Formatter().parse(word) if name is not None}
        if unknown := fields - _FIELDS:
            raise BadInput("Unknown field in a parser's command", which=f"{{{min(unknown)}}}", advice=_FIELDS_ADVICE)
        if missing := {"input", "output"} - fields:
            raise BadInput("A parser's command lacks a field", which=f"{{{min(missing)}}}", advice=_FIELDS_ADVICE)
        if self.tiers and "tier" not in fields:
            raise BadInput("A parser with tiers lacks a field", which="{tier}", advice=_FIELDS_ADVICE)


_FIELDS_ADVICE = "Write {input} for the PDF, {output} for the folder of the results, {tier} for the tier."

# What the hubs' libraries print where they can neither find nor fetch a file.
_UNREACHABLE_HUB = r"LocalEntryNotFoundError|OfflineModeIsEnabled|host='(?:huggingface\.co|(?:www\.)?modelscope\.cn)'"
# Its default tier needs a GPU to be of use, so the tier is always passed.
MINERU_KIT = Program(
    name="mineru-kit",
    command=("mineru-kit", "parse", "{input}", "-o", "{output}", "--tier", "{tier}"),
    tiers=("basic", "standard"),
    environment=_MODEL_VARIABLES,
    install="Install MinerU in an environment of its own (uv tool install mineru) and see that mineru-kit is on PATH.",
    weights="Fetch the weights once: mineru-kit models download --tier {tier}. With MINERU_MODEL_SOURCE=local nothing "
    "is fetched while parsing.",
    # mineru 4.0.12, mineru/model/download.py; the second is that of mineru 2 and 3.
    absent_weights=rf"Model repo \S+ is not ready|Local path for repo_mode|{_UNREACHABLE_HUB}",
)
MAGIC_PDF = Program(
    name="magic-pdf",
    command=("magic-pdf", "-p", "{input}", "-o", "{output}", "-m", "auto"),
    environment=(*_MODEL_VARIABLES, "MINERU_TOOLS_CONFIG_JSON"),
    install="Install magic-pdf in an environment of its own (uv tool install 'magic-pdf[full]') and see that it is on "
    "PATH. It is no longer developed; mineru-kit follows it.",
    weights="Fetch the weights once with its script download_models_hf.py, which also writes ~/magic-pdf.json.",
    # magic-pdf 1.3.12, magic_pdf/libs/config_reader.py; it logs its errors and exits with 0.
    absent_weights=r"\.json not found|No such file or directory: '.*/(?:models|weights?|layoutreader)\b|"
    + _UNREACHABLE_HUB,
)
PROGRAMS: Mapping[str, Program] = {program.name: program for program in (MINERU_KIT, MAGIC_PDF)}

_WRONG_USE = re.compile(
    r"^(?:usage:|error: (?:unrecognized|no such option)|no such option)", re.IGNORECASE | re.MULTILINE
)


def tier_of(program: Program, tier: str | None) -> str:
    """The tier to use: the one given, else the program's first; "" for programs without.

    Raises:
        BadInput: the program has no such tier.
    """
    if tier is None:
        return program.tiers[0] if program.tiers else ""
    if tier not in program.tiers:
        known = ", ".join(program.tiers) or "none"
        raise BadInput(f"{program.name} has no such tier", which=tier, advice=f"Tiers: {known}.")
    return tier


def found(program: Program) -> str:
    """The program's file.

    Raises:
        PermanentFailure: it is not on PATH.
    """
    if path := shutil.which(program.command[0]):
        return path
    raise PermanentFailure(
        f"The parser {program.name} is not installed", which=program.command[0], advice=program.install
    )


def matching(names: Sequence[str], present: Mapping[str, str]) -> list[str]:
    """Names of variables that are present, of names that may end in a *."""
    whole = [name for name in names if not name.endswith("*")]
    starts = tuple(name[:-1] for name in names if name.endswith("*"))
    secret = re.compile(r"TOKEN|SECRET|PASSWORD|API_?KEY")
    return [
        name for name in present if name in whole or (name.startswith(starts or ("\0",)) and not secret.search(name))
    ]


def prepare() -> None:
    """Import what reading a program's Markdown needs."""
    for name in ("ingestion.documents.parsing.opening", "ingestion.documents.raw_store"):
        importlib.import_module(name)


def parse(folder: Path, options: dict) -> bytes:
    """A job: run the program over `INPUT` in `folder`. Returns a `Reply` as JSON.

    Options: `argv`, `pages` (the most to read), `needs_text_layer`, `name`, `tier`, `weights` (advice), `absent_weights`.
    """
    from ingestion.documents.parsing.opening import Unreadable, check_text_layer, extract, open_pdf

    page_count, notes = None, []
    try:
        pdf = open_pdf(folder / INPUT)
        page_count = len(pdf)
        if options["needs_text_layer"]:
            check_text_layer(pdf, options["pages"])
        if page_count > options["pages"]:
            notes.append(f"pages 1–{options['pages']:,} of {page_count:,}")
            (folder / INPUT).write_bytes(extract(pdf, range(options["pages"])))
        pdf.close()
    except Unreadable as error:
        return written(Reply(error.status, page_count, notes=(error.note,)))
    outcome = _run(folder, options, page_count, notes)
    return told(folder, outcome) if isinstance(outcome, RawText) else written(outcome)


def _run(folder: Path, options: dict, page_count: int, notes: list[str]) -> RawText | Reply:
    (folder / OUTPUT).mkdir()
    places = {"input": str(folder / INPUT), "output": str(folder / OUTPUT), "tier": options["tier"]}
    argv = [word.format_map(places) for word in options["argv"]]
    with (folder / PROGRAM_LOG).open("wb") as log:
        code = subprocess.run(
            argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder, check=False
        ).returncode
    said = _tail(folder / PROGRAM_LOG)
    name = options["name"]
    texts = sorted((folder / OUTPUT).rglob("*.md"), key=lambda path: path.stat().st_size)
    if (code or not texts) and (absent := options["absent_weights"]) and re.search(absent, said):
        fault = f"The weights of {name} are absent"
        return Reply(
            "corrupt", page_count, setup_fault=(fault, _line_with(absent, said), options["weights"].format_map(places))
        )
    if code and _WRONG_USE.search(said):
        fault = f"{name} does not understand its command"
        return Reply(
            "corrupt",
            page_count,
            setup_fault=(fault, _last_line(said), "Check its version and its configured command."),
        )
    if code:
        how = f"ended with exit code {code}" if code > 0 else f"was ended by signal {-code}"
        return Reply("corrupt", page_count, notes=(*notes, f"{name} {how}: {_last_line(said)}"))
    if not texts:
        return Reply(
            "empty_text", page_count, notes=(*notes, f"{name} ended well but wrote no Markdown: {_last_line(said)}")
        )
    return _read(texts[-1], page_count, notes)


def _read(path: Path, page_count: int, notes: list[str]) -> RawText:
    text, removed = clean_text(path.read_text(encoding="utf-8", errors="replace"))
    if removed:
        notes = [*notes, f"{removed} control characters removed"]
    return RawText({"markdown": text}, page_count, tuple(notes))


def _tail(path: Path) -> str:
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - _LOG_BYTES))
        return stream.read().decode("utf-8", "replace")


def _line_with(pattern: str, said: str) -> str:
    return next(line.strip()[-300:] for line in said.splitlines() if re.search(pattern, line))


def _last_line(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "it said nothing"
