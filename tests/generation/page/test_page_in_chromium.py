"""The page as a reader has it: in a browser, from disk, without a network."""

import json
import os
import shutil
import time

import lxml.html
import pytest
from pypdf import PdfReader

playwright = pytest.importorskip("playwright.sync_api", reason="the package playwright (extra `test`) is not installed")
pytestmark = pytest.mark.run
WIDTHS, SCHEMES = (400, 800, 1280, 1600), ("light", "dark")
_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
              "--disable-component-update", "--disable-sync"]  # fmt: skip


@pytest.fixture(scope="module")
def browser():
    names = (os.environ.get("LITHOUSE_CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome")
    program = next((path for name in names if name and (path := shutil.which(name))), None)
    if program is None:
        pytest.skip("no Chromium is installed, and LITHOUSE_CHROMIUM names none")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=program, args=_ARGUMENTS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def address(sample_page, evil_page, tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    (folder / "index.html").write_text(sample_page, encoding="utf-8")
    (folder / "evil.html").write_text(evil_page, encoding="utf-8")
    return (folder / "index.html").as_uri()


@pytest.fixture
def open_page(browser, address):
    """Opens the page; at the end nothing may have been said on the console and nothing else asked for."""
    said, asked, contexts = [], [], []

    def opened(width=1280, scheme="light", name="index.html", **options):
        context = browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme=scheme, reduced_motion="reduce", **options
        )
        contexts.append(context)
        shown = context.new_page()
        shown.on("console", lambda message: said.append(message.text))
        shown.on("pageerror", lambda error: said.append(str(error)))
        shown.on("request", lambda request: asked.append(request.url))
        shown.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
        shown.goto(address.replace("index.html", name))
        return shown

    yield opened
    for context in contexts:
        context.close()
    assert said == []
    assert set(asked) <= {address, address.replace("index.html", "evil.html")}


def wait_until(shown, condition: str) -> None:
    """Playwright's own waiting evaluates strings in the page, which its policy forbids."""
    end = time.monotonic() + 5
    while not shown.evaluate(condition):
        assert time.monotonic() < end, condition
        time.sleep(0.02)


def titles_and_spans(card) -> tuple[str, list[str]]:
    return card.locator(".title").inner_text(), card.locator("blockquote").all_inner_texts()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_no_message_no_request_no_sideways_scrolling(open_page, width, scheme):
    shown = open_page(width, scheme)
    shown.evaluate("document.querySelector('details.why').open = true")
    for share in (0, 0.3, 0.6, 1):
        shown.evaluate(f"scrollTo({{top: document.body.scrollHeight * {share}, behavior: 'instant'}})")
        assert shown.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    ground = shown.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, ground.removeprefix("rgb(").rstrip(")").split(","))) < 200) == (scheme == "dark")


def test_a_citation_shows_its_card_under_the_pointer_and_hides_it_again(open_page):
    shown = open_page()
    card = shown.locator("#card")
    shown.locator("#s1 a.cite").hover()
    card.wait_for(state="visible")
    title, spans = titles_and_spans(card)
    assert title.startswith("Dense Passages")
    assert spans == ["Retrieval by vectors finds paraphrases."]
    assert "Ada Lovelace, Grace Hopper" in card.inner_text()
    assert "Journal of Retrieval 12 (2021) 3-14" in card.inner_text()
    assert "CC BY 4.0" in card.inner_text()
    assert card.locator("a[href='https://arxiv.org/abs/2005.11401']").count() == 1
    card.locator("blockquote").hover()  # the pointer may go into the card
    shown.wait_for_timeout(400)
    assert card.is_visible()
    shown.mouse.move(5, 5)
    card.wait_for(state="hidden")


def test_each_occurrence_shows_the_span_of_its_own_sentence(open_page, sample, sample_page):
    shown = open_page()
    held = json.loads(lxml.html.document_fromstring(sample_page).get_element_by_id("sources").text)
    card = shown.locator("#card")
    for number in (1, 2, 9, 10, 12):
        link = shown.locator(f"#s{number} a.cite, tr:has(#s{number}) a.cite").first
        paper_id = link.get_attribute("href").removeprefix("#ref-")
        link.click()
        assert f"Sentence {number} ·" in card.inner_text()
        expected = [text for key, _, text in held.get(str(number), {}).get("spans", []) if key == paper_id]
        assert card.locator("blockquote").all_inner_texts() == expected
    assert "From the abstract" in card.inner_text()


