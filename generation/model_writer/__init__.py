"""The writer that asks a model: its operations, the schemas of its replies, cards, and the plan of its calls."""
