"""Cutoffs, version dates, partial dates, and the day a paper counts as submitted."""

from datetime import UTC, date, datetime
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.dates import (
    PartialDate,
    Submission,
    finest_date,
    first_version_date,
    parse_cutoff,
    parse_version_date,
    submission,
)
from ingestion.errors import BadInput


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2505", date(2025, 5, 31)),
        ("2025-05", date(2025, 5, 31)),
        ("2025-05-31", date(2025, 5, 31)),
        (" 2025-05-30 ", date(2025, 5, 30)),
        ("2025", date(2025, 12, 31)),
        ("2000", date(2000, 12, 31)),
        ("2402", date(2024, 2, 29)),
        ("0704", date(2007, 4, 30)),
        ("9107", date(1991, 7, 31)),
    ],
)
def test_ex05_cutoff_forms_are_stated_inclusive_days(text, day):
    assert parse_cutoff(text) == day


@pytest.mark.parametrize(
    "text", ["2025-13-01", "2025-02-30", "2025-13", "", " ", "today", "1980", "20250531", "25-05", "２０２５"]
)
def test_ex05_impossible_and_unknown_cutoffs_are_refused(text):
    with pytest.raises(BadInput, match="Write a day"):
        parse_cutoff(text)


@pytest.mark.parametrize("text", [str(year) for year in range(2001, 2013)])
def test_ex05_year_that_could_be_a_month_is_refused_with_both_readings(text):
    with pytest.raises(BadInput, match=f"ambiguous.*{text}-12-31.*20{text[:2]}-{text[2:]}"):
        parse_cutoff(text)


@given(st.dates())
def test_ex05_every_iso_day_is_itself(day):
    assert parse_cutoff(day.isoformat()) == day


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mon, 2 Apr 2007 19:18:42 GMT", datetime(2007, 4, 2, 19, 18, 42, tzinfo=UTC)),
        ("Mon, 2 Apr 2007 22:18:42 -0500", datetime(2007, 4, 3, 3, 18, 42, tzinfo=UTC)),
        ("2012-05-30T20:00:00Z", datetime(2012, 5, 30, 20, tzinfo=UTC)),
        ("2012-05-30T20:00:00", datetime(2012, 5, 30, 20, tzinfo=UTC)),
        ("2012-05-30", datetime(2012, 5, 30, tzinfo=UTC)),
    ],
)
def test_version_dates_are_aware_and_utc(text, expected):
    read = parse_version_date(text)
    assert read == expected
    assert read.tzinfo is UTC


@pytest.mark.parametrize("text", [None, "", "None", "2018", "2018-01", "some day", "Mon, 99 Foo 2007"])
def test_md14_a_date_that_is_none_stays_none(text):
    assert parse_version_date(text) is None


@given(st.text(max_size=40))
def test_any_text_gives_an_aware_time_or_none(text):
    read = parse_version_date(text)
    assert read is None or read.tzinfo is UTC


def test_md08_finest_agreeing_date_wins_in_any_order():
    parts = [[2018, 1], [2018], None, [None], [], [2018, 1, 24]]
    assert {finest_date(order) for order in permutations(parts)} == {PartialDate(2018, 1, 24)}


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([], None),
        ([None, [], [None]], None),
        ([[2018]], "2018"),
        ([[2018, 1]], "2018-01"),
        ([[2018, 1], [2018], [2017, 5, 5]], "2018-01"),
        ([[2018, 1, 24], [2018, 2, 3]], "2018-02-03"),
        ([[2018, 13], [2018]], "2018"),
        ([[2018, 0, 1]], None),
        ([[2018, None, 3]], "2018"),
    ],
)
def test_md08_gaps_and_contradictions(parts, expected):
    found = finest_date(parts)
    assert (None if found is None else str(found)) == expected


def test_md08_undecided_by_the_cutoff_counts_as_later():
    month_only, cutoff = PartialDate(2018, 1), date(2018, 1, 15)
    assert month_only.precision == "month"
    assert (month_only.earliest_day, month_only.latest_day) == (date(2018, 1, 1), date(2018, 1, 31))
    assert not month_only.admitted_by(cutoff)
    assert month_only.admitted_by(date(2018, 1, 31))
    assert PartialDate(2018, 1, 15).admitted_by(cutoff)
    assert not PartialDate(2018).admitted_by(date(2018, 12, 30))


def test_md09_first_version_counts_also_when_a_later_one_was_asked_for():
    versions = [
        {"version": "v2", "created": "Mon, 29 Oct 2012 10:00:00 GMT"},
        {"version": "v1", "created": "Wed, 30 May 2012 23:30:00 -0200"},
    ]
    assert first_version_date(versions) == date(2012, 5, 31)


@pytest.mark.parametrize(
    "versions", [None, [], [{}], [{"version": "v2", "created": "2012-10-29"}], [{"version": "v1"}]]
)
def test_md09_a_later_version_is_no_stand_in_for_the_first(versions):
    assert first_version_date(versions) is None


def test_md10_bulk_restamp_does_not_redate_an_old_paper():
    found = submission(first_version=None, announced=date(2019, 3, 1), id_month=date(2007, 4, 1))
    assert found == Submission(None, date(2007, 4, 30), "month")


@pytest.mark.parametrize(
    ("first_version", "announced", "expected"),
    [
        (date(2020, 4, 30), date(2020, 5, 2), Submission(date(2020, 4, 30), date(2020, 4, 30), "day")),
        (None, date(2020, 5, 2), Submission(None, date(2020, 5, 2), "announced")),
        (None, date(2020, 5, 31), Submission(None, date(2020, 5, 31), "announced")),
        (None, date(2020, 6, 1), Submission(None, date(2020, 5, 31), "month")),
        (None, None, Submission(None, date(2020, 5, 31), "month")),
    ],
)
def test_md10_submission_rule(first_version, announced, expected):
    assert submission(first_version=first_version, announced=announced, id_month=date(2020, 5, 1)) == expected


@given(st.none() | st.dates(), st.dates())
def test_md10_without_a_first_version_the_month_bounds_the_date(announced, month):
    found = submission(first_version=None, announced=announced, id_month=month)
    assert found.submitted_on is None
    assert (found.submitted_latest.year, found.submitted_latest.month) <= (month.year, month.month)
