"""The page of a survey that a model wrote, as a reader has it."""

import pytest

from tests.generation.page.test_page_in_chromium import browser  # noqa: F401 - a fixture

pytestmark = pytest.mark.run


@pytest.fixture(params=(400, 1280))
def opened(request, browser, written_page, tmp_path):  # noqa: F811
    file = tmp_path / "index.html"
    file.write_text(written_page, encoding="utf-8")
    context = browser.new_context(viewport={"width": request.param, "height": 900}, reduced_motion="reduce")
    tab = context.new_page()
    faults = []
    tab.on("pageerror", lambda error: faults.append(str(error)))
    tab.on("console", lambda message: message.type == "error" and faults.append(message.text))
    tab.goto(file.as_uri())
    yield tab
    assert faults == []
    context.close()


def choose(tab, name: str) -> str:
    """The text of the card of a sentence that is clicked at its first line."""
    tab.evaluate("id => document.getElementById(id).scrollIntoView({block: 'center'})", name)
    at = tab.evaluate(
        "id => { const r = document.getElementById(id).getClientRects()[0]; return [r.left + 9, r.top + r.height / 2]; }",
        name,
    )
    tab.mouse.click(*at)
    card = tab.locator("#card")
    card.wait_for()
    text = " ".join(card.inner_text().split())
    tab.keyboard.press("Escape")
    return text


def test_a_written_sentence_tells_model_verdicts_and_places(opened):
    text = choose(opened, "s2")
    assert "Sentence 2 · written Written by test:a-model" in text
    assert "grounded · similarity 0.71 · [1] Dense Passages" in text
    assert "weak · similarity 0.41: not in what was shown of the cited papers: CountBERT · [2] Counting Words" in text
    assert "Nearest to it in the full text, page 7 of [2] Counting Words counting beats vectors on rare names." in text


def test_a_sentence_without_support_says_so(opened):
    assert opened.locator("#s3 sup").last.is_visible()
    text = choose(opened, "s3")
    assert "No paper bears this." in text
    assert "citation removed · similarity 0.31: not in what was shown of the cited papers: 99.1% · [3]" in text
    assert "citation refused: the paper was not shown to the writer · 2401.00009" in text


def test_a_citation_tells_its_own_check_only(opened):
    opened.locator("#s4 a.cite").click()
    text = " ".join(opened.locator("#card").inner_text().split())
    assert "grounded · judged by test:judge" in text
    assert "removed" not in text


def test_nothing_is_wider_than_the_screen(opened):
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")
