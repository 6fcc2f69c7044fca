"""Reading a file of a paper: checks, a process of its own within limits, and the parser in it."""
