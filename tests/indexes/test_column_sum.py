from hypothesis import given
from hypothesis import strategies as st

from indexes import column_sum
from indexes.column_sum import weighted_sum

RANKING = st.dictionaries(st.text("abcdefgh", min_size=1, max_size=3), st.integers(1, 9).map(float), max_size=60)


def engine(rankings):
    """`best` and `scores` of rankings held in memory, which break ties at the cut as they like."""

    def best(limit):
        return [dict(sorted(r.items(), key=lambda pair: (-pair[1], pair[0][::-1]))[:limit]) for r in rankings]

    def scores(asked):
        return [{name: r[name] for name in names if name in r} for r, names in zip(rankings, asked, strict=True)]

    return best, scores


@given(st.lists(RANKING, min_size=2, max_size=3), st.integers(1, 20))
def test_sums_are_those_of_the_whole_rankings_however_little_is_read(rankings, count):
    weights = (0.5, 1.0, 2.0)[: len(rankings)]
    names = set().union(*rankings)
    sums = {n: sum(w * r.get(n, 0.0) for r, w in zip(rankings, weights, strict=True)) for n in names}
    whole = sorted(sums.items(), key=lambda pair: (-pair[1], pair[0]))[:count]
    least, column_sum._LEAST = column_sum._LEAST, 1
    per, column_sum._PER_RESULT = column_sum._PER_RESULT, 1
    try:
        found = weighted_sum(*engine(rankings), weights, count)
    finally:
        column_sum._LEAST, column_sum._PER_RESULT = least, per
    assert found == whole


def test_reads_on_only_while_something_unseen_could_be_among_the_best():
    limits = []
    rankings = [{f"a{n}": 9.0 - n / 1000 for n in range(9000)}, {"a0": 9.0, "a1": 9.0}]
    best, scores = engine(rankings)

    def counted(limit):
        limits.append(limit)
        return best(limit)

    assert [name for name, _ in weighted_sum(counted, scores, (1.0, 1.0), 2)] == ["a0", "a1"]
    assert len(limits) == 1
