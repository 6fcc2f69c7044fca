"""Programs of others as parsers. They are not installed here: small scripts behave as they do."""

import os
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ingestion.documents.parsing.external import MAGIC_PDF, MINERU_KIT, Program, matching
from ingestion.documents.parsing.files import parse_files
from ingestion.documents.parsing.limits import Limits
from ingestion.documents.parsing.parsers import external_parser, program_parser
from ingestion.errors import BadInput, PermanentFailure

from .conftest import locked, make_pdf, make_prose

FAST = Limits(wall_seconds=20)
MARKDOWN = (
    "# A survey\n\n## 1 Introduction\n\nMany words about graphs.\n\n## References\n\n[1] A. Writer. A title. 2020.\n"
)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Puts a shell script of this name first on PATH; its arguments are $1 …, as the program's would be."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin")

    def install(name: str, script: str) -> None:
        path = folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    return install


def outcome_of(file: Path, name: str = "mineru-kit", tier: str | None = None):
    return next(parse_files([file], external_parser(name, tier), per_file_limits=FAST))[1]


# --- what is known before anything runs ---


@pytest.mark.parametrize(("name", "word"), [("mineru-kit", "uv tool install mineru"), ("magic-pdf", "magic-pdf[full]")])
def test_a_program_that_is_absent_is_named_with_the_way_to_install_it(monkeypatch, tmp_path, name, word):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PermanentFailure) as caught:
        external_parser(name)
    assert (caught.value.which, word in caught.value.advice) == (name, True)


def test_unknown_parsers_and_tiers_are_refused_with_those_that_exist(installed):
    installed("mineru-kit", "exit 0")
    with pytest.raises(BadInput, match="mineru-kit, magic-pdf"):
        external_parser("nougat")
    with pytest.raises(BadInput, match="basic, standard"):
        external_parser("mineru-kit", "flash")
    installed("magic-pdf", "exit 0")
    with pytest.raises(BadInput, match="none"):
        external_parser("magic-pdf", "basic")


@pytest.mark.parametrize(
    ("command", "tiers", "field"),
    [
        (("x", "{input}"), (), "{output}"),
        (("x", "{output}"), (), "{input}"),
        (("x", "{input}", "{output}", "{password}"), (), "{password}"),
        (("x", "{input}", "{output}"), ("basic",), "{tier}"),
    ],
)
def test_commands_without_their_fields_are_refused(command, tiers, field):
    with pytest.raises(BadInput) as caught:
        Program("x", command, install="", tiers=tiers)
    assert caught.value.which == field


def test_programs_see_the_variables_they_need_and_no_secret():
    present = dict.fromkeys(
        ("MINERU_MODEL_SOURCE", "MINERU_API_KEY", "HF_HOME", "HF_TOKEN", "OPENAI_API_KEY", "CUDA_VISIBLE_DEVICES"), "x"
    )
    assert matching(MINERU_KIT.environment, present) == ["MINERU_MODEL_SOURCE", "HF_HOME", "CUDA_VISIBLE_DEVICES"]


# --- what is known from running them ---


@pytest.mark.run
@pytest.mark.parametrize(("given", "used"), [(None, "basic"), ("standard", "standard")])
def test_mineru_kit_is_always_told_its_tier(installed, pdf_file, monkeypatch, given, used):
    monkeypatch.setenv("MINERU_MODEL_SOURCE", "local")
    monkeypatch.setenv("LITHOUSE_SECRET", "swordfish")
    script = 'test "$1 $3" = "parse -o" -a -s "$2" || exit 3\n'
    script += f"""printf '%s' '{MARKDOWN}' > "$4/input.md"\n"""
    script += 'echo "Told $5 $6, $MINERU_MODEL_SOURCE, secret [$LITHOUSE_SECRET]." >> "$4/input.md"'
    installed("mineru-kit", script)
    outcome = outcome_of(pdf_file("a.pdf"), tier=given)
    assert (outcome.status, outcome.parser, outcome.tier, outcome.page_count) == ("parsed", "mineru-kit", used, 1)
    assert f"Told --tier {used}, local, secret []." in " ".join(outcome.document.markdown.replace("\\", "").split())
    assert [section.title for section in outcome.document.sections if section.number] == ["Introduction"]
    assert outcome.document.page_count == 1


@pytest.mark.run
def test_magic_pdf_writes_deep_in_its_folder(installed, pdf_file):
    script = 'mkdir -p "$4/input/auto"\n' + f"""printf '%s' '{MARKDOWN}' > "$4/input/auto/input.md" """
    installed("magic-pdf", script)
    assert outcome_of(pdf_file("a.pdf"), "magic-pdf").status == "parsed"


@pytest.mark.run
@pytest.mark.parametrize(
    ("name", "script", "advice"),
    [
        (
            "mineru-kit",
            "echo 'Failed to parse input.pdf: Model repo MinerU-4_models_onnx is not ready under m; missing: x' >&2; exit 1",
            "mineru-kit models download --tier basic",
        ),
        (
            "mineru-kit",
            "echo \"HTTPSConnectionPool(host='huggingface.co', port=443): failed\" >&2; exit 1",
            "--tier basic",
        ),
        # It logs its errors and exits with 0.
        ("magic-pdf", "echo 'FileNotFoundError: magic-pdf.json not found' >&2; exit 0", "magic-pdf.json"),
    ],
    ids=["not-ready", "no-network", "no-configuration"],
)
def test_absent_weights_are_an_error_of_the_set_up_and_not_of_the_file(installed, pdf_file, name, script, advice):
    installed(name, script)
    with pytest.raises(PermanentFailure, match=f"weights of {name} are absent") as caught:
        outcome_of(pdf_file("a.pdf"), name)
    assert advice in caught.value.advice


