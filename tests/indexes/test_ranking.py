import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.ranking import Hit, top
from ingestion.errors import BadInput


@given(st.lists(st.integers(0, 3), max_size=300), st.integers(1, 40), st.randoms())
def test_ties_at_the_cut_are_broken_by_id_whatever_the_engine_does(scores, k, chance: random.Random):
    hits = [Hit(f"{number:03}", float(score)) for number, score in enumerate(scores)]

    def engine(limit):  # a correct engine that breaks ties at random
        return sorted(chance.sample(hits, len(hits)), key=lambda hit: -hit.score)[:limit]

    assert top(engine, k) == sorted(hits, key=lambda hit: (-hit.score, hit.paper_id))[:k]


@pytest.mark.parametrize("k", [0, -1])
def test_less_than_one_result_is_refused(k):
    with pytest.raises(BadInput):
        top(lambda _: [], k)
