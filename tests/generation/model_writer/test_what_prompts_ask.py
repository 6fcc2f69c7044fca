"""What prompts ask for, where they once contradicted themselves or left it open."""

from dataclasses import replace

import pytest

from generation.model_writer.calls import draft_call, template_of, verdict_call
from generation.values import Sentence

A = "2301.00001"


def asked(built) -> tuple[str, str]:
    system, request = (message.text for message in built.call.messages)
    return system, request


@pytest.fixture
def drafting(gateway, draft_request):
    def make(*args, **fields) -> tuple[str, str]:
        server = gateway("x")
        return asked(draft_call(server.settings, server.count, replace(draft_request(*args), **fields)))

    return make


@pytest.mark.parametrize(("words", "few", "many"), [(300, 6, 10), (420, 9, 14), (90, 3, 4)])
def test_a_draft_is_told_how_many_papers_its_length_bears(words, few, many) -> None:
    _, request = template_of("draft").messages(
        topic="T", number="2.1", title="Passages", description="", role="body", outline="", words=words, papers="",
        paper_ids="", is_markdown=False, is_brief=False,
    )  # fmt: skip
    assert f"about {words} words. From the papers shown take the {few} to {many} that" in request.text


def test_a_description_keeps_one_stop(drafting) -> None:
    assert "(How they are read)." in drafting(description="How they are read.")[1]


def test_only_an_introduction_may_define_its_subject(drafting) -> None:
    assert "do not define what the heading says" in drafting()[0]
    assert "do not define what the heading says" not in drafting("1", "Introduction", "introduction")[0]


def test_verdicts_are_asked_for_at_the_end(gateway, draft_request) -> None:
    server = gateway("x")
    sentences = [Sentence("written", f"Heron reads {i} times.", (A,)) for i in range(3)]
    _, request = asked(verdict_call(server.settings, server.count, draft_request(), sentences))
    assert request.rstrip().endswith("Give the verdict for each of the sentences 1 to 3.")
