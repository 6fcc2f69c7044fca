"""Asking a gateway and reading what its ledger keeps, as the tests of this folder do."""

import asyncio


def asked(gateway, *made):
    """Answers to calls asked one after another, the client closed at the end."""

    async def run():
        try:
            return [await gateway.ask(one) for one in made]
        finally:
            await gateway.aclose()

    return asyncio.run(run())


def rows(ledger, lake):
    """Rows of the table, in the order in which they were asked."""
    ledger.flush()
    return lake.read("language_model_calls").sort("asked_at").to_dicts()
