"""Dagster wiring and the command line, on top of all layers."""
