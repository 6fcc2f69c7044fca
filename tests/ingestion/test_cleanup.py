"""Raw metadata fields → clean values; the fault ids are those of the public fault list."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ingestion.cleanup import (
    Authors,
    clean_abstract,
    clean_authors,
    clean_categories,
    clean_title,
    is_withdrawn,
)
from ingestion.comparison import author_key, title_key

_SCRAPS = [
    "a", "B", "1", " ", "  ", "\n", "\n  ", "\n\n", "\\", "\\\\", "{", "}", "$", "~", "\\~", "`", "``", "'",
    "''", "--", "---", "<", ">", "<p>", "</p>", "<i>", "</i>", "&", "&amp;", "&lt;", "&gt;", "&#x1b;",
    "\\emph{", "\\textbf{", "{\\it ", "\\'", '\\"', "\\'{\\i}", "\\c", "\\o", "\\ss ", "\\%", "\\$", "\\&",
    "\\(", "\\)", "\\[", "\\]", "\\begin{equation}", "\\end{equation}", "\\href{", "\\url{", "\\footnote{",
    "https://a.b/~c", "é", "e\u0301", "ı\u0301", "\ufb01", "\u00ad", "\u200b", "\ud800", "\ufdd0", "\x00",
    "\u00a0", "â€œ", "Ã©", "None", "\u1fef", ";",
]  # fmt: skip
raw_texts = st.text(max_size=80) | st.lists(st.sampled_from(_SCRAPS), max_size=25).map("".join)


@pytest.mark.parametrize("text", [None, "", "  \n", "None", "null"])
def test_md14_gaps_stay_gaps_and_are_never_the_word_none(text):
    assert clean_title(text) is None
    assert clean_abstract(text) is None
    assert clean_authors(text) == Authors((), ())
    assert clean_categories(text) == ()
    assert is_withdrawn(text, text) is None


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("Deep nets\n  for   graphs", "Deep nets for graphs"),
        ("A~B", "A B"),
        (r"El Ni\~no and \~{n}", "El Niño and ñ"),
        ("about ~3% or 5~10 at https://a.b/~c", "about ~3% or 5~10 at https://a.b/~c"),
    ],
)
def test_md01_ties_and_line_breaks_in_titles(raw, clean):
    assert clean_title(raw) == clean


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("  First\nline.\n  Second\nparagraph.\n\nThird.", "First line.\n\nSecond paragraph.\n\nThird."),
        ("One\r\n\r\nTwo", "One\n\nTwo"),
        ("\n      This paper\n      does a\n      thing.\n    ", "This paper does a thing."),
    ],
)  # fmt: skip
def test_md01_paragraphs_keep_their_break_and_lines_do_not(raw, clean):
    assert clean_abstract(raw) == clean


def test_md02_accents_outside_math_unknown_macros_kept():
    raw = r"$L^2$ bounds  on K\"{a}hler surfaces by M\"uller \foobar x"
    assert clean_title(raw) == r"$L^2$ bounds on Kähler surfaces by Müller \foobar x"


@pytest.mark.parametrize(
    "math", [r"$a~b--c \'e$", r"\(x~y\)", r"\[a\_b\]", r"$$\emph{x}$$", r"\begin{align} a~b \\ c \end{align}"]
)
def test_md02_math_is_kept_as_written(math):
    assert clean_title(f"{math} of A~B") == f"{math} of A B"


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        (r"\'{\i} \`{\i} na\"\i ve Pr\r{u}\v{s}a {\"O}z \c c \H{o} \.z", "í ì naïve Průša Öz ç ő ż"),
        (r"Stra\ss e, \L{}ukasz, {\o}re, \AA ngstr\"om", "Straße, Łukasz, øre, Ångström"),
        (r"\emph{x \textbf{y $z_{1}$}} {\it w}", "x y $z_{1}$ w"),
        (r"5\% R\&D a\_b \#1 \$5 and \$6", "5% R&D a_b #1 $5 and $6"),
        ("costs $5 and $6~m", "costs $5 and $6 m"),
        ("a -- b, x--y, p---q, see --help", "a – b, x–y, p—q, see --help"),
        ("``a'' and `b' of Bob's f''", "“a” and ‘b’ of Bob's f''"),
        (r"\href{https://a.b/c}{code} at \url{https://x.y/z}", "code (https://a.b/c) at https://x.y/z"),
        ("in\ufb02uence e\u0301 so\u00adft \u200bz\ufeff", "influence é soft z"),
        ("â€œspikinessâ€\x9d", "“spikiness”"),
    ],
)
def test_md02_tex_and_characters_outside_math(raw, clean):
    assert clean_title(raw) == clean


def test_md06_tags_and_double_escapes_go_real_signs_stay():
    raw = "<jats:p>CO&amp;lt;sub&amp;gt;2&amp;lt;/sub&amp;gt; &amp;amp; H&lt;5</jats:p>"
    assert clean_abstract(raw) == "CO2 & H<5"
    assert clean_title("a&#xD;b\x07c\ud800d") == "a bcd"


@pytest.mark.parametrize("text", ["a<b and c>d", "p < 0.05", "<s> <think> </s>", "H&E; Q&A; A&T", "on <i>"])
def test_md06_what_only_looks_like_markup_stays(text):
    assert clean_title(text) == text


def test_md06_jats_paragraphs_and_heading():
    heading = "<jats:title>Abstract</jats:title>"
    raw = f"{heading}<jats:p>One <jats:italic>x</jats:italic>.</jats:p><jats:p>Two.</jats:p>"
    assert clean_abstract(raw) == "One x.\n\nTwo."


@pytest.mark.parametrize(
    ("raw", "persons", "groups"),
    [
        ("The Example Collaboration: A. One, B. Two", ("A. One", "B. Two"), ("The Example Collaboration",)),
        ("The Example Collaboration", (), ("The Example Collaboration",)),
        ("NVIDIA, :, A. One, B. Two", ("A. One", "B. Two"), ("NVIDIA",)),
        ("A. One for the ATLAS Collaboration", ("A. One",), ("the ATLAS Collaboration",)),
        ("A. One, B. Two and the CMS Collaboration", ("A. One", "B. Two"), ("the CMS Collaboration",)),
        ("Gemini Team, Rohan Anil", ("Rohan Anil",), ("Gemini Team",)),
    ],
)
def test_md07_collaborations_are_groups_never_persons(raw, persons, groups):
    assert clean_authors(raw) == Authors(persons, groups)


@pytest.mark.parametrize(
    ("raw", "persons"),
    [
        ("A. One, B. Two and C. Three", ("A. One", "B. Two", "C. Three")),
        ("A. One,, and B. Two, et al.", ("A. One", "B. Two")),
        ("Jane Doe (1), John Roe (2, 3) ((1) Univ A, (2) Inst B)", ("Jane Doe", "John Roe")),
        ("T. Paul (LJLL (UMR\\_7598)), Shubhra (Santu) Karmaker", ("T. Paul", "Shubhra (Santu) Karmaker")),
        ("[ashish Vaswani, noam Shazeer]", ("Ashish Vaswani", "Noam Shazeer")),
        (r'["ivan Vuli\u0107", edoardo Maria Ponti]', ("Ivan Vulić", "Edoardo Maria Ponti")),
        ("Robert W. Heath, Jr., Hal Daumé III", ("Robert W. Heath Jr.", "Hal Daumé III")),
        ("Cl\\'ement Mouhot (CEREMADE), J\\\"urgen\n  Sprekels", ("Clément Mouhot", "Jürgen Sprekels")),
        ("siyu jiao, taro Suzuki, van der Berg", ("siyu jiao", "Taro Suzuki", "van der Berg")),
        ("Ayoub AI-Hamadi, A. One, Ph.D.", ("Ayoub AI-Hamadi", "A. One")),
    ],
)
def test_md07_persons_without_affiliations(raw, persons):
    assert clean_authors(raw) == Authors(persons, ())


def test_md07_names_keep_the_printed_order():
    assert clean_authors("A. One, Example Team, B. Two").names == ("A. One", "Example Team", "B. Two")


@pytest.mark.parametrize(
    ("raw", "categories"),
    [
        ("cs.CL cs.AI cs.CL", ("cs.CL", "cs.AI")),
        ("math.AP cs.LG 35J60; 68T07", ("math.AP", "cs.LG")),
        ("cs.CL 68T50 (Primary) I.2.7, A.1", ("cs.CL",)),
        ("hep-th, cond-mat.mtrl-sci;math-ph\n", ("hep-th", "cond-mat.mtrl-sci", "math-ph")),
        ("94D05,", ()),
    ],
)
def test_categories_keep_order_without_classification_codes(raw, categories):
    assert clean_categories(raw) == categories


@pytest.mark.parametrize(
    ("comments", "abstract", "evidence"),
    [
        ("This paper has been withdrawn by the author", None, "This paper has been withdrawn by the author"),
        ("12 pages. Withdrawn due to an error. See v1.", "Text.", "Withdrawn due to an error."),
        ("31 pages, 1 figure Paper withdrawn. Old version", None, "31 pages, 1 figure Paper withdrawn."),
        ("So we wish to withdraw this paper", "", "So we wish to withdraw this paper"),
        (
            None,
            "Text. This submission has been withdrawn by arXiv administrators.",
            "This submission has been withdrawn by arXiv administrators.",
        ),
    ],
)
def test_md03_withdrawal_is_found_with_its_sentence(comments, abstract, evidence):
    assert is_withdrawn(comments, abstract) == evidence


def test_md04_withdrawal_of_the_latest_version_is_seen_in_its_comments():
    comments, abstract = "v2: withdrawn, the proof of Lemma 2 is wrong", "We prove Lemma 2."
    assert is_withdrawn(comments, abstract) == comments


@pytest.mark.parametrize(
    ("comments", "abstract"),
    [
        (None, "We present the first large-scale dataset of withdrawn papers from arXiv."),
        (None, "The drug was withdrawn due to toxicity, and the paper was retracted."),
        ("This paper was withdrawn from ICLR 2024", None),
        ("This is an updated version; the previous version was withdrawn", None),
        ("It improves on 1201.1219. Consequently those papers have been withdrawn", None),
        ("It contains results that have been withdrawn from our previous preprint", None),
        ('Comment on "Withdrawn papers"', None),
    ],
)
def test_md03_papers_about_withdrawals_are_not_withdrawn(comments, abstract):
    assert is_withdrawn(comments, abstract) is None


def test_ct08_line_break_hyphens_fall_in_comparison():
    printed = "Detecting vulnera-bilities with soft- ware co-located tests"
    assert title_key(printed) == title_key("Detecting vulnerabilities with software co-located tests")
    assert title_key(printed) != title_key("Detecting vulnerabilities with software tests")


def test_ct09_spellings_of_one_author_compare_equal_others_do_not():
    assert author_key("Smith\u2010Jones") == author_key("Smith-Jones")
    assert author_key("Mu\u0308ller") == author_key("Müller")
    assert author_key("Ødegård") == author_key("Odegard")
    assert author_key("Müller") != author_key("Möller")
    assert author_key("कि") != author_key("कु")


@given(raw_texts)
@example(r"\&lt;p&gt;x\&lt;/p&gt;")
@example(r"{\it {\bf \$a\$~b}}")
def test_cleaning_twice_changes_nothing(text):
    for clean in (clean_title, clean_abstract):
        once = clean(text)
        assert once is None or clean(once) == once


@given(raw_texts)
def test_clean_text_has_no_odd_characters(text):
    title, abstract = clean_title(text), clean_abstract(text)
    for line in [] if title is None else [title, *abstract.split("\n\n")]:
        assert line == " ".join(line.split()) != ""
        assert unicodedata.is_normalized("NFC", line)
        assert not any(unicodedata.category(c) in ("Cc", "Cs") for c in line)


@given(raw_texts)
def test_authors_are_never_empty_names(text):
    authors = clean_authors(text)
    assert sorted(authors.names) == sorted(authors.persons + authors.groups)
    assert all(name.strip() == name and any(c.isalpha() for c in name) for name in authors.names)
