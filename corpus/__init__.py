"""The lake: contracts, tables, derivations, locked SQL. No search, no generation, no Dagster."""
