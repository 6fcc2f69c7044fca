"""Ids in every form people write; the fault ids are those of the public fault list."""

import csv
import io
import json
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.errors import BadInput, NotFound
from ingestion.identity import (
    OLD_ARCHIVES,
    ImpossibleId,
    PaperId,
    UnreadableId,
    find_paper_ids,
    id_month,
    local_id,
    paper_id_from_file_name,
    parse_paper_id,
)


@st.composite
def arxiv_ids(draw) -> PaperId:
    version = draw(st.none() | st.integers(1, 9999))
    month = draw(st.integers(1, 12))
    if draw(st.booleans()):
        archive = draw(st.sampled_from(sorted(OLD_ARCHIVES)))
        year = draw(st.sampled_from([*range(92, 100), *range(7)]))
        return PaperId(f"{archive}/{year:02}{month:02}{draw(st.integers(1, 999)):03}", version, "arxiv")
    year = draw(st.integers(8, 99))
    digits = 4 if year < 15 else 5
    number = draw(st.integers(1, 10**digits - 1))
    return PaperId(f"{year:02}{month:02}.{number:0{digits}}", version, "arxiv")


dois = st.builds(
    lambda registrant, suffix: f"10.{registrant}/{suffix}",
    st.integers(1000, 99999).filter(lambda number: number != 48550),
    st.text("abcXYZ0189-._;()/:<>=%é", min_size=1, max_size=40),
)


def test_id01_bare_number_is_refused_and_names_the_missing_archive():
    with pytest.raises(UnreadableId, match=r"archive is missing.*0112019"):
        parse_paper_id("0112019")


def test_id01_archive_is_kept_in_key_file_name_and_address():
    paper = parse_paper_id("quant-ph/0112019v1")
    assert (paper.value, paper.version, paper.scheme) == ("quant-ph/0112019", 1, "arxiv")
    assert paper.file_stem == "quant-ph_0112019v1"
    assert paper.url == "https://arxiv.org/abs/quant-ph/0112019v1"


@pytest.mark.parametrize(
    ("text", "value", "version"),
    [
        ("cs/0701188", "cs/0701188", None),
        ("math/0211159v2", "math/0211159", 2),
        ("math.GT/0309136", "math/0309136", None),
        ("cs.CL/0501001", "cs/0501001", None),
        ("hep-th/9711200", "hep-th/9711200", None),
        ("cond-mat.str-el/0703470", "cond-mat/0703470", None),
    ],
)
def test_id02_subject_class_is_no_part_of_the_key(text, value, version):
    assert parse_paper_id(text) == PaperId(value, version, "arxiv")


def test_id03_new_number_behind_an_old_archive():
    assert parse_paper_id("arXiv:hep-th/1601.07616") == parse_paper_id("1601.07616")
    assert [str(paper) for paper in find_paper_ids("see arXiv:hep-th/1601.07616.")] == ["1601.07616"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("arXiv:0706.0001v1 [q-bio.CB] 1 Jun 2007", "0706.0001v1"),
        ("arXiv:1207.1234 [hep-th]", "1207.1234"),
    ],
)
def test_id04_stamp_date_and_class_are_ignored(text, expected):
    assert str(parse_paper_id(text)) == expected
    assert [str(paper) for paper in find_paper_ids(f"B. Author, {text}, pp. 1-3")] == [expected]


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("https://arxiv.org/pdf/2004.04906v3.pdf", 3),
        ("http://arxiv.org/abs/2004.04906?context=cs", None),
        ("10.48550/arXiv.2004.04906", None),
        ("https://doi.org/10.48550/ARXIV.2004.04906", None),
        (" arxiv:2004.04906 ", None),
        ("https://www.alphaxiv.org/abs/2004.04906v2", 2),
        ("export.arxiv.org/pdf/2004.04906", None),
        ("https://arxiv.org/html/2004.04906v1#S2", 1),
        ("oai:arXiv.org:2004.04906", None),
        ("ａｒＸｉｖ：２００４．０４９０６", None),
        ("<https://ar5iv.labs.arxiv.org/html/2004.04906>", None),
    ],
)
def test_id05_addresses_dois_and_labels(text, version):
    assert parse_paper_id(text) == PaperId("2004.04906", version, "arxiv")


@pytest.mark.parametrize("text", ["hep‐th/9901001", "HEP-TH/9901001", "https://arxiv.org/abs/hep-th/9901001"])
def test_id05_hyphens_capitals_and_addresses_of_old_ids(text):
    assert parse_paper_id(text).value == "hep-th/9901001"


def test_id06_flat_file_names_differ_and_map_back():
    papers = [parse_paper_id("hep-th/9901001"), parse_paper_id("hep-ph/9901001")]
    stems = {paper.file_stem for paper in papers}
    assert stems == {"hep-th_9901001", "hep-ph_9901001"}
    assert [paper_id_from_file_name(f"{paper.file_stem}.pdf") for paper in papers] == papers
    assert paper_id_from_file_name("hep-th9901001v1.pdf") == PaperId("hep-th/9901001", 1, "arxiv")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("9999.99999", "month 99"),
        ("2413.00001", "month 13"),
        ("1501.0001", "5 digits"),
        ("1412.00001", "4 digits"),
        ("0703.0001", "April 2007"),
        ("hep-th/0712001", "March 2007"),
        ("2004.00000", "begin with 1"),
        ("2004.04906v0", "versions begin with 1"),
    ],
)
def test_id08_impossible_ids_are_typed_not_found_with_the_reason(text, reason):
    with pytest.raises(ImpossibleId, match=reason) as caught:
        parse_paper_id(text)
    assert isinstance(caught.value, NotFound)
    assert isinstance(caught.value, BadInput)


