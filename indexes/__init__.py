"""Search structures that can be rebuilt from the corpus: full text, vectors, and their fusion.

Here belong indexes, embedders and rankings. What a topic may see, which papers enter its pool and
how they are written about belongs to `generation`; the tables the indexes are built from to `corpus`.
`lancedb` is imported nowhere else.
"""
