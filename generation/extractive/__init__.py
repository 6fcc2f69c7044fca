"""The embedded writer: no model, no network, deterministic; selects and arranges what the papers say."""