def test_an_adapted_sentence_says_what_was_changed_and_a_composed_one_what_it_states(open_page):
    shown = open_page()
    card = shown.locator("#card")
    shown.locator("#s2 a.cite").click()
    assert "We → Lovelace and Hopper (name the authors)" in card.inner_text()
    shown.keyboard.press("Escape")
    shown.locator("#s3").click()
    assert "cited count: Four" in card.inner_text()
    assert "SELECT count(*) FROM edition_papers WHERE edition = 'e1f2'" in card.inner_text()
    shown.locator("#s10 a.cite").nth(1).click()
    assert "Strings in Bags" in card.inner_text()
    assert "count: 3" in card.inner_text()


def test_a_tap_opens_a_card_and_another_closes_it(open_page):
    shown = open_page(400, has_touch=True, is_mobile=True)
    card = shown.locator("#card")
    shown.locator("#s1 a.cite").tap()
    title, spans = titles_and_spans(card)
    assert title.startswith("Dense Passages")
    assert spans == ["Retrieval by vectors finds paraphrases."]
    box = card.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 400
    shown.locator("#s1 a.cite").tap()
    assert card.is_hidden()
    at = shown.evaluate("(({left, top}) => [left + 20, top + 8])(document.getElementById('s2').getClientRects()[0])")
    shown.touchscreen.tap(*at)
    assert "Sentence 2 · adapted" in card.inner_text()
    card.locator(".close").tap()
    assert card.is_hidden()


def test_the_keyboard_reaches_everything_and_escape_closes(open_page):
    shown = open_page()
    card, focus = shown.locator("#card"), "document.activeElement"
    shown.keyboard.press("Tab")
    assert shown.evaluate(f"{focus}.className") == "skip"
    shown.keyboard.press("Enter")
    assert shown.evaluate(f"{focus}.id") == "main"
    for _ in range(3):  # the two buttons, then the first citation
        shown.keyboard.press("Tab")
    assert shown.evaluate(f"{focus}.closest('.quoted').id") == "s1"
    assert titles_and_spans(card)[1] == ["Retrieval by vectors finds paraphrases."]
    assert shown.evaluate(f"{focus}.getAttribute('aria-describedby')") == "card"
    assert shown.evaluate(f"getComputedStyle({focus}).outlineStyle") == "solid"
    shown.keyboard.press("Enter")
    assert shown.evaluate(f"{focus}.id") == "card"
    shown.keyboard.press("Tab")
    assert shown.evaluate(f"{focus}.className") == "close"
    shown.keyboard.press("Escape")
    assert card.is_hidden()
    assert shown.evaluate(f"{focus}.closest('.quoted').id") == "s1"
    shown.keyboard.press("Enter")
    for _ in range(5):  # past the end of the card: close, arXiv, DOI, in the references, on
        shown.keyboard.press("Tab")
    assert shown.evaluate(f"{focus}.closest('.adapted').id") == "s2"
    shown.keyboard.press("Tab")
    assert shown.evaluate(f"{focus}.getAttribute('aria-label')") == "Where sentence 3 comes from"
    assert card.is_hidden()
    shown.keyboard.press("Enter")
    assert "Sentence 3 · composed" in card.inner_text()


def test_contents_lead_to_their_headings_and_follow_the_reader(open_page, sample):
    shown = open_page()
    names = [s.number.replace(".", "-") for s in sample.survey.sections]
    for target in [*(f"sec-{n}" for n in names), "references", "about"]:
        link = shown.locator(f"#contents a[href='#{target}']")
        link.click()
        top = f"document.getElementById('{target}').getBoundingClientRect().top"
        wait_until(shown, f"{top} >= 0 && {top} < innerHeight")
        assert shown.evaluate("location.hash") == f"#{target}"
    shown.locator("#contents a[href='#sec-1']").click()
    wait_until(shown, "document.querySelector('[aria-current]')?.hash === '#sec-1'")


def test_contents_fold_on_a_narrow_screen(open_page):
    shown = open_page(400)
    link = shown.locator("#contents a[href='#sec-3']")
    assert link.is_hidden()
    shown.locator("#contents summary").click()
    link.click()
    link.wait_for(state="hidden")
    wait_until(shown, "document.getElementById('here').textContent.startsWith('3')")


