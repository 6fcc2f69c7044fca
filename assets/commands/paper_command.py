"""`lithouse paper`."""

import click

from assets.commands.options import Command, json_flag, note, print_json
from assets.home import lithouse_home
from ingestion.documents.parsing.parsers import DEFAULT_PARSER


@click.command("paper", cls=Command)
@click.argument("paper_id", metavar="ID")
@click.option("--text", "with_text", is_flag=True, help="Print its text as Markdown; read its file first if needed.")
@click.option(
    "--parser",
    default=DEFAULT_PARSER,
    show_default=True,
    help="Reads the file: docvortex, mineru-kit[:TIER], magic-pdf. Only with --text.",
)
@json_flag
def command(paper_id: str, with_text: bool, parser: str, as_json: bool) -> None:
    """What is held of a paper. ID in any form: 2005.11401v4, hep-th/9901001, an address, a DOI."""
    from corpus.lookup import look_up
    from corpus.tables import Lake

    lake = Lake(lithouse_home())
    found = look_up(lake, paper_id)
    if with_text:
        text = _text(lake, paper_id, parser)
        found = look_up(lake, paper_id) | {"markdown": text}
    if as_json:
        print_json(found)
    elif with_text:
        click.echo(found["markdown"])
    else:
        _show(found)


def _text(lake, paper_id: str, parser: str) -> str:
    """The newest text of the paper, or that of the version named, read now if it has to be.

    Raises:
        NotFound: there is none; says why and what to do.
    """
    from corpus.reading import read_one, reader_named
    from generation.texts import count_tokens
    from ingestion.errors import NotFound
    from ingestion.identity import parse_paper_id

    paper = parse_paper_id(paper_id)
    result = read_one(lake, paper.value, reader_named(parser), count_tokens(), paper.version)
    for line in result.notes:
        note(line)
    if result.markdown is None:
        raise NotFound(f"the paper has no text ({result.status})", which=paper_id, advice=result.advice)
    return result.markdown


def _show(found: dict) -> None:
    click.echo(found["title"])
    names = [*(found["authors"] or []), *(found["collaborations"] or [])]
    click.echo(f"  {', '.join(names) if names else 'authors unknown: no source names any'}")
    precision = {"day": "submitted", "announced": "announced", "month": "in the month of", "year": "in the year to"}
    click.echo(f"  {found['paper_id']} · {precision[found['submitted_precision']]} {found['submitted_latest']}"
               f"{' · withdrawn: ' + found['withdrawn_evidence'] if found['is_withdrawn'] else ''}")  # fmt: skip
    if found["latest_version"]:
        click.echo(f"  versions held: {', '.join('v' + str(v['number']) for v in found['versions'])}")
    if found["abstract"]:
        mark = "" if found["abstract_origin"] == "source" else f" ({found['abstract_origin']})"
        click.echo(f"\n{found['abstract']}{mark}\n")
    click.echo(f"  {_document_line(found)}")
    for differing in found["disagreements"]:
        told = "; ".join(f"{value['source']}: {_short(value['value'])}" for value in differing["values"])
        click.echo(f"  sources disagree on {differing['field']}: {told}")
    known = sum(reference["cited_id"] is not None for reference in found["references"])
    click.echo(
        f"  cites {len(found['references'])} works, {known} of them resolved; cited by {len(found['citations'])}"
    )


def _short(text: str, most: int = 80) -> str:
    return text if len(text) <= most else f"{text[:most].rstrip()} …"


def _document_line(found: dict) -> str:
    """What is known of the paper's file."""
    if not found["documents"]:
        return {
            "held": "text: its file is held and was not read yet; --text reads it",
            None: "text: no source holds a file of it",
        }[found["document_status"]]
    row = found["documents"][0]
    if row["status"] != "parsed":
        return f"text: {row['status']}. {row['advice']}"
    version = f" of v{row['version']}" if row["version"] else ""
    references = f"{row['reference_count']} references" if row["reference_count"] is not None else (
        f"references {row['references_status']}"
    )  # fmt: skip
    return (
        f"text{version}: {row['page_count']} pages, {row['section_count']} sections, "
        f"{row['passage_count']} passages, {references}; --text prints it"
    )
