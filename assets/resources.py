"""What assets need from outside: the home folder, and the source a run reads."""

from collections.abc import Callable
from pathlib import Path

import dagster as dg

from assets.home import harvests_folder, lithouse_home
from assets.sources import FORMS, open_source
from corpus.harvest import Reading, Source, read_source
from corpus.tables import Lake
from generation.model_access import ModelAccess
from generation.workshop import Workshop
from ingestion.dates import parse_cutoff


class House:
    """The lake and what is built from it.

    Args:
        path: LITHOUSE_HOME.
        progress: told what is being done, items done, and items to do.
        access: how models may be asked, shared by the stages of a run; None where each run says it itself.
    """

    def __init__(
        self,
        path: Path,
        progress: Callable[[str, int, int], None] | None = None,
        access: ModelAccess | None = None,
    ) -> None:
        self.path = path
        self._progress = progress
        self.access = access

    @property
    def lake(self) -> Lake:
        return Lake(self.path)

    def workshop(self, access: ModelAccess | None = None) -> Workshop:
        """A workshop as of now: an index opened before a refresh would be refused after it.

        Args:
            access: how models may be asked, where the house does not say.
        """
        return Workshop(self.path, self._progress, self.access or access or ModelAccess())


@dg.resource(config_schema={"home": dg.Field(str, default_value="", description="Folder; empty: LITHOUSE_HOME.")})
def house(context: dg.InitResourceContext) -> House:
    """The lake of the environment, or of the run's configuration."""
    return House(
        Path(context.resource_config["home"]).resolve() if context.resource_config["home"] else lithouse_home()
    )


class SourceDesk:
    """The source of a run, read once and shared by the run's assets.

    Args:
        source: an opened source, None where the run reads none.
        reading: what was already read of it.
        cutoff: inclusive UTC day as text, "" for none.
        workspace: keeps the keys of the source's files; None keeps none.
    """

    def __init__(
        self,
        source: Source | None = None,
        reading: Reading | None = None,
        cutoff: str = "",
        workspace: Path | None = None,
    ) -> None:
        self.source = source
        self._workspace = workspace
        self.cutoff = cutoff
        self._reading = reading

    @property
    def reading(self) -> Reading | None:
        """The source's records, None where the run names no source."""
        if self._reading is None and self.source is not None:
            cutoff = parse_cutoff(self.cutoff) if self.cutoff else None
            self._reading = read_source(self.source, cutoff=cutoff, workspace=self._workspace)
        return self._reading


@dg.resource(
    config_schema={
        "source": dg.Field(str, default_value="", description=f"{FORMS}; empty: no source is read."),
        "cutoff": dg.Field(str, default_value="", description="Inclusive UTC day, e.g. 2024-03-31; empty: everything."),
    }
)
def source_desk(context: dg.InitResourceContext) -> SourceDesk:
    """The source named in the run's configuration."""
    config = context.resource_config
    source = open_source(config["source"]) if config["source"] else None
    return SourceDesk(source, None, config["cutoff"], harvests_folder(lithouse_home()))
