"""The verdict on one entry and the held papers that come into question for it.

Here: how titles, authors and years are compared, and what follows. Not here: finding the papers
(`corpus.resolution_candidates`). A title alone never makes a link; an author or the year must agree as well.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from corpus.resolution_candidates import HeldPaper
from ingestion.comparison import author_key
from ingestion.references.fields import ReferenceFields

Agreement = Literal["agree", "differ", "unknown"]

YEARS_BEFORE, YEARS_AFTER = 1, 4
"""A printed year may lie this many years before and after the year of the first arXiv version.

Measured by `benchmarks/reference_resolution.py` on 379 unarXive entries of all fields that name an arXiv id: 64 % the
same year, 28 % one later, 3 % two, 2 % three, 1 % four; 98 % within the window, 1 % two years before.
"""
SHORT_TITLE = 12
"""Letters below which a title is so short that author and year must both agree; so must two words ("Deep learning")."""
_NEAR_WORDS = 5
# Words that say nothing of which paper it is: those of every title, and those of every title of this field.
_UNTELLING = frozenset(
    ("a", "an", "the", "of", "for", "in", "on", "and", "or", "to", "with", "by", "from", "via", "as", "is", "are", "at",
     "towards", "toward", "using", "how", "what", "can", "do", "large", "language", "model", "models", "llm", "llms",
     "learning", "neural", "deep", "network", "networks", "survey", "review", "study", "approach", "based")
)  # fmt: skip
_CONFUSED = str.maketrans("i1o", "ll0")  # letters and digits that readers of scans take for one another
_TELLING = re.compile(r"\d|\A(?:i{1,3}|iv|vi{0,3}|ix|x|not|no|non|un\w+|without|beyond|vs|versus)\Z")


@dataclass(frozen=True)
class Pair:
    """How an entry and a paper with the same title agree."""

    paper: HeldPaper
    authors: Agreement
    year: Agreement

    @property
    def is_short(self) -> bool:
        return len(self.paper.key) < SHORT_TITLE or len(self.paper.words) <= 2

    @property
    def certainty(self) -> float:
        """0 for pairs that are no match."""
        if self.authors == "differ":
            return 0.0
        is_short = self.is_short
        if self.authors == "agree" and self.year == "agree":
            return 0.98
        if is_short:
            return 0.0
        if self.authors == "agree":
            return 0.95 if self.year == "unknown" else 0.85
        return 0.85 if self.year == "agree" else 0.0

    @property
    def reason(self) -> str:
        """Why there is no match, for people."""
        if self.authors == "differ":
            years = ", and so do the years" if self.year == "differ" else ""
            return f"{self.paper.paper_id} has this title, but its authors differ{years}"
        if self.is_short:
            return f"{self.paper.paper_id} has this title, which is too short to rest on one of author and year"
        return f"{self.paper.paper_id} has this title, but neither an author nor the year agrees"


def compare(fields: ReferenceFields, paper: HeldPaper) -> Pair:
    return Pair(paper, compare_authors(fields, paper), compare_years(fields, paper))


def compare_authors(fields: ReferenceFields, paper: HeldPaper) -> Agreement:
    """`agree` if the first author is the same, or half of the shorter list; `unknown` where one side names no person."""
    printed = [
        author_key(name.surname.split()[-1]) for name in fields.authors if " " in name.printed or "," in name.printed
    ]
    if not paper.surnames:
        return "unknown"
    if not printed:
        # Where the parser found no list, a surname anywhere before the title will do.
        head = _head(fields)
        words = {author_key(word) for word in head.split()}
        return "agree" if words & set(paper.surnames) else "unknown"
    words = {author_key(word) for name in fields.authors for word in re.split(r"[\s,]+", name.printed)}
    common = sum(surname in words for surname in paper.surnames)
    if paper.surnames[0] in words and paper.surnames[0] in (printed[0], *_parts(fields.authors[0].printed)):
        return "agree"
    if common and common * 2 >= min(len(printed), len(paper.surnames)):
        return "agree"
    return "differ"


def _parts(printed: str) -> list[str]:
    return [author_key(word) for word in re.split(r"[\s,]+", printed) if len(word) > 2]


def _head(fields: ReferenceFields) -> str:
    if fields.title and (position := fields.text.find(fields.title[:20])) > 0:
        return fields.text[:position]
    return ""


def compare_years(fields: ReferenceFields, paper: HeldPaper) -> Agreement:
    if fields.year is None:
        return "unknown"
    return "agree" if -YEARS_BEFORE <= fields.year - paper.year <= YEARS_AFTER else "differ"


@dataclass(frozen=True)
class Difference:
    """What tells two titles apart, word by word; words cut, joined or spelled otherwise are told but weigh little.

    Attributes:
        missing: words of the held title that the printed one lacks.
        added: words that only the printed one has.
        is_spelling: nothing but spelling differs.
        has_weight: a number, a numeral or a negation differs, a word stands for another, or one title is the
            beginning or the end of the other.
        words: of the held title.
    """

    missing: tuple[str, ...]
    added: tuple[str, ...]
    is_spelling: bool
    has_weight: bool
    words: int

    def __str__(self) -> str:
        without = f"without {' '.join(self.missing)!r}" if self.missing else ""
        added = f"with {' '.join(self.added)!r}" if self.added else ""
        return ", ".join(part for part in (without, added) if part)


def may_be_near(printed: frozenset[str], paper: HeldPaper) -> bool:
    """Whether a title shares enough words with the paper's to be worth `difference`, which costs a hundred times more."""
    # Two words spelled otherwise, one of them in two parts, may come on top of those that differ.
    least = max(len(paper.word_set), len(printed)) - _most_changed(len(paper.words)) - 3
    return len(paper.word_set & printed) >= least


