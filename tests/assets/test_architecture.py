"""Rules of the house that can be checked: layers, style, size, and what must not be in the repository."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import assets

ROOT = Path(__file__).resolve().parents[2]
LAYERS = ("assets", "generation", "indexes", "corpus", "ingestion")
_MAX_LINES, _MAX_BYTES = 400, 1 << 20
_MACHINE_PATH = re.compile(rb"(?<![\w.])/(?:home|Users|root|farm|work)/[\w.-]+|[A-Z]:\\Users\\")


def _tracked() -> list[Path]:
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if done.returncode:
        pytest.skip(f"git lists no files, and these tests are of what is committed: {done.stderr.decode().strip()}")
    names = [name for name in done.stdout.decode().split("\0") if name]
    return [path for name in names if (path := ROOT / name).is_file()]


def _modules() -> list[Path]:
    return [p for p in _tracked() if p.suffix == ".py" and p.relative_to(ROOT).parts[0] in LAYERS]


def _tool(name: str, *arguments: str) -> subprocess.CompletedProcess:
    command = [str(Path(sys.executable).with_name(name)), *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)


def test_the_package_is_imported_from_the_repository():
    assert Path(assets.__file__).resolve() == ROOT / "assets" / "__init__.py"


def test_a_layer_imports_only_layers_below_it():
    done = _tool("lint-imports", "--no-cache")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("arguments", [["check"], ["format", "--check"]], ids=" ".join)
def test_ruff_finds_nothing(arguments):
    done = _tool("ruff", *arguments, "--no-cache", *LAYERS, "tests")
    assert done.returncode == 0, done.stdout


def test_modules_fit_in_a_head():
    long = {
        str(p.relative_to(ROOT)): n for p in _modules() if (n := len(p.read_text("utf-8").splitlines())) > _MAX_LINES
    }
    assert not long


def test_every_module_opens_with_a_docstring():
    assert not [str(p.relative_to(ROOT)) for p in _modules() if not ast.get_docstring(ast.parse(p.read_text("utf-8")))]


def test_init_modules_hold_a_docstring_and_nothing_else():
    for path in _modules():
        if path.name == "__init__.py":
            body = ast.parse(path.read_text("utf-8")).body
            assert len(body) == 1, path
            assert isinstance(body[0], ast.Expr), path


def test_nothing_is_called_util_or_helper():
    words = {"common", "util", "utils", "helper", "helpers", "misc"}
    assert not [str(p) for p in _modules() if words & {*p.with_suffix("").relative_to(ROOT).parts}]


def test_the_lock_pins_releases_and_holds_no_address():
    lines = (ROOT / "requirements.lock").read_text("utf-8").splitlines()
    pins = [line for line in lines if line and not line.lstrip().startswith(("#", "--hash"))]
    assert len(pins) > 50
    assert not [line for line in lines if "://" in line or "@ file" in line or line.startswith(("-e", "--index"))]
    assert not [pin for pin in pins if not re.match(r"^[\w.\[\],-]+==\S+", pin)]


def test_no_tracked_file_holds_a_path_of_one_machine():
    allowed = {Path(__file__).resolve()}
    found = {
        str(path.relative_to(ROOT)): match.group().decode()
        for path in _tracked()
        if path.resolve() not in allowed and (match := _MACHINE_PATH.search(path.read_bytes()))
    }
    assert not found


def test_no_tracked_file_is_large():
    assert not [str(p.relative_to(ROOT)) for p in _tracked() if p.stat().st_size > _MAX_BYTES]


def test_what_a_lake_holds_is_ignored_by_git():
    done = subprocess.run(["git", "check-ignore", "lake/tables/x"], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.strip() == "lake/tables/x" or done.returncode == 128