def test_id08_version_999_is_well_formed_for_the_store_to_answer():
    assert parse_paper_id("1706.03762v999").version == 999


def test_id09_version_is_split_from_the_key():
    assert parse_paper_id("1706.03762v7").value == parse_paper_id("1706.03762").value == "1706.03762"


def test_id11_final_stop_of_a_reference_is_no_part_of_the_id():
    assert [str(paper) for paper in find_paper_ids("A. Author, hep-ph/9510424.")] == ["hep-ph/9510424"]


@pytest.mark.parametrize(
    "text",
    [
        "see 12/2019, pp. 3/4567890",
        "values of 1234.5678, 1207.1234 and $2005.1140",
        "version 2004.12345.67",
        "https://example.org/2004.04906",
    ],
)
def test_id11_what_is_no_id_yields_none(text):
    assert find_paper_ids(text) == []


def test_id11_ids_come_in_order_and_once():
    text = (
        "CoRR, abs/1706.03762, 2017; doi:10.1145/3292500.3330701. [hep-th/9711200], arXiv preprint 1207.1234 "
        "(https://arxiv.org/abs/2005.11401v2). Again arXiv:1706.03762v5, arXiv:1810. 04805, hep-\nph/9510424."
    )
    assert [str(paper) for paper in find_paper_ids(text)] == [
        "1706.03762",
        "doi:10.1145/3292500.3330701",
        "hep-th/9711200",
        "1207.1234",
        "2005.11401v2",
        "1810.04805",
        "hep-ph/9510424",
    ]


def test_id12_ids_stay_text_in_csv_json_and_file_names():
    ids = ["2412.00010", "2412.00011", "0704.0001", "1501.00001"]
    table = io.StringIO()
    csv.writer(table).writerows([parse_paper_id(text).value] for text in ids)
    assert [row[0] for row in csv.reader(io.StringIO(table.getvalue()))] == ids
    assert json.loads(json.dumps([parse_paper_id(text).value for text in ids])) == ids
    assert [paper_id_from_file_name(parse_paper_id(text).file_stem).value for text in ids] == ids
    assert paper_id_from_file_name("2412.00010v2.tar.gz") == PaperId("2412.00010", 2, "arxiv")


def test_id12_a_number_is_refused_because_it_lost_its_zeros():
    with pytest.raises(UnreadableId, match="must be text"):
        parse_paper_id(2412.0001)


@pytest.mark.parametrize("text", ["", "hello", "foo/9901001", "https://a.org/2004.04906", "10.48550/arXiv."])
def test_unreadable_texts_are_refused_with_advice(text):
    with pytest.raises(UnreadableId) as caught:
        parse_paper_id(text)
    assert caught.value.what
    assert caught.value.advice


def test_dois_of_other_works_are_keys_in_lower_case():
    paper = parse_paper_id("https://dl.acm.org/doi/abs/10.1145/3292500.ABC_1")
    assert (paper.value, paper.version, paper.scheme) == ("doi:10.1145/3292500.abc_1", None, "doi")
    assert paper.url == "https://doi.org/10.1145/3292500.abc_1"
    assert "/" not in paper.file_stem


@given(arxiv_ids())
def test_id06_arxiv_ids_survive_every_round_trip(paper):
    assert parse_paper_id(str(paper)) == paper
    assert parse_paper_id(paper.url) == paper
    assert parse_paper_id(f"arXiv:{paper} [cs.CL]") == paper
    assert paper_id_from_file_name(f"{paper.file_stem}.pdf") == paper
    assert find_paper_ids(f"see arXiv:{paper}, p. 3.") == [paper]


@given(dois)
def test_id06_dois_survive_every_round_trip(doi):
    if not doi.partition("/")[2].rstrip(".;<>"):  # nothing but punctuation behind the slash
        with pytest.raises(UnreadableId):
            parse_paper_id(f"doi:{doi}")
        return
    paper = parse_paper_id(f"doi:{doi}")
    assert parse_paper_id(paper.value) == paper
    assert paper_id_from_file_name(f"{paper.file_stem}.pdf") == paper
    assert paper_id_from_file_name(paper.file_stem) == paper
    assert not set(paper.file_stem) & set('/\\:<>%"')


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_never_a_crash(text):
    try:
        paper = parse_paper_id(text)
    except UnreadableId:
        paper = local_id(text.encode("utf-8", "surrogatepass"))
    assert parse_paper_id(paper.value).value == paper.value
    assert all(isinstance(paper, PaperId) for paper in find_paper_ids(text))


def test_month_of_an_id_is_a_partition():
    assert id_month("2005.11401") == date(2020, 5, 1)
    assert id_month("hep-th/9901001") == date(1999, 1, 1)
    assert id_month("cs/0701188") == date(2007, 1, 1)
    assert id_month("doi:10.1000/182") is None
    assert id_month(local_id(b"x").value) is None
    with pytest.raises(UnreadableId):
        id_month("2599.00001")


def test_local_keys_come_from_content():
    paper = local_id(b"a file")
    assert paper == local_id(b"a file") != local_id(b"another")
    assert parse_paper_id(paper.value) == paper == paper_id_from_file_name(f"{paper.file_stem}.pdf")
    assert paper.url is None
    with pytest.raises(UnreadableId, match="16 hexadecimal"):
        parse_paper_id("local:12")


@pytest.mark.parametrize("name", ["../2005.11401.pdf", "a\\2005.11401.pdf", "notes.pdf"])
def test_file_names_that_name_no_paper_are_refused(name):
    with pytest.raises(UnreadableId):
        paper_id_from_file_name(name)
