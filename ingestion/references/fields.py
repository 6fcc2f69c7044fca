"""One bibliography entry into authors, title, year, venue and identifiers.

Here: `parse_entry`, over the styles that journals print. Not here: splitting a list into entries (`splitting`), the
names themselves (`names`), and which paper is meant (`corpus.resolution`). No field is guessed: what cannot be told is
None, and the resolver then works on the whole text.
"""

import re
from dataclasses import dataclass

from ingestion.documents.values import ReferenceText
from ingestion.identity import find_paper_ids
from ingestion.references.letters import LOWER, UPPER, repaired
from ingestion.references.names import Name, read_authors

_YEAR = r"(?:1[89]|20)\d\d"
_URL = re.compile(r"(?:https?://|www\.)[^\s<>\"“”]+(?:(?<=[/.=_-])\s(?=[a-z0-9]+[/.=_-])[^\s<>\"“”]+)*", re.I)
_DOI = re.compile(r"(?:\bdoi\s*[:.]?\s*)?(?:https?://(?:dx\.)?doi\.org/)?\b10\.\d{4,9}/\S+", re.I)
_BROKEN_DOI = re.compile(r"(\b10\.\d{4,9}/\S{1,200}\.)\s(?=[a-z-]+\.\d)")  # "10.18653/v1/2020. acl-main.1"
_ARXIV = re.compile(
    r"(?:,?\s*(?:\bin\s+)?(?:\bar[xX]iv(?:\.org)?(?:\s+e-?prints?|\s+preprints?)?(?:\s+server)?|\bCoRR\b|\beprint)[\s,:]*)+"
    r"(?:(?:ar[xX]iv[:\s]*|abs/)*(?:[a-z-]{2,12}(?:\.[A-Z]{2})?/\d{7}|\d{4}\.\s?\d{4,5})(?:v\d+)?)?(?:\s*\[[\w.-]+\])?"
    r"|\[?\b(?:[a-z-]{2,12}/\d{7}|\d{4}\.\d{4,5})(?:v\d+)?\b(?:\s*\[[\w.-]+\])?\]?",
    re.I,
)
_BRACKETED_ID = re.compile(r"\[(\d{4}\.\d{4,5}(?:v\d+)?)\]")
_ACCESS = re.compile(
    r"[\[(]?\bOnline\b[\])]?[.;:,]*\s*Available:?|\bAvailable(?: online)?(?: at)?:|\bURL:?(?=\s|$)"
    r"|\(?\b(?:last\s+)?accessed(?:\s+on)?:?\s[^;)]{4,24}\)?|\bRetrieved\s(?:from|on)\b",
    re.I,
)
_STOP = "\x00"  # stands where an address or an id was
_EARLY_YEAR = re.compile(
    rf"[\s.,:]*(?:\(\s*(?P<round>{_YEAR})\s?(?P<a>[a-z])?(?:[,;\s][^)]{{0,20}})?\)|(?P<plain>{_YEAR})(?:[–-]{_YEAR})?(?P<b>[a-z])?(?=\s*[.,:;]|\s))\s*[.,:;]?\s*"
)
_ANY_YEAR = re.compile(rf"(?<![\d./:–-])({_YEAR})([a-z])?(?![\d/–-]|\.\d)")
_QUOTED = re.compile(
    r"[“\"«„]\s*(?P<title>[^”\"»“]{4,400}?)\s*[,.]?\s*[”\"»]|‘(?P<single>[^‘]{12,400}?)[,.]?’(?=[\s,.]|$)"
)
_TEX = re.compile(r"\\(?:emph|text\w*|math\w*)\s*\{([^{}]*)\}")
_EDITORS = re.compile(r"\s*[,(]?\s*\(?\b[Ee]ds?\.?\)?[,.:]?\s*|\s*\(?\b[Ee]ditors?\)?[,.:]?\s*")
_NOT_END = re.compile(
    rf"(?:(?<![{UPPER}{LOWER}])[{UPPER}]|\b(?:vs|al|etc|cf|e\.g|i\.e|resp|no|vol|Dr|Mr|Mrs|St|Jr|Fig|Sec|approx|ca|incl|esp))\.\Z"
)
_JOURNAL = (
    r"(?:[A-Z][\w&'’-]*\.?(?:\s+(?:of|on|in|and|the|for|&|[A-Z][\w&'’-]*\.?))*"  # capitalised words
    r"(?:\s*\([A-Z][A-Za-z. ]+\))?)"
)
_VENUE = re.compile(
    r"\s*(?:[Ii]n\s*:|[Ii]n\s+(?:the\s+)?(?:Proc|Int|Adv|Conf|Workshop|IEEE|ACM|AAAI|ECCV|CVPR|ICCV|ICML|ICLR|NIPS|NeurIPS|ACL|EMNLP|NAACL|"
    r"[A-Z]{2,}|[A-Z]\w+\s+(?:Conf|Int|Meeting|Workshop|Symp|Joint|European|on)|\d{4}|\d+(?:st|nd|rd|th)|Findings|Handbook)"
    r"|[Pp]roceedings\b|[Pp]roc\.|ar[xX]iv|CoRR\b|[Pp]reprint\b|Tech(?:nical|\.)\s+[Rr]ep|Ph\.?\s?D|PhD|Master|[Tt]hesis\b|thèse|ed(?:s|ited)?\.?\s"
    r"|[Vv]ol(?:\.|ume)\s|[Pp]p?\.\s?\d|[Pp]ages\s\d|[Tt]o appear|[Ii]n press|[Ss]ubmitted|[Uu]npublished|manuscript|ISBN|MR\s?\d{5}|"
    rf"{_STOP}|\(?(?:19|20)\d\d[a-z]?\)?[\s.,;)]*$|\d+[\s(:,]|"
    rf"{_JOURNAL}[,.]?\s*(?:vol\.?\s*)?\(?\d+[\s(:,.–-]|{_JOURNAL}\s*\((?:19|20)\d\d|(?:[A-Z][a-zé]*\.\s?){{2,}}"
    r"|(?:Springer|Elsevier|Wiley|Cambridge|Oxford|MIT Press|Academic Press|North-Holland|Birkh|World Scientific|CRC|McGraw|O'Reilly|Morgan)\b)",
)