@pytest.mark.run
def test_a_program_that_does_not_know_its_command_is_an_error_of_the_set_up(installed, pdf_file):
    installed("mineru-kit", "echo 'Usage: mineru-kit [OPTIONS]' >&2; echo 'No such option: --tier' >&2; exit 2")
    with pytest.raises(PermanentFailure, match="does not understand its command"):
        outcome_of(pdf_file("a.pdf"))


@pytest.mark.run
@pytest.mark.parametrize(
    ("script", "said"),
    [
        (': > "$4/input.md"', "found no text"),
        ("printf '\\n \\f\\n' > \"$4/input.md\"", "found no text"),
        ("printf '# Only a title\\n' > \"$4/input.md\"", "found no text"),
        ("printf '![](images/0.jpg)\\n' > \"$4/input.md\"", "found no text"),
        ("echo done", "wrote no Markdown: done"),
    ],
    ids=["empty", "blanks", "title", "image", "no-file"],
)
def test_pd03_a_program_that_ends_well_without_text_is_no_success(installed, pdf_file, script, said):
    installed("mineru-kit", script)
    outcome = outcome_of(pdf_file("a.pdf"))
    assert (outcome.status, outcome.document, outcome.retry) == ("empty_text", None, "other_parser")
    assert said in outcome.notes[-1]


@pytest.mark.run
def test_pd12_zero_text_from_many_pages_is_no_success(installed, pdf_file):
    installed("mineru-kit", ': > "$4/input.md"')
    outcome = outcome_of(pdf_file("a.pdf", *[b""] * 244))
    assert (outcome.status, outcome.page_count, outcome.document) == ("empty_text", 244, None)


@pytest.mark.run
@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo 'cannot read page 3' >&2; exit 4", "exit code 4: cannot read page 3"),
        ("kill -SEGV $$", "ended by signal 11"),
    ],
)
def test_a_program_that_fails_on_a_file_says_so_in_its_row(installed, pdf_file, script, said):
    installed("mineru-kit", script)
    outcome = outcome_of(pdf_file("a.pdf"))
    assert (outcome.status, said in outcome.notes[-1]) == ("corrupt", True)


@pytest.mark.run
def test_pd06_control_bytes_of_a_program_are_removed_and_counted(installed, pdf_file):
    installed("mineru-kit", "printf 'Words\\000 with\\001 bytes\\355\\240\\200.\\n' > \"$4/input.md\"")
    outcome = outcome_of(pdf_file("a.pdf"))
    assert "Words with bytes" in outcome.document.markdown
    assert "2 control characters removed" in outcome.notes


@pytest.mark.run
def test_pd10_a_program_gets_only_the_pages_it_may_read(installed, pdf_file):
    installed("mineru-kit", 'printf \'Pages: %s\' "$(grep -ac "/Type */Page\\b" "$2")" > "$4/input.md"')
    parser = program_parser(MINERU_KIT)
    file = pdf_file("a.pdf", *map(make_prose, range(9)))
    (_, outcome), *_ = parse_files([file], parser, per_file_limits=replace(FAST, pages=4))
    assert (outcome.page_count, outcome.notes) == (9, ("pages 1–4 of 9",))
    assert "Pages: 4" in outcome.document.markdown


@pytest.mark.run
def test_pd09_a_program_that_hangs_is_ended_with_what_it_started(installed, pdf_file, tmp_path):
    installed("mineru-kit", f"sleep 60 & echo $! > {tmp_path}/pid; wait")
    (_, outcome), *_ = parse_files([pdf_file("a.pdf")], external_parser("mineru-kit"), per_file_limits=Limits(3))
    assert outcome.status == "timeout"
    assert not Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}").exists()


@pytest.mark.run
def test_pd04_files_that_no_program_can_read_never_reach_it(installed, pdf_file, tmp_path):
    installed("mineru-kit", f"touch {tmp_path}/reached")
    files = [
        pdf_file("locked.pdf", data=locked(make_pdf([make_prose(1)]), user_password="secret")),
        pdf_file("cut.pdf", data=make_pdf([make_prose(1)])[:400]),
        pdf_file("page.pdf", data=b"<html></html>"),
    ]
    statuses = [outcome.status for _, outcome in parse_files(files, external_parser("mineru-kit"))]
    assert statuses == ["encrypted", "corrupt", "not_pdf"]
    assert not (tmp_path / "reached").exists()


@pytest.mark.run
def test_a_file_whose_name_looks_like_an_option_is_a_file(installed, pdf_file):
    installed("magic-pdf", f"""printf '%s' '{MARKDOWN}' > "$4/a.md" """)
    assert outcome_of(pdf_file("-o $(touch x); .pdf"), "magic-pdf").status == "parsed"
    assert MAGIC_PDF.command[0] == "magic-pdf"
