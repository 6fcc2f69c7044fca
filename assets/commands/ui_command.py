"""`lithouse ui`."""

import os
import subprocess
import sys

import click

from assets.commands.options import Command, note
from assets.home import REPOSITORY, dagster_environment, lithouse_home


@click.command("ui", cls=Command)
@click.option("--port", type=click.IntRange(1, 65_535), default=3000, show_default=True)
def command(port: int) -> None:
    """Dagster's pages over this lake, on 127.0.0.1 only; stop with Ctrl-C."""
    from assets.instance import open_instance

    home = lithouse_home()
    open_instance(home).dispose()  # so that the run of a killed command does not hold up the queue
    note(f"Dagster on http://127.0.0.1:{port} for {home}")
    arguments = [
        sys.executable,
        "-m",
        "dagster",
        "dev",
        "-w",
        str(REPOSITORY / "workspace.yaml"),
        "-h",
        "127.0.0.1",
        "-p",
        str(port),
    ]
    sys.exit(
        subprocess.run(
            arguments, env={**os.environ, **dagster_environment(home)}, cwd=REPOSITORY, check=False
        ).returncode
    )