_VENUE_WORD = re.compile(
    r"(?:Advances|Annals|Annual|Journal|Transactions|Communications|Conference|Conf\.|International|Int\.|Findings|Proceedings"
    r"|Nature|Science|PNAS|IEEE|ACM|Association|Trans\.|Workshop|Bulletin|Reviews?|Letters|Neural [Cc]omputation)(?!\w)"
)
_LONGEST_BODY = 3000  # characters after the authors; longer ones are no entries


@dataclass(frozen=True)
class ReferenceFields:
    """What an entry says.

    Attributes:
        text: the whole entry on one line, repaired.
        label: as in `ReferenceText`.
        authors: in the printed order, without those that "et al." hides.
        has_more_authors: the list ends in "et al.".
        title, venue: None where the entry has none or it cannot be told.
        year: of publication as printed; None where there is none.
        year_suffix: "b" of "2018b", else "".
        arxiv_ids: arXiv keys without version in the text and its links, in order.
        dois: DOIs without arXiv's own, lower case, without "doi:".
        urls: other addresses.
        is_reference: has what references have; a heading or a sentence that got among them has not.
    """

    text: str
    label: str = ""
    authors: tuple[Name, ...] = ()
    has_more_authors: bool = False
    title: str | None = None
    year: int | None = None
    year_suffix: str = ""
    venue: str | None = None
    arxiv_ids: tuple[str, ...] = ()
    dois: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    is_reference: bool = True


