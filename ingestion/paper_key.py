"""The key of a paper: which keys can exist, how each is written as a file name and an address.

Here: `PaperId`, the errors about ids, and the checks of parts already told apart.
Not here: telling them apart in what people write (`ingestion.identity`, which is also where to import from).
"""

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote

from ingestion.errors import BadInput, NotFound

# All archives that arXiv ever issued old-form ids in, those merged into math, cond-mat, nlin and cs included.
OLD_ARCHIVES = frozenset((
    "acc-phys", "adap-org", "alg-geom", "ao-sci", "astro-ph", "atom-ph", "bayes-an", "chao-dyn",
    "chem-ph", "cmp-lg", "comp-gas", "cond-mat", "cs", "dg-ga", "funct-an", "gr-qc", "hep-ex", "hep-lat",
    "hep-ph", "hep-th", "math", "math-ph", "mtrl-th", "nlin", "nucl-ex", "nucl-th", "patt-sol", "physics",
    "plasm-ph", "q-alg", "q-bio", "quant-ph", "solv-int", "supr-con",
))  # fmt: skip
# Archives that began after the old form had ended; people still write them before a new-form number.
ARCHIVES = OLD_ARCHIVES | {"econ", "eess", "q-fin", "stat"}
LOCAL_DIGITS = 16  # 64 bits: no collision to be expected below a billion files
_MAX_STEM = 230  # bytes; file systems take 255, and a version and extensions follow
FILE_ENDINGS = re.compile(
    r"(?:\.(?:tei\.xml|tar\.gz|pdf|txt|md|xml|json|jsonl|html?|tex|gz|zip|bz2|zst|ps|dvi|bib|csl|parquet|part))+\Z",
    re.I,
)
_FORMS = "Write 2005.11401, hep-th/9901001, 10.1000/182 or an address on arxiv.org or doi.org."


class UnreadableId(BadInput):
    """A text that names no paper, with the reason."""


class ImpossibleId(UnreadableId, NotFound):
    """Shaped like an arXiv id, but arXiv can never have issued it (month 99): also a `NotFound`."""


@dataclass(frozen=True, slots=True)
class PaperId:
    """The key of a paper, and the version that was asked for.

    value: canonical key without version: "2005.11401", "hep-th/9901001", "doi:10.1000/x_y" (lower case),
        "local:<16 hex digits of the SHA-256>".
    version: 1, 2, …, or None where none was named.
    """

    value: str
    version: int | None
    scheme: Literal["arxiv", "doi", "local"]

    def __str__(self) -> str:
        return self.value if self.version is None else f"{self.value}v{self.version}"

    @property
    def file_stem(self) -> str:
        """Flat file name without extension; `paper_id_from_file_name` reads it back.

        "2005.11401v2", "hep-th_9901001", "doi_10.1000=2fx_y": in a DOI all but letters, digits, ".", "-" and
        "_" is written "=xx" in hex.
        """
        if self.scheme == "doi":
            return _doi_stem(self.value)
        return str(self).replace("/", "_").replace(":", "_")

    @property
    def url(self) -> str | None:
        """Address of the abstract page or the DOI; None for local files."""
        if self.scheme == "arxiv":
            return f"https://arxiv.org/abs/{self}"
        if self.scheme == "doi":
            return "https://doi.org/" + quote(self.value[4:], safe="/:;()")
        return None


# (YYMM, digits of the number) of new-form ids that can exist: what makes plain ids cheap to read.
POSSIBLE_FORMS = frozenset(
    (f"{year:02}{month:02}", 4 if (year, month) < (15, 1) else 5)
    for year in range(7, 100)
    for month in range(1, 13)
    if (year, month) >= (7, 4)
)


def arxiv_key(archive: str, month: str, dot: str, number: str, version: str | None, text: str) -> PaperId:
    """The key of the parts of an arXiv id: `month` is YYMM, `dot` "." or "", `version` digits or None.

    Raises:
        UnreadableId: the archive is unknown or missing, or the digits fit no form; it shows `text`.
        ImpossibleId: well formed, but outside of what arXiv issued.
    """
    if archive and archive not in ARCHIVES:
        raise unreadable(f"arXiv has no archive {archive!r}", text)
    if version is not None and not version.strip("0"):
        raise _impossible("versions begin with 1", text)
    if dot:
        check_new_form(month, number, text)
        value = f"{month}.{number}"
    elif len(number) != 3:
        raise unreadable("neither YYMM.NNNNN nor archive/YYMMNNN", text)
    elif not archive:
        advice = f"Write it with its archive, as in hep-th/{month}{number}."
        raise unreadable("the id is ambiguous, its archive is missing", text, advice)
    else:
        _check_old_form(archive, month, number, text)
        value = f"{archive}/{month}{number}"
    return PaperId(value, int(version) if version else None, "arxiv")


def doi_key(doi: str, text: str) -> PaperId:
    """The key of a DOI in lower case; `UnreadableId` if no file could carry its name."""
    paper = PaperId(f"doi:{doi}", None, "doi")
    if len(paper.file_stem) > _MAX_STEM:
        raise unreadable("the DOI is longer than a file name can be", text)
    return paper


def local_key(digits: str, text: str) -> PaperId:
    """The key of a local file from the beginning of its SHA-256; `UnreadableId` for anything else."""
    if not re.fullmatch(f"[0-9a-f]{{{LOCAL_DIGITS}}}", digits):
        raise unreadable(f"a local key has {LOCAL_DIGITS} hexadecimal digits", text)
    return PaperId(f"local:{digits}", None, "local")


def unreadable(what: str, text: str, advice: str = _FORMS) -> UnreadableId:
    """The error for `text`, of which no more than the beginning is shown."""
    return UnreadableId(what, which=repr(text[:120]), advice=advice)


def check_new_form(month: str, number: str, text: str) -> None:
    """Raises `ImpossibleId` unless arXiv can have issued this YYMM.NNNN(N)."""
    _check_month(month, text)
    if month < "0704":
        raise _impossible("ids of this form begin with 0704 (April 2007)", text)
    digits = 4 if month < "1501" else 5
    if len(number) != digits:
        raise _impossible(f"numbers of {month} have {digits} digits after the dot, not {len(number)}", text)
    if not number.strip("0"):
        raise _impossible("numbers begin with 1", text)


def _check_old_form(archive: str, month: str, number: str, text: str) -> None:
    _check_month(month, text)
    if archive not in OLD_ARCHIVES or not (month >= "9107" or month <= "0703"):
        raise _impossible("ids of this form run from 9107 (July 1991) to 0703 (March 2007)", text)
    if number == "000":
        raise _impossible("numbers begin with 1", text)


def _check_month(month: str, text: str) -> None:
    if not "01" <= month[2:] <= "12":
        raise _impossible(f"it has month {month[2:]}", text)


def _impossible(what: str, text: str) -> ImpossibleId:
    what = f"no paper can have this id, {what}"
    return ImpossibleId(what, which=repr(text[:120]), advice="Check the number.")


def _doi_stem(value: str) -> str:
    stem = "doi_" + re.sub(r"[^a-z0-9._-]+", lambda m: "=" + m[0].encode().hex("="), value[4:])
    if ending := FILE_ENDINGS.search(stem):  # else a DOI that ends in ".pdf" would lose it on the way back
        stem = stem[: ending.start()] + ending[0].replace(".", "=2e")
    return stem
