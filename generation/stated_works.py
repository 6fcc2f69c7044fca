"""The work and the year of a table's row: facts of a paper, each with the query that gives it.

Both writers state them. Not here: what else stands in the row (`extractive.comparing`, `model_writer.tables`).
"""

from generation.extractive.sentences import own_name
from generation.naming import quoted, short_authors
from generation.values import Paper, StatedRow


def work_and_year(paper: Paper) -> tuple[StatedRow, StatedRow]:
    """A work by its own name, else by its authors, else by its title; and the year of its latest submission."""
    where = f"FROM papers WHERE paper_id = {quoted(paper.paper_id)}"
    own, authors = own_name(paper), short_authors(paper)
    if own:
        work = StatedRow("work", own, f"SELECT split_part(title, ':', 1) {where}")
    elif authors:
        work = StatedRow("work", authors[0], f"SELECT authors, collaborations {where}")
    else:
        work = StatedRow("work", paper.title, f"SELECT title {where}")
    return work, StatedRow("year", str(paper.year), f"SELECT year(submitted_latest) {where}")
