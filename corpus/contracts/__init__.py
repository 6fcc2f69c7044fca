"""The contracts of the lake: one dataframely schema a table, written once; everything else is derived."""
