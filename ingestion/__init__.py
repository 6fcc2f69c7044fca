"""What the world said, unaltered: sources, identifiers, dates and text clean-up. No tables, no search."""
