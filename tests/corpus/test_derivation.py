"""Papers from records: which source gives a field, dates, versions, withdrawal; gaps stay gaps."""

from datetime import UTC, date, datetime

import pytest

from corpus.derivation import derive_papers
from corpus.precedence import derive_paper
from corpus.query import query


def said(source: str = "mirror:/m", harvested: int = 1, **fields: object) -> dict:
    """A row of arxiv_records as derive_paper reads it."""
    return {
        "source": source,
        "paper_id": "2401.00001",
        "id_month": date(2024, 1, 1),
        "version": None,
        "title": "A title",
        "abstract": None,
        "authors": None,
        "categories": None,
        "comments": None,
        "journal_ref": None,
        "doi": None,
        "license": None,
        "versions": [],
        "update_date": None,
        "date_kind": None,
        "abstract_origin": "source",
        "harvested_at": datetime(2024, 6, harvested, tzinfo=UTC),
        **fields,
    }


def at(*days: str) -> list[dict]:
    return [{"version": f"v{n}", "created": f"{day}T10:00:00Z"} for n, day in enumerate(days, start=1)]


def sources(paper: dict) -> dict[str, str]:
    return {f["field"]: f["source"] for f in paper["field_sources"]}


def test_field_by_field_the_first_source_that_knows_a_value_gives_it() -> None:
    paper = derive_paper(
        [
            said("import:/x", title="imported", abstract="imported abstract", doi="10.1/imported", comments="3 pages"),
            said("mirror:/m", title="mirrored", abstract=" ", license="mirror licence"),
            said("arxiv", title="arXiv's", doi=""),
            said("snapshot:/s", doi="10.1/snapshot"),
        ]
    )
    assert (paper["title"], paper["abstract"], paper["doi"]) == ("arXiv's", "imported abstract", "10.1/snapshot")
    assert sources(paper) == {
        "abstract": "import:/x",
        "comments": "import:/x",
        "doi": "snapshot:/s",
        "license": "mirror:/m",
        "title": "arxiv",
    }


def test_among_equals_the_source_harvested_last_goes_first() -> None:
    first, last = said("mirror:/a", 1, title="older"), said("mirror:/b", 2, title="newer")
    for order in ([first, last], [last, first]):
        assert derive_paper(order)["title"] == "newer"


def test_an_authors_own_abstract_goes_before_a_summary_by_the_project() -> None:
    summary = said("arxiv", abstract="a summary", abstract_origin="summary by the project")
    own = said("import:/x", abstract="the abstract")
    paper = derive_paper([summary, own])
    assert (paper["abstract"], paper["abstract_origin"]) == ("the abstract", "source")
    alone = derive_paper([summary])
    assert (alone["abstract"], alone["abstract_origin"]) == ("a summary", "summary by the project")


def test_a_record_of_a_superseded_version_comes_after_all_others() -> None:
    paper = derive_paper([said("arxiv", version=1, title="old title"), said("mirror:/m", version=2, title="new title")])
    assert (paper["title"], paper["latest_version"]) == ("new title", 2)
    unknown = derive_paper([said("arxiv", title="of unknown version"), said("mirror:/m", version=2, title="new title")])
    assert unknown["title"] == "of unknown version"


def test_md03_a_withdrawn_paper_stays_a_row_with_its_evidence() -> None:
    paper = derive_paper([said(comments="This paper has been withdrawn by the author due to an error.")])
    assert paper["is_withdrawn"] is True
    assert paper["withdrawn_evidence"] == "This paper has been withdrawn by the author due to an error."
    assert paper["title"] == "A title"


def test_md04_withdrawal_counts_as_of_the_newest_version() -> None:
    readable = said("arxiv", version=1, comments="12 pages, 3 figures", abstract="We study.")
    withdrawn = said("mirror:/m", version=2, comments="This paper has been withdrawn.")
    paper = derive_paper([readable, withdrawn])
    assert (paper["is_withdrawn"], paper["latest_version"]) == (True, 2)
    back = derive_paper([withdrawn, said("arxiv", version=3, comments="Corrected.")])
    assert (back["is_withdrawn"], back["latest_version"]) == (False, 3)
    one = derive_paper([said(comments="This paper has been withdrawn.", versions=at("2024-01-02", "2024-03-01"))])
    assert (one["is_withdrawn"], one["latest_version"]) == (True, 2)


def test_md09_submitted_on_is_the_day_of_version_one_also_for_a_record_of_version_two() -> None:
    paper = derive_paper([said(version=2, versions=at("2012-05-30", "2012-10-29"), update_date="2012-10-30")])
    assert paper["submitted_on"] == paper["submitted_latest"] == date(2012, 5, 30)
    assert paper["submitted_precision"] == "day"
    assert paper["updated_on"] == date(2012, 10, 29)


def test_md09_a_first_version_on_the_eve_of_its_month_keeps_its_day() -> None:
    paper = derive_paper([said(versions=[{"version": "v1", "created": "Sun, 31 Dec 2023 19:18:42 -0700"}])])
    assert paper["submitted_on"] == date(2024, 1, 1)
    paper = derive_paper([said(versions=[{"version": "v1", "created": "Sun, 31 Dec 2023 12:00:00 GMT"}])])
    assert paper["submitted_on"] == date(2023, 12, 31)