def parse_entry(reference: ReferenceText) -> ReferenceFields:
    """The fields of one entry.

    Read are: ACL and AAAI ("Authors. 2020. Title. In Venue."), APA, ACM, IEEE (quoted titles), plain and abbrv, amsplain
    and other lists set off by commas, Springer LNCS ("Author, A.: Title. In: …"), ICML, Vancouver, and the physics and
    astronomy styles without titles.
    """
    text = _BROKEN_DOI.sub(r"\1", repaired(reference.text))
    arxiv_ids, dois = _ids(" ".join((text, *reference.urls)))
    urls = tuple(dict.fromkeys([*reference.urls, *(m[0].rstrip(".,;)]") for m in _URL.finditer(text))]))
    core = _without_ids(text)
    authors = read_authors(core)
    rest = core[authors.end :]
    if authors.names and (editors := _EDITORS.match(rest)):
        rest = rest[editors.end() :]
    title, venue, year, suffix = _title_and_year(rest, has_authors=bool(authors.names))
    if year is None:
        year, suffix = _last_year(core)
    has_body = title is not None or venue is not None or year is not None
    is_reference = (
        bool(arxiv_ids or dois) or (bool(authors.names) and has_body) or (year is not None and title is not None)
    )
    return ReferenceFields(
        text=text,
        label=reference.label,
        authors=authors.names,
        has_more_authors=authors.has_more,
        title=title,
        year=year,
        year_suffix=suffix,
        venue=venue,
        arxiv_ids=arxiv_ids,
        dois=dois,
        urls=tuple(u for u in urls if not find_paper_ids(u)),
        is_reference=is_reference,
    )


def looks_like_venue(text: str) -> bool:
    """Whether `text` begins with what follows a title: a journal and its volume, proceedings, a year, an address."""
    return bool(_VENUE.match(text) or _URL.match(text.lstrip()) or _ARXIV.match(text.lstrip()))


