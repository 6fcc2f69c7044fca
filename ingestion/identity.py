"""What a paper is called: every form people write, read into one key, or refused with the reason.

Here: the readers (one form, running text, a file name), a key's month, keys of local files.
Not here: dates (an id's month is a partition, never a date: see `ingestion.dates`); which keys can
exist and how they are written (`ingestion.paper_key`, re-exported here); whether a paper is held.

Sources: arXiv help, "arXiv identifier scheme" (old form `archive/YYMMNNN` 1991-07 to 2007-03, new form
`YYMM.NNNN` from 2007-04, `YYMM.NNNNN` from 2015-01) and "DOIs for arXiv" (10.48550/arXiv.*); DOI Handbook 2.4
(a DOI is case-insensitive in ASCII).
"""

import hashlib
import re
from datetime import date
from functools import lru_cache
from urllib.parse import unquote, urlsplit

from ingestion.paper_key import (
    ARCHIVES,
    FILE_ENDINGS,
    LOCAL_DIGITS,
    OLD_ARCHIVES,
    POSSIBLE_FORMS,
    ImpossibleId,
    PaperId,
    UnreadableId,
    arxiv_key,
    check_new_form,
    doi_key,
    local_key,
    unreadable,
)

__all__ = [
    "OLD_ARCHIVES",
    "ImpossibleId",
    "PaperId",
    "UnreadableId",
    "find_paper_ids",
    "id_month",
    "local_id",
    "paper_id_from_file_name",
    "parse_paper_id",
]

# Sites that show arXiv papers under the paper's id.
_ARXIV_HOSTS = (
    "arxiv.org", "alphaxiv.org", "ar5iv.org", "lanl.gov", "arxiv-vanity.com", "scirate.com", "huggingface.co",
    "hf.co", "semanticscholar.org", "adsabs.harvard.edu",
)  # fmt: skip
_DOI_HOSTS = ("doi.org",)
_HYPHENS = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
_TO_ASCII = {ord(c): "-" for c in _HYPHENS}
_TO_ASCII |= {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F) if code != 0xFF0D}
_TO_ASCII |= dict.fromkeys((0xAD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF))  # invisible: removed
_TO_ASCII |= dict.fromkeys((0xA0, 0x2009, 0x202F, 0x3000), " ")
_AROUND = " \t\r\n<>\"'{}"

_PLAIN = re.compile(r"([0-9]{4})\.([0-9]{4,5})(?:v([1-9][0-9]{0,3}))?").fullmatch
_ARXIV = re.compile(
    r"(?:(?:oai:)?arxiv(?:\.org)?\s*[:./]?\s*|abs/)*"
    r"(?:(?P<archive>[a-z]+(?:-[a-z]+)?)(?:\.[a-z]{2,}(?:-[a-z]+)?)?/)?"
    r"(?P<month>[0-9]{4})(?P<dot>\.?)(?P<number>[0-9]+)(?:v(?P<version>[0-9]+))?(?:\.pdf)?"
    r"(?:\s*\[[a-z.\- ]+\])?(?:\s+[0-9]{1,2}\s+[a-z]{3,9}\s+[0-9]{4})?",
    re.I,
).fullmatch
_DOI = re.compile(r"10\.[0-9]{4,9}(?:\.[0-9]+)*/\S+").fullmatch
_DOI_LABEL = re.compile(r"(?:info:doi/|doi\s*:\s*)+", re.I)
_ADDRESS = re.compile(r"(?:https?://|(?=(?:[\w-]+\.)+(?:org|gov|co|com|edu)/))\S+", re.I).fullmatch
_DOI_PATH = re.compile(r"/doi/(?:[a-z]+/)?(10\.\S+)", re.I)
_PATH_END = re.compile(r"/(?:arxiv:)?((?:[a-z.-]+/)?[0-9]{4}\.?[0-9]+(?:v[0-9]+)?)(?:\.pdf)?/?\Z", re.I)