def _most_changed(words: int) -> int:
    return max(1, words // 4)


def are_related(printed: Sequence[str], held: Sequence[str]) -> bool:
    """Whether two titles can be of two versions of one paper: half of what the shorter one tells is in the other.

    Enough only beside an id: many papers share as much.
    """
    ours, theirs = set(printed) - _UNTELLING, set(held) - _UNTELLING
    shared = len(ours & theirs)
    return shared >= 2 and shared * 2 >= min(len(ours), len(theirs))


def difference(printed: Sequence[str], held: Sequence[str]) -> Difference | None:
    """How two titles differ, given as `title_words`; None where they are too far apart to be called near."""
    limit = _most_changed(len(held))
    missing: list[str] = []
    added: list[str] = []
    unlike: set[str] = set()
    changed = 0
    has_weight = False
    for tag, a, b, c, d in SequenceMatcher(None, held, printed, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        gone, come = held[a:b], printed[c:d]
        missing += gone
        added += come
        if _is_spelled_alike("".join(gone), "".join(come)):
            continue
        changed += max(len(gone), len(come))
        if changed > limit:
            return None
        unlike.add(tag)
        has_weight |= tag == "replace" or any(_TELLING.search(word) for word in (*gone, *come))
    short, long = sorted(("".join(printed), "".join(held)), key=len)
    has_weight |= len(unlike) > 1 or (changed > 0 and (long.startswith(short) or long.endswith(short)))
    return Difference(tuple(missing), tuple(added), changed == 0, has_weight, len(held))


def is_near_match(pair: Pair, found: Difference) -> bool:
    """Whether a near title may be linked: never on the likeness of titles alone.

    The authors must agree and the year must not differ; a few words may be missing or added, of a title long enough.
    Where nothing but spelling differs and the authors are unknown, the year will do.
    """
    if found.has_weight or found.words < _NEAR_WORDS:
        return False
    if found.is_spelling and pair.authors == "unknown":
        return pair.year == "agree"
    changed = max(len(found.missing), len(found.added))
    return pair.authors == "agree" and pair.year != "differ" and (found.is_spelling or changed * 4 <= found.words)


def _is_spelled_alike(ours: str, theirs: str) -> bool:
    """One word or run of words in two spellings, or misread: "data set", "poisionbench", "Ilm"."""
    if not (ours and theirs):
        return False
    if ours.translate(_CONFUSED) == theirs.translate(_CONFUSED):
        return True
    shorter, longer = sorted((len(ours), len(theirs)))
    if shorter < 5 or shorter < longer * 0.7 or any(c.isdigit() for c in ours + theirs):
        return False
    return SequenceMatcher(None, ours, theirs).ratio() >= 0.85
