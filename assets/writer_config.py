"""Which writer a run asks, as configuration of a Dagster run."""

import dagster as dg
from pydantic import Field

from generation.language_models.budgets import Budget
from generation.model_access import EXTRACTIVE, ModelAccess


class WriterConfig(dg.Config):
    """Which writer a run asks, and how. Keys and addresses of models come from the environment only.

    Attributes:
        writer: `extractive`, or a model as PROVIDER:NAME.
        window: tokens of the model's window; 0 for what is known of the model.
        verdicts: a model judges each written sentence beside the rules.
        replay: answers come from the ledger only.
        budget_tokens, budget_cost: what the asset may spend where it is started from Dagster's page; 0 for no limit.
    """

    writer: str = EXTRACTIVE
    window: int = Field(0, ge=0)
    verdicts: bool = False
    replay: bool = False
    budget_tokens: int = Field(0, ge=0)
    budget_cost: float = Field(0.0, ge=0)

    def access(self) -> ModelAccess:
        """How the model may be asked, for a run whose house does not say."""
        budget = Budget(self.budget_tokens or None, self.budget_cost or None)
        return ModelAccess(budget, self.replay, self.window or None, verdicts=self.verdicts)


def writer_settings(writer: str, access: ModelAccess) -> dict[str, object]:
    """The configuration of a run for this writer, as it is to be seen in the run's record."""
    if writer == EXTRACTIVE:
        return {"writer": writer}
    return {
        "writer": writer, "window": access.window or 0, "verdicts": access.verdicts, "replay": access.replay,
    }  # fmt: skip
