"""Documents about a survey: the codebook for an archive, and the dossier for an ethics board."""

import sys
from pathlib import Path

import click

from candor_client.definition import Survey
from survey_app.authoring import BuiltSurvey
from survey_app.cli.common import DIGEST, SLUG_OR_FILE, build_survey, check_readable, find_study, find_survey, open_db
from survey_app.cli.output_files import check_free
from survey_app.cli.terminal import format_examples
from survey_app.languages.markup import render_html, render_markdown
from survey_app.plan.dossier import build_dossier
from survey_app.plan.dossier.subject import Subject
from survey_app.plan.survey_plan import DEFAULT
from survey_app.results.codebook import make_codebook
from survey_app.results.ddi import make_ddi

AUTHOR_SUFFIXES = (".yaml", ".yml", ".json")
DOSSIER_SUFFIXES = (".html", ".htm", ".md")


@click.command("codebook", epilog=format_examples("candor codebook exam --ddi > exam.xml"))
@SLUG_OR_FILE
@DIGEST
@click.option("--ddi", "as_ddi", is_flag=True, help="Write DDI-Codebook 2.5, the XML format of data archives.")
@click.option("--html", "as_html", is_flag=True, help="Write one self-contained HTML file.")
@click.pass_context
def codebook_command(ctx: click.Context, survey: str, digest: str | None, as_ddi: bool, as_html: bool) -> None:
    """Describe every stored bit of SLUG, or of an author's FILE, and how to debias it.

    The codebook has every question, symbol, field and bit, with p and q, ε and the digest. It goes to standard output
    as Markdown.
    """
    if as_ddi and as_html:
        raise click.UsageError("--ddi and --html are two forms of one codebook: give only one.")
    definition, digest_text, reports = _load_survey(ctx, survey, digest)
    if as_ddi:
        if digest_text != definition.digest:
            raise click.ClickException(
                f"a DDI codebook needs the digest, which is {digest_text}: publish {survey} first"
            )
        click.echo(make_ddi(definition, reports), nl=False)
    else:
        blocks = make_codebook(definition, digest=digest_text)
        page = render_html(f"Codebook: {definition.title}", blocks) if as_html else render_markdown(blocks)
        click.echo(page.encode(), nl=False)


@click.command("dossier", epilog=format_examples("candor dossier exam.yaml --respondents 2000 -o dossier.html"))
@SLUG_OR_FILE
@DIGEST
@click.option(
    "--output",
    "-o",
    "file",
    required=True,
    type=click.Path(path_type=Path),
    help="The file to write, ending in .html or .md.",
)
@click.option(
    "--respondents",
    type=click.IntRange(2, 10**12),
    help="The expected number of respondents, for the precision. The default is max_reports, "
    f"the sum of the group sizes, or {DEFAULT.respondents}.",
)
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@click.pass_context
def dossier_command(
    ctx: click.Context, survey: str, digest: str | None, file: Path, respondents: int | None, force: bool
) -> None:
    """Write one document about SLUG, or about an author's FILE, for an ethics board.

    It describes the questions, what leaves a device (with a real example), ε as odds, and what each party could learn.
    It covers storage, withdrawal, consent, the expected precision, and the digest for a pre-registration. For a study,
    it has all groups.
    """
    suffix = file.suffix.lower()
    if suffix not in DOSSIER_SUFFIXES:
        raise click.UsageError(f"{file} has no known format; use a name that ends in {', '.join(DOSSIER_SUFFIXES)}")
    check_free([file], force)
    subject = _load_subject(ctx, survey, digest)
    blocks = build_dossier(subject, respondents or subject.expected_respondents)
    page = render_markdown(blocks) if suffix == ".md" else render_html(subject.survey.title, blocks)
    try:
        file.write_bytes(page.encode())
    except OSError as error:
        raise click.ClickException(f"cannot write {file}: {error.strerror or error}") from None
    click.echo(f"wrote the dossier of {subject.slug} to {file}", file=sys.stderr)


def _load_subject(ctx: click.Context, name: str, digest: str | None) -> Subject:
    """Return a survey, or all groups of a study, by slug or from an author's file."""
    if (built := _build_author_file(name, digest)) is not None:
        return Subject.from_file(built)
    store = open_db(ctx)
    return Subject.from_published(find_study(store, name, digest) or [find_survey(store, name, digest)])


def _load_survey(ctx: click.Context, name: str, digest: str | None) -> tuple[Survey, str, int | None]:
    """Return a survey, its digest, and the number of reports that its results show.

    The survey comes from its slug, or from an author's file; a file has no reports, and the number is None.
    """
    if (built := _build_author_file(name, digest)) is not None:
        return built.survey, Subject.from_file(built).digests[0], None
    store = open_db(ctx)
    published = find_survey(store, name, digest)
    return published.survey, published.survey.digest, store.snapshot(published).reports


def _build_author_file(name: str, digest: str | None) -> BuiltSurvey | None:
    """Return the survey built from an author's file; None if the name is a slug.

    Raise ClickException if `digest` is given and is not the file's.
    """
    if Path(name).suffix not in AUTHOR_SUFFIXES:
        return None
    check_readable(Path(name))
    built = build_survey(Path(name))
    digests = Subject.from_file(built).digests
    if digest not in (None, *digests):
        reason = f"has the digest {digests[0]}" if not built.needs_key else "has no digest before it is published"
        raise click.ClickException(f"--digest does not match: {name} {reason}")
    return built
