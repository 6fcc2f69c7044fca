"""Reference lists and the marks that point into them: split, parsed, linked. Which paper an entry is: `corpus.resolution`."""
