"""The form of a survey as one reproducible file, so that every change to it can be noticed.

The same version, definition and server give the same bytes on every machine.
The file contains the script, the styles, Candor's own strings and the definition.
Its content security policy runs this script only, and lets it connect to the survey's own addresses only.
Nothing in it depends on the machine: no time, no path, no order that depends on a hash.
So its SHA-256 can be printed on a poster or in a registration.
Anybody who has a file can rebuild it from its own contents and compare.
"""

import hashlib
import json
import re
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from html import escape

from candor_client.definition import Survey
from candor_client.errors import CandorError
from survey_app.assure.form_strings import form_data, json_block
from survey_app.languages import Words

FileBuilder = Callable[[Survey, str], bytes]  # builds the file for a survey at a server
SERVER = re.compile(r"https?://(\[[0-9a-f:.]+\]|[a-z0-9]([a-z0-9.-]*[a-z0-9])?)(:[1-9][0-9]{0,4})?(/[\w.~-]+)*")
ENDING = re.compile(r"</(script|style)|<!--", re.IGNORECASE)  # would end a block, or begin a comment, in HTML
EXCERPT_RADIUS = 30  # characters to quote before and after a difference

PAGE = """\
<!doctype html>
<html lang="{language}" dir="{direction}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="Candor {version}">
<link rel="icon" href="{icon}" type="image/svg+xml">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
<div id="mark">{mark}</div>
<noscript>
<h1>{title}</h1>
<section class="notice" lang="{ours}" dir="ltr">
<h2>{heading}</h2>
<p>{python}</p>
<pre><code>{command}</code></pre>
</section>
</noscript>
<div id="languages"></div>
<header id="survey"></header>
<div id="form"></div>
<p id="status" role="status"></p>
<footer id="foot"></footer>
</main>
<script type="application/json" id="words">{words}</script>
<script type="application/json" id="definition">{definition}</script>
<script type="module">{script}</script>
</body>
</html>
"""


class FormFileError(ValueError):
    """A form file cannot be built, or a file is not a form that Candor built.

    `code` is one of: bad_server, unsafe_part, bad_definition, not_a_form, other_survey.
    """

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code


def check_server(server: str) -> str:
    """Return the address of a server unchanged; raise FormFileError if it is not one."""
    if not SERVER.fullmatch(server):
        raise FormFileError(
            "bad_server", f"{server!r} is not a server address; use an address such as https://example.org"
        )
    return server


def build_form_file(survey: Survey, server: str, *, script: str, style: str, mark: str, version: str) -> bytes:
    """Return the form file of a survey that reports to this server; raise FormFileError if it cannot be built."""
    check_server(server)
    for part in (script, style):
        if match := ENDING.search(part):
            raise FormFileError(
                "unsafe_part", f"a script or style that contains {match.group()!r} cannot be embedded in a page"
            )
    words = Words(survey.language)
    home = f"{server}/s/{survey.slug}"
    issuer = survey.tickets.issuer if survey.tickets else ""
    places = [f"{place}/api/surveys/{survey.slug}/" for place in (server, issuer) if place]
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:;"
        f" connect-src {' '.join(places)}; form-action 'none'; base-uri 'none'"
    )
    page = PAGE.format(
        language=survey.language,
        direction=words.direction,
        policy=policy,
        version=version,
        title=escape(survey.title),
        style=style,
        icon=icon_data_url(mark),
        mark=inline_logo(mark),
        ours=words.language,
        heading=escape(words("privacy.noscript_heading")),
        python=escape(words("privacy.python")),
        command=escape(f'python -m candor_client "{home}#sha256={survey.digest}"'),
        words=json_block(form_data(survey, home=home)),
        definition=json_block(survey.source.decode()),
        script=script,
    )
    return page.encode()


def inline_logo(mark: str) -> str:
    """Return the logo as inline SVG: only the shape of its file, so that it takes the accent colour of the page."""
    (shape,) = re.findall(r"<path[^<>]*/>", mark)
    return f'<svg class="mark" viewBox="0 0 16 16" aria-hidden="true">{shape}</svg>'


def icon_data_url(mark: str) -> str:
    """Return the logo as a data URL, so that no browser requests it while a respondent answers."""
    return f"data:image/svg+xml;base64,{b64encode(mark.encode()).decode()}"


def _hash(text: str) -> str:
    """Return the hash source of a text for a content security policy."""
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@dataclass(frozen=True)
class FileCheck:
    """The contents of a form file, and its first difference from the file that this version builds; empty if none."""

    survey: Survey
    server: str
    sha256: str
    version: str
    difference: str


def check_file(data: bytes, build: FileBuilder) -> FileCheck:
    """Rebuild a file from the definition and the server in it, compare byte for byte, and return the result.

    Raise FormFileError if no definition or server can be read in it.
    """
    try:
        page = data.decode()
        home = json.loads(_block(page, "words"))["home"]
        server, slug = re.fullmatch(r"(.*)/s/([^/]*)", home).groups()  # type: ignore[union-attr]
        survey = Survey.from_json(json.loads(_block(page, "definition")).encode())
    except CandorError as error:
        raise FormFileError("bad_definition", f"the definition in the file is refused: {error}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        reason = "the file is not a form made by Candor: it has no readable definition or server"
        raise FormFileError("not_a_form", reason) from None
    if slug != survey.slug:
        reason = f"the file names the survey {slug!r}, but contains the definition of {survey.slug!r}"
        raise FormFileError("other_survey", reason)
    match = re.search(r'<meta name="generator" content="Candor ([^"]*)">', page)
    version = match[1] if match else ""
    return FileCheck(
        survey, server, hashlib.sha256(data).hexdigest(), version, describe_difference(data, build(survey, server))
    )


def _block(page: str, name: str) -> str:
    match = re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', page, re.DOTALL)
    if match is None:
        raise ValueError(name)
    return match[1]


def describe_difference(actual: bytes, expected: bytes) -> str:
    """Return where two files first differ, with an excerpt of both; empty if they are equal."""
    if actual == expected:
        return ""
    byte_pairs = zip(actual, expected, strict=False)
    position = next((i for i, (left, right) in enumerate(byte_pairs) if left != right), min(len(actual), len(expected)))
    line = actual[:position].count(b"\n") + 1

    def excerpt(data: bytes) -> str:
        if position >= len(data):
            return "no more bytes"
        return repr(data[max(0, position - EXCERPT_RADIUS) : position + EXCERPT_RADIUS].decode("utf-8", "replace"))

    return f"byte {position + 1}, line {line}: the file has {excerpt(actual)}, this version builds {excerpt(expected)}"
