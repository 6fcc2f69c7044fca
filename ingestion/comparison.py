"""Forms of titles and names that are compared, never shown.

Here: keys under which two spellings of one thing are equal. Not here: deciding that two papers are one.
"""

import unicodedata

# Letters that Unicode does not decompose, written as people without them do.
_PLAIN = str.maketrans({
    "ø": "o", "đ": "d", "ð": "d", "ł": "l", "ı": "i", "ħ": "h", "æ": "ae", "œ": "oe", "þ": "th", "ŋ": "ng",
})  # fmt: skip


def title_key(title: str) -> str:
    """Letters and digits only, without case and accents: hyphens at line breaks and true ones fall alike."""
    return _key(title)


def author_key(name: str) -> str:
    """The same for a name: composed or not, any hyphen, "Ødegård" as "Odegard"; other letters differ."""
    return _key(name)


def _key(text: str) -> str:
    letters = unicodedata.normalize("NFKD", text.casefold()).translate(_PLAIN)
    # Only Latin accents go: the vowel signs of other scripts tell words apart.
    return "".join(c for c in letters if c.isalnum() or (unicodedata.category(c)[0] == "M" and c > "\u036f"))
