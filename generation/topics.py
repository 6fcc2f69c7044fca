"""Topics: what a survey is about, and the key it goes by.

A topic made without a cutoff follows the corpus (`<slug>`); with one it is frozen (`<slug>-<cutoff>`). Where
anything else is given, `-<8 hex of its hash>` is added. Two definitions never share a key: titles that differ
only in case, blanks or hyphens are one definition, and a title whose slug says less than the title, or could be
read as another kind of key, carries a hash of itself.
"""

import hashlib
import json
import re
from dataclasses import dataclass
from datetime import date

from slugify import slugify

from ingestion.errors import BadInput
from ingestion.identity import parse_paper_id

DEFAULT_POOL_SIZE = 1500
"""Papers in a pool (SurveyForge, section 3.1: abstracts given to the outline)."""

_MAX_SLUG = 60
_LOOKS_LIKE_A_SUFFIX = re.compile(r"-(\d{4}-\d{2}-\d{2}|[0-9a-f]{8})$")


class BadTopic(BadInput):
    """A topic definition that names nothing or contradicts itself."""


@dataclass(frozen=True)
class Topic:
    """A topic as defined; `cutoff` None means that it follows the corpus.

    Attributes:
        key: letters a-z, digits and hyphens only; names folders, partitions and rows.
        title: as given, blanks collapsed.
        inclusions, exclusions: canonical paper ids, sorted.
        pool_size: papers the pool may hold.
        has_withdrawn: withdrawn papers may be cited.
    """

    key: str
    title: str
    description: str = ""
    cutoff: date | None = None
    inclusions: tuple[str, ...] = ()
    exclusions: tuple[str, ...] = ()
    pool_size: int = DEFAULT_POOL_SIZE
    has_withdrawn: bool = False

    @property
    def query(self) -> str:
        """What is searched for: title and description."""
        return f"{self.title}. {self.description}" if self.description else self.title


def define_topic(
    title: str,
    *,
    description: str = "",
    cutoff: date | None = None,
    inclusions: tuple[str, ...] | list[str] = (),
    exclusions: tuple[str, ...] | list[str] = (),
    pool_size: int = DEFAULT_POOL_SIZE,
    has_withdrawn: bool = False,
) -> Topic:
    """A topic with its key.

    Args:
        inclusions, exclusions: paper ids in any form.

    Raises:
        BadTopic: no letter or digit in the title, a pool of no papers, or a paper both included and excluded.
        UnreadableId: an id that is none.
    """
    title = " ".join(title.split())
    if not any(c.isalnum() for c in title):
        raise BadTopic("a topic needs a title with at least one letter or digit", which=repr(title))
    if pool_size < 1:
        raise BadTopic("a pool holds at least one paper", which=str(pool_size))
    included = tuple(sorted({parse_paper_id(i).value for i in inclusions}))
    excluded = tuple(sorted({parse_paper_id(i).value for i in exclusions}))
    if both := set(included) & set(excluded):
        raise BadTopic("a paper cannot be both included and excluded", which=", ".join(sorted(both)))
    description = " ".join(description.split())
    key = _slug(title)
    if cutoff:
        key += f"-{cutoff.isoformat()}"
    more = {
        "description": description,
        "inclusions": included,
        "exclusions": excluded,
        "pool_size": pool_size,
        "has_withdrawn": has_withdrawn,
    }
    if more != {
        "description": "",
        "inclusions": (),
        "exclusions": (),
        "pool_size": DEFAULT_POOL_SIZE,
        "has_withdrawn": False,
    }:
        key += f"-{_hash8(json.dumps(more, sort_keys=True))}"
    return Topic(key, title, description, cutoff, included, excluded, pool_size, has_withdrawn)


def _slug(title: str) -> str:
    plain = " ".join(title.casefold().replace("-", " ").split())
    slug = slugify(plain)
    says_all = slug == plain.replace(" ", "-")
    if says_all and len(slug) <= _MAX_SLUG and not _LOOKS_LIKE_A_SUFFIX.search(slug):
        return slug
    return f"{slug[: _MAX_SLUG - 9].strip('-') or 'topic'}-{_hash8(plain)}"


def _hash8(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8]
