"""From a file of a paper to its text: parsing within limits, and the structure of what was parsed."""
