"""Topic → pool → outline → digests → survey. Methods, writers and rendering; no Dagster."""