def test_light_and_dark_can_be_chosen_and_nothing_is_stored(open_page):
    shown = open_page(scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = shown.evaluate(ground)
    shown.locator("#theme").click()
    assert shown.evaluate(ground) != dark
    assert shown.evaluate("Object.keys(localStorage).length + document.cookie.length") == 0
    shown.reload()
    assert shown.evaluate(ground) == dark


def test_kinds_can_be_marked(open_page):
    shown = open_page()
    line = "getComputedStyle(document.getElementById('s2')).textDecorationLine"
    assert shown.evaluate(line) == "none"
    shown.locator("#kinds").click()
    assert shown.evaluate(line) == "underline"
    assert shown.locator("#kinds").get_attribute("aria-pressed") == "true"


def test_without_script_a_citation_leads_to_its_entry(open_page):
    shown = open_page(400, java_script_enabled=False)
    assert shown.locator("#contents a[href='#sec-2-1']").is_visible()
    assert shown.locator(".tools").is_hidden()
    shown.locator("#s1 a.cite").click()
    entry = shown.locator("li[id='ref-2005.11401']")
    assert shown.url.endswith("#ref-2005.11401")
    assert "Ada Lovelace" in entry.inner_text()
    assert 0 <= entry.bounding_box()["y"] < 800


@pytest.mark.parametrize("scheme", SCHEMES)
def test_print_gives_pages_with_ids_and_without_navigation(open_page, tmp_path, scheme):
    shown = open_page(scheme=scheme)
    shown.locator("#s1 a.cite").click()
    shown.pdf(path=tmp_path / "page.pdf", prefer_css_page_size=True)
    pages = [p.extract_text() for p in PdfReader(tmp_path / "page.pdf").pages]
    text = " ".join(" ".join(pages).split())
    assert len(pages) >= 3
    assert "arXiv:2005.11401" in text
    for gone in ("CONTENTS", "Sentence 1 ·", "Mark the kinds", "Cited in"):
        assert gone not in text
    assert "12,345" in text  # of a picture


def test_pictures_fit_and_their_words_are_legible_on_a_phone(open_page):
    shown = open_page(400)
    boxes = shown.evaluate("[...document.querySelectorAll('svg')].map(s => s.getBoundingClientRect().width)")
    assert len(boxes) == 3
    assert all(300 < width <= 400 for width in boxes)
    heights = shown.evaluate("[...document.querySelectorAll('svg text')].map(t => t.getBoundingClientRect().height)")
    assert min(heights) >= 10


@pytest.mark.parametrize("width", [400, 1280])
def test_hostile_text_runs_nothing_and_breaks_nothing(open_page, width):
    shown = open_page(width, name="evil.html")
    shown.evaluate("document.querySelector('details.why').open = true")
    assert shown.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    card = shown.locator("#card")
    shown.locator("#s1 a.cite").click()
    assert "<script>alert(1)</script>" in card.locator(".title").inner_text()
    assert card.locator("blockquote").all_inner_texts() == ["Retrieval by vectors finds paraphrases."]
    assert card.evaluate("c => c.scrollWidth <= c.clientWidth")
    assert shown.locator("img, iframe, #main svg[onload]").count() == 0


_CONTRAST = """() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgb = (colour) => { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [.2126, .7152, .0722][i], 0);
  const ground = light(rgb(getComputedStyle(document.body).backgroundColor));
  const places = 'p, h1, h2, h3, li, a, td, th, figcaption, dt, dd, button, .number, .kind, .citation, .entry span, svg text';
  return [...document.querySelectorAll(places)].filter((e) => e.getClientRects().length && !e.closest('#card, .skip')).map((e) => {
    const ink = light(rgb(e.closest('svg') ? getComputedStyle(e).fill : getComputedStyle(e).color));
    return [(Math.max(ink, ground) + .05) / (Math.min(ink, ground) + .05), e.outerHTML.slice(0, 80)];
  }).filter(([ratio]) => ratio < 4.5);
}"""


@pytest.mark.parametrize("scheme", SCHEMES)
def test_text_stands_out_from_its_ground_as_wcag_asks(open_page, scheme):
    shown = open_page(scheme=scheme)
    shown.evaluate("document.querySelector('details.why').open = true")
    assert shown.evaluate(_CONTRAST) == []  # WCAG 2.2, 1.4.3: 4.5 to 1