_MENTION = re.compile(
    r"(?<![\w.])(?P<doi>10\.[0-9]{4,9}(?:\.[0-9]+)*/[^\s\"'{}|\\^`\[\],]+)"
    r"|(?<![\w.$/+-])(?P<label>(?:(?:https?://)?(?:[a-z0-9-]+\.)*(?:arxiv|alphaxiv|ar5iv)\.org/[a-z-]+/"
    r"|(?:huggingface|hf)\.co/papers/|(?:e-?print\s+)?arxiv\s*[:.]\s*"
    r"|(?:arxiv|corr)[,:.]?\s+(?:preprint\s+)?|(?:corr\s*,?\s*)?abs/)*)"
    r"(?:(?:[a-z-]+(?:\.[a-z-]+)?/)?(?P<month>[0-9]{4})\.(?P<gap>\s?)(?P<number>[0-9]{4,5})"
    r"|(?P<archive>[a-z]+(?:-\s?[a-z]+)?)(?:\.[a-z]{2}|\.[a-z]+-[a-z]+)?/(?P<old>[0-9]{7}))"
    r"(?:v(?P<version>[1-9][0-9]{0,3}))?(?![0-9a-z_]|[.,/-][0-9])(?P<stamp>\s*\[[a-z-]+(?:\.[a-z-]+)?\])?",
    re.I,
)
_HINT = re.compile(r"[0-9]{4}\.\s?[0-9]{4}|/[0-9]{7}|10\.[0-9]{4}").search
_CONTEXT = re.compile(r"arxiv|e-?print|\bcorr\b", re.I)


def parse_paper_id(text: str) -> PaperId:
    """Reads one id in any form people write, with or without its version.

    Bare ids, `arXiv:` labels and stamps ("arXiv:0706.0001v1 [q-bio.CB] 1 Jun 2007"), subject classes,
    addresses on arXiv and on sites that show its papers, DOIs (arXiv's own give the arXiv id), `doi:` and
    `local:` keys; blanks around it, full-width letters, Unicode hyphens and capitals do not matter.

    Raises:
        UnreadableId: no id, or an ambiguous one; the message says why.
        ImpossibleId: an arXiv id that cannot exist (also a `NotFound`).
    """
    if not isinstance(text, str):
        raise unreadable("an id must be text, numbers lose zeros", repr(text), "Put it in quotes.")
    if (plain := _PLAIN(text)) is not None:
        month, number, version = plain.groups()
        if (month, len(number)) not in POSSIBLE_FORMS:
            check_new_form(month, number, text)
        if number.strip("0"):
            return PaperId(f"{month}.{number}", int(version) if version else None, "arxiv")
    tidy = text if text.isascii() else text.translate(_TO_ASCII)
    tidy = _strip(tidy)
    while tidy.startswith("[") and tidy.endswith("]"):
        tidy = _strip(tidy[1:-1])
    if not tidy:
        raise unreadable("the id is empty", text)
    if len(tidy) > 2000:
        raise unreadable("too long for an id", text)
    tidy = _DOI_LABEL.sub("", tidy, count=1)
    if _DOI(tidy):
        return _from_doi(tidy, text)
    if tidy[:6].lower() == "local:":
        return local_key(tidy[6:].lower(), text)
    if (match := _ARXIV(tidy)) is not None:
        return _from_match(match, text)
    if _ADDRESS(tidy):
        return _from_address(tidy, text)
    raise unreadable("no arXiv id, DOI or local key can be read in it", text)


def find_paper_ids(text: str) -> list[PaperId]:
    """Ids in running text such as reference strings, in order, each paper once (as first mentioned).

    What cannot be an id is passed over in silence: unknown archives, impossible months. A bare number with
    four digits after the dot counts only near the word arXiv, CoRR or eprint, or before a class in brackets:
    elsewhere it is as likely a measurement. DOIs are found too (`scheme` tells them apart).
    """
    tidy = text if text.isascii() else text.translate(_TO_ASCII)
    if _HINT(tidy) is None:  # most references; the full pattern costs twenty times as much
        return []
    found: dict[str, PaperId] = {}
    for match in _MENTION.finditer(tidy):
        try:
            paper = _from_mention(match, tidy)
        except UnreadableId:
            continue
        if paper is not None:
            found.setdefault(paper.value, paper)
    return list(found.values())


def paper_id_from_file_name(name: str) -> PaperId:
    """Reads `PaperId.file_stem` back, with any usual extension; also arXiv's own "hep-th9901001v1.pdf".

    Only known extensions are taken off: the ".00010" of "2412.00010" is none.

    Raises:
        UnreadableId: the name is a path, or names no paper.
    """
    if "/" in name or "\\" in name:
        raise UnreadableId("this is a path, not a file name", which=name, advice="Give its last part.")
    stem = FILE_ENDINGS.sub("", name)
    if stem.startswith("doi_"):
        return parse_paper_id("doi:" + unquote(stem[4:].replace("%", "%25").replace("=", "%")))
    if stem.startswith("local_"):
        return parse_paper_id("local:" + stem[6:])
    old = re.fullmatch(r"([A-Za-z-]+(?:\.[A-Za-z-]+)?)_?([0-9]{7}(?:v[0-9]+)?)", stem)
    return parse_paper_id(f"{old[1]}/{old[2]}" if old else stem)


