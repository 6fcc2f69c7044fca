"""Where things lie: LITHOUSE_HOME and the Dagster instance inside it."""

import os
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent


def lithouse_home() -> Path:
    """LITHOUSE_HOME, or `lake` in the working folder; absolute, not created."""
    return Path(os.environ.get("LITHOUSE_HOME") or "lake").expanduser().resolve()


def dagster_environment(home: Path) -> dict[str, str]:
    """Environment under which Dagster uses the repository's instance configuration and this home's storage."""
    return {
        "LITHOUSE_HOME": str(home),
        "LITHOUSE_DAGSTER_STORAGE": str(home / "dagster"),
        "DAGSTER_HOME": str(REPOSITORY / "dagster_home"),
        "DAGSTER_EVENT_BATCH_SIZE": "1000",  # events of a step that go to `run_storage` together
    }


def harvests_folder(home: Path) -> Path:
    """Where the keys of sources' files are kept from one harvest to the next."""
    return home / "raw" / "harvests"