@pytest.mark.parametrize(
    ("day", "kind", "latest", "precision"),
    [
        ("2024-01-09", "announced", date(2024, 1, 9), "announced"),
        ("2024-01-09", "s2-publication", date(2024, 1, 9), "announced"),
        ("2024-05-09", "announced", date(2024, 1, 31), "month"),
        ("2024-01-09", "updated", date(2024, 1, 31), "month"),
        ("2024-01-09", None, date(2024, 1, 31), "month"),
        ("2024-01-09", "published", date(2024, 1, 31), "month"),
        ("2024-01", "announced", date(2024, 1, 31), "month"),
        ("0000-00-00", "announced", date(2024, 1, 31), "month"),
        (None, None, date(2024, 1, 31), "month"),
    ],
)
def test_md10_without_a_first_version_only_an_announcement_narrows_the_month(day, kind, latest, precision) -> None:
    paper = derive_paper([said(update_date=day, date_kind=kind)])
    assert (paper["submitted_latest"], paper["submitted_precision"]) == (latest, precision)
    assert paper["submitted_on"] is None


def test_md14_what_no_source_knows_is_null_and_never_the_word_none() -> None:
    empty = said(abstract="", authors="None", categories="nan", comments="  ", doi=" ", journal_ref="null", license="")
    paper = derive_paper([empty])
    gaps = ("abstract", "authors", "collaborations", "categories", "primary_category", "comments", "doi", "license",
            "journal_ref", "latest_version", "versions", "updated_on", "submitted_on", "withdrawn_evidence",
            )  # fmt: skip
    assert {g: paper[g] for g in gaps} == dict.fromkeys(gaps)
    assert paper["is_withdrawn"] is False
    assert sources(paper) == {"title": "mirror:/m"}


def test_md07_a_collaboration_is_no_person() -> None:
    paper = derive_paper([said(authors="The Example Collaboration: A. One, B. Two")])
    assert paper["authors"] == ["A. One", "B. Two"]
    assert paper["collaborations"] == ["The Example Collaboration"]


def test_versions_of_all_sources_are_united_by_number() -> None:
    paper = derive_paper(
        [
            said("arxiv", versions=[{"version": "v1", "created": None}, {"version": "v2", "created": "2024-02-01"}]),
            said("mirror:/m", versions=[{"version": "1", "created": "2024-01-03"}], version=4),
        ]
    )
    assert [v["number"] for v in paper["versions"]] == [1, 2, 4]
    assert [v["created_at"] and v["created_at"].date() for v in paper["versions"]] == [
        date(2024, 1, 3),
        date(2024, 2, 1),
        None,
    ]
    assert paper["latest_version"] == 4


@pytest.mark.parametrize("version", ["v99999999999", "v0", "vx", "", None, "v1.5", "latest"])
def test_versions_that_are_no_numbers_are_passed_over(version) -> None:
    paper = derive_paper([said(versions=[{"version": version, "created": "2024-01-03"}, *at("2024-01-02")])])
    assert [v["number"] for v in paper["versions"]] == [1]


def test_the_order_of_the_records_does_not_matter() -> None:
    rows = [
        said("arxiv", version=1, title="one", comments="This paper has been withdrawn."),
        said("mirror:/a", 2, version=2, abstract="two", versions=at("2024-01-02")),
        said("mirror:/b", 3, doi="10.1/x", authors="A. One"),
        said("import:/c", 4, categories="cs.CL", abstract="sum", abstract_origin="summary by the project"),
    ]
    expected = derive_paper(rows)
    for shift in range(4):
        assert derive_paper(rows[shift:] + rows[:shift]) == expected
        assert derive_paper((rows[shift:] + rows[:shift])[::-1]) == expected


def test_only_papers_whose_records_changed_are_derived_and_the_rest_of_the_month_stays(
    lake, record, write_mirror, tmp_path, harvest
) -> None:
    records = [record("2401.00001"), record("2401.00002"), record("2402.00001")]
    harvest(lake, write_mirror(tmp_path / "m", records))
    before = {r["paper_id"]: r for r in lake.read("papers").to_dicts()}
    records[1]["title"] = "changed"
    change = harvest(lake, write_mirror(tmp_path / "m", records)).change
    after = {r["paper_id"]: r for r in lake.read("papers").to_dicts()}
    assert (change.added, change.changed, change.removed) == ((), ("2401.00002",), ())
    assert change.months == (date(2024, 1, 1),)
    assert {i for i in after if after[i] != before[i]} == {"2401.00002"}


def test_a_change_that_cleaning_takes_away_changes_no_paper(lake, record, write_mirror, tmp_path, harvest) -> None:
    harvest(lake, write_mirror(tmp_path / "m", [record("2401.00001", title="Deep nets for graphs")]))
    done = harvest(lake, write_mirror(tmp_path / "m", [record("2401.00001", title="Deep nets\n  for   graphs ")]))
    assert done.months == [date(2024, 1, 1)]
    assert (done.change.changed, done.change.is_committed) == ((), True)
    assert query(lake, "SELECT title FROM papers").to_pylist() == [{"title": "Deep nets for graphs"}]


def test_deriving_twice_commits_once(lake, record, write_mirror, tmp_path, harvest) -> None:
    harvest(lake, write_mirror(tmp_path / "m", [record("2401.00001")]))
    version = lake.version("papers")
    change = derive_papers(lake)
    assert (change.is_committed, change.version, lake.version("papers")) == (False, version, version)
    assert not derive_papers(lake, [date(2024, 1, 1), date(1999, 1, 1)]).is_committed
