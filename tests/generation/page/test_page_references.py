"""Entries of the bibliography: what is known of a paper, named as readers name it."""

import pytest

from generation.page_references import Link, authors, licence, links


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("http://creativecommons.org/licenses/by/4.0/", "CC BY 4.0"),
        ("http://creativecommons.org/licenses/by-nc-sa/3.0/", "CC BY-NC-SA 3.0"),
        ("http://creativecommons.org/publicdomain/zero/1.0/", "CC0"),
        ("http://creativecommons.org/licenses/publicdomain/", "public domain"),
        ("http://arxiv.org/licenses/nonexclusive-distrib/1.0/", "arXiv non-exclusive licence"),
        ("A licence of its own", "A licence of its own"),
        (None, ""),
    ],
    ids=["by", "by-nc-sa", "zero", "public-domain", "arxiv", "unknown", "none"],
)
def test_licences_have_their_usual_names(address, name):
    assert licence(address) == name


def test_nobody_is_invented_and_many_are_counted(make_paper):
    assert authors(make_paper(authors=None, collaborations=None)) == ""
    assert authors(make_paper(collaborations=("The Bag Collaboration",))) == "The Bag Collaboration, Ada Lovelace"
    many = tuple(f"Author {i}" for i in range(3000))
    assert authors(make_paper(authors=many)).endswith("Author 11 and 2,988 more")
    assert authors(make_paper(authors=many[:13])).endswith("Author 12")


@pytest.mark.parametrize(
    ("paper_id", "doi", "expected"),
    [
        ("hep-th/9901001", None, [("https://arxiv.org/abs/hep-th/9901001", "arXiv:hep-th/9901001")]),
        ("2005.11401", "10.1/a#b?c", [("https://arxiv.org/abs/2005.11401", "arXiv:2005.11401"), ("https://doi.org/10.1/a%23b%3Fc", "doi:10.1/a#b?c")]),
        ("doi:10.1000/xyz", None, [("https://doi.org/10.1000/xyz", "doi:10.1000/xyz")]),
        ("local:0123456789abcdef", None, []),
    ],
    ids=["old-arxiv", "doi-escaped", "doi-key", "local"],
)  # fmt: skip
def test_links_lead_to_what_the_ids_name(make_paper, paper_id, doi, expected):
    assert links(make_paper(paper_id, doi=doi)) == tuple(Link(*e) for e in expected)