def id_month(paper_id: str) -> date | None:
    """First day of the month in an arXiv key (its partition, not its date); None for DOIs and local keys.

    Raises:
        UnreadableId: it is no key.
    """
    if paper_id[4:5] != "." and paper_id.startswith(("doi:", "local:")):
        return None
    try:
        if paper_id[4:5] == ".":
            return _month_start(paper_id[:4], "20")
        number = paper_id.partition("/")[2]
        return _month_start(number[:4], "19" if number >= "91" else "20")
    except ValueError:
        raise unreadable("no month can be read in this key", paper_id) from None


def local_id(content: bytes) -> PaperId:
    """The key of a file that came from nowhere else: the beginning of its SHA-256."""
    return PaperId(f"local:{hashlib.sha256(content).hexdigest()[:LOCAL_DIGITS]}", None, "local")


@lru_cache(maxsize=2048)
def _month_start(month: str, century: str) -> date:
    return date(int(century + month[:2]), int(month[2:]), 1)


def _strip(text: str) -> str:
    return text.lstrip(_AROUND).rstrip(_AROUND + ".,;")


def _from_match(match: re.Match[str], text: str) -> PaperId:
    archive, version = (match["archive"] or "").lower(), match["version"]
    return arxiv_key(archive, match["month"], match["dot"], match["number"], version, text)


def _from_doi(doi: str, text: str) -> PaperId:
    # Again, since decoding an address can bring such characters back.
    doi = _strip(doi.translate(_TO_ASCII))
    # Only ASCII folds in DOIs; str.lower would also change other letters.
    doi = re.sub("[A-Z]+", lambda m: m[0].lower(), doi)
    if doi.startswith("10.48550/"):  # all of arXiv's DOIs and nobody else's
        if (match := _ARXIV(doi[9:])) is None:
            raise unreadable("the DOI is arXiv's, but no arXiv id follows", text)
        return _from_match(match, text)
    if not (_DOI(doi) and doi.isprintable()):
        raise unreadable("the DOI holds characters that no DOI has", text)
    return doi_key(doi, text)


def _from_address(address: str, text: str) -> PaperId:
    try:
        parts = urlsplit(address if "://" in address else f"https://{address}")
        host = (parts.hostname or "").lower()
    except ValueError:
        raise unreadable("the address is broken", text) from None
    path = unquote(parts.path)
    if _is_on(host, _DOI_HOSTS) and _DOI(path[1:]):
        return _from_doi(path[1:], text)
    if _is_on(host, _ARXIV_HOSTS) and (end := _PATH_END.search(path)):
        # The segment before the number may be a page kind ("abs", "pdf") instead of an archive.
        head, _, number = end[1].rpartition("/")
        archive = f"{head}/" if head.partition(".")[0].lower() in ARCHIVES else ""
        return parse_paper_id(archive + number)
    if (inside := _DOI_PATH.search(path)) and _DOI(inside[1]):
        return _from_doi(inside[1], text)
    raise unreadable("the address leads to no arXiv paper and no DOI", text)


def _is_on(host: str, sites: tuple[str, ...]) -> bool:
    return any(host == site or host.endswith(f".{site}") for site in sites)


def _from_mention(match: re.Match[str], text: str) -> PaperId | None:
    if doi := match["doi"]:
        doi = doi.rstrip(".;:!?>")
        while doi.endswith(")") and doi.count(")") > doi.count("("):
            doi = doi[:-1].rstrip(".;:!?>")
        return parse_paper_id(doi)
    version = f"v{match['version']}" if match["version"] else ""
    if match["old"]:
        archive = "".join(match["archive"].split())  # a line may break after its hyphen
        return parse_paper_id(f"{archive}/{match['old']}{version}")
    number = match["number"]
    if match["gap"] and not match["label"]:
        return None
    if len(number) == 4 and not (match["label"] or match["stamp"]):
        start = match.start()
        if not _CONTEXT.search(text, max(0, start - 40), start):
            return None
    return parse_paper_id(f"{match['month']}.{number}{version}")