def _ids(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    # Physics lists print the bare number in brackets: "[1009.2714]". Elsewhere four digits may be a measurement.
    found = find_paper_ids(_BRACKETED_ID.sub(r"[arXiv:\1]", text))
    arxiv = tuple(p.value for p in found if p.scheme == "arxiv")
    return arxiv, tuple(p.value.removeprefix("doi:") for p in found if p.scheme == "doi")


def _without_ids(text: str) -> str:
    """The text with `_STOP` for addresses, ids and access notes."""
    for pattern in (_URL, _DOI, _ACCESS, _ARXIV):
        text = pattern.sub(f" {_STOP} ", text)
    return re.sub(rf"(?:\s*[\[(]?\s*{_STOP}\s*[\])]?)+", f" {_STOP} ", text).strip()


def _title_and_year(rest: str, *, has_authors: bool) -> tuple[str | None, str | None, int | None, str]:
    year, suffix = None, ""
    is_set_off_by_commas = bool(re.match(r"\s*,", rest))
    if (early := _EARLY_YEAR.match(rest)) and (has_authors or early["round"]):
        year, suffix = int(early["round"] or early["plain"]), early["a"] or early["b"] or ""
        is_set_off_by_commas = early[0].rstrip().endswith(",")
        rest = rest[early.end() :]
    body = rest[:_LONGEST_BODY].lstrip(" .,:;")
    if quoted := _QUOTED.search(body[:600]):
        before = body[: quoted.start()]
        # Letters before the quotation: the title itself quotes something, unless they are authors that were not read.
        if not has_authors or not any(c.isalpha() for c in before):
            title = quoted["title"] or quoted["single"]
            return _tidy_title(title), _venue(body[quoted.end() :]), year, suffix
    end = _title_end_by_comma(body) if is_set_off_by_commas else _title_end(body)
    title = _tidy_title(body[:end])
    is_venue = has_authors and is_set_off_by_commas and _VENUE.match(body) and not re.match(r"[^,.]*[:?]", body[:end])
    if title is None or is_venue or (has_authors and re.match(rf"in:?\s|{_STOP}", body, re.I)):
        return None, _venue(body), year, suffix
    return title, _venue(body[end:]), year, suffix


def _title_end(body: str) -> int:
    """End of the first sentence: a stop that is no abbreviation's, or what is no title any more."""
    for stop in re.finditer(rf"[.?!](?=\s|$)|[.?!][”\"](?=\s|$)|{_STOP}", body):
        position = stop.start()
        if stop[0] == _STOP:
            return position
        if _NOT_END.search(body, max(0, position - 12), position + 1):
            continue
        after = body[stop.end() : stop.end() + 300].lstrip()
        if stop[0] != "." and not _VENUE.match(after):
            if after[:1].islower() or not after or _goes_on(after):
                continue
            return position + 1
        if (
            after[:1].islower()
            and not _VENUE.match(after)
            and not re.match(r"(?:in|arxiv|pages|https?|http|pp)\b", after)
        ):
            continue
        return position + (stop[0] != ".")
    # Without a stop: what looks like the venue after a comma.
    return _title_end_by_comma(body)


def _goes_on(after: str) -> bool:
    """Whether what follows a question mark is still title: one more sentence, and the venue only then."""
    end = re.search(r"\.(?=\s)", after)
    if end is None or _VENUE_WORD.match(after) or any(c.isdigit() for c in after[: end.start()]):
        return False
    rest = after[end.end() :].lstrip(" *_")
    return not any(c.isalpha() for c in rest[:40]) or bool(_VENUE.match(rest) or _VENUE_WORD.match(rest))


def _title_end_by_comma(body: str) -> int:
    stops = list(re.finditer(rf"[,;](?=\s)|\.(?=\s)|[?!](?=\s)|{_STOP}|\s\((?=(?:19|20)\d\d|[A-Z][\w-]*[ ,])", body))
    for stop in stops:
        after = body[stop.end() : stop.end() + 300]
        if stop[0] == _STOP or "(" in stop[0]:
            return stop.start()
        if stop[0] == "." and _NOT_END.search(body, max(0, stop.start() - 12), stop.end()):
            continue
        if _VENUE.match(after):
            return stop.start() + (stop[0] in "?!")
    return len(body)


def _tidy_title(title: str) -> str | None:
    tidy = _TEX.sub(r"\1", title.replace(_STOP, " ")).strip(" .,;:“”\"'")
    tidy = re.sub(rf"[.,]?\s*\({_YEAR}[a-z]?\)$", "", tidy)
    tidy = re.sub(r"\s*\([^()]*$", "", re.sub(r"\s+", " ", tidy))
    tidy = re.sub(rf",\s*(?:[A-Z][a-z]+\s)?{_YEAR}[a-z]?$", "", tidy)  # "Title, 2021."
    letters = sum(c.isalpha() for c in tidy)
    if letters < 3 or letters < sum(c.isdigit() for c in tidy) * 2:
        return None
    return tidy


def _venue(text: str) -> str | None:
    tidy = re.split(_STOP, text)[0]
    tidy = re.sub(r"^[\s.,;:)”\"]*(?:[Ii]n\s*:?\s+)?", "", tidy)
    tidy = re.sub(rf"{_YEAR}\Z", "", tidy.rstrip(" .,;:)]")).rstrip(" .,;:([")
    return tidy if sum(c.isalpha() for c in tidy) >= 2 else None


def _last_year(text: str) -> tuple[int | None, str]:
    """The year in parentheses, else the last one that is no part of a range, an address or an access note."""
    if found := re.findall(rf"\((?:[A-Z][a-z]+\.?\s)?({_YEAR})\s?([a-z])?\)", text):
        return int(found[-1][0]), found[-1][1]
    found = _ANY_YEAR.findall(text)
    return (int(found[-1][0]), found[-1][1]) if found else (None, "")
