"""Templates are checked when they are read, and no two versions of one are the same call."""

from pathlib import Path

import pytest

from generation.model_writer.calls import FIELDS
from generation.prompting.templates import FOLDER, BadTemplate, load, loaded

GOOD = "---\noperation: card\nfields: [papers]\n---\n# System\nTask: card\n\n# Request\nRead {{ papers }}.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "card.md").write_text(GOOD, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("operation", sorted(FIELDS))
def test_every_template_uses_the_fields_of_the_code(operation) -> None:
    template = loaded(operation, FIELDS[operation])
    assert template.system.lstrip().startswith(f"Task: {operation}")


def test_every_template_belongs_to_an_operation() -> None:
    assert {path.stem for path in FOLDER.glob("*.md")} == set(FIELDS)


def test_a_template_gives_a_system_and_a_user_message(folder) -> None:
    system, request = load("card", ["papers"], folder).messages(papers="{{ this }}")
    assert (system.role, system.text) == ("system", "Task: card")
    assert request.text == "Read {{ this }}."  # what a paper says is no template


def test_a_changed_template_has_another_hash(folder) -> None:
    before = load("card", ["papers"], folder).hash
    (folder / "card.md").write_text(GOOD.replace("Read", "Read well"), encoding="utf-8")
    assert load("card", ["papers"], folder).hash != before


@pytest.mark.parametrize(
    ("text", "declared", "message"),
    [
        (GOOD, ["papers", "topic"], "does not use fields that are declared in the code: topic"),
        (GOOD, [], "uses fields that are not declared in the code: papers"),
        (
            GOOD.replace("[papers]", "[papers, topic]"),
            ["papers"],
            "does not use fields that are named in its head: topic",
        ),
        (GOOD.replace("[papers]", "[]"), ["papers"], "uses fields that are not named in its head: papers"),
        (GOOD.replace("operation: card", "operation: draft"), ["papers"], "must name the operation card"),
        (GOOD.replace("# Request", "# Question"), ["papers"], "needs a head"),
        (GOOD.replace("{{ papers }}", "{{ papers"), ["papers"], "cannot be read"),
        (GOOD.replace("fields: [papers]", "fields: ["), ["papers"], "cannot be read"),
    ],
)
def test_a_template_that_code_and_file_do_not_share_is_refused(folder, text, declared, message) -> None:
    (folder / "card.md").write_text(text, encoding="utf-8")
    with pytest.raises(BadTemplate, match=message):
        load("card", declared, folder)


def test_a_missing_template_is_told(folder) -> None:
    with pytest.raises(BadTemplate, match=r"draft\.md"):
        load("draft", [], folder)


def test_a_field_that_is_not_given_is_told(folder) -> None:
    with pytest.raises(BadTemplate, match="papers"):
        load("card", ["papers"], folder).messages()
