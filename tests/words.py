"""The words of the catalogues by their keys, so that a test can name a text and never repeats it."""

from survey_app.languages import Words


def word(key: str, language: str = "en", /, **values: object) -> str:
    """Return a string such as `form.send` as a page shows it: filled in, in one line."""
    return " ".join(Words(language)(key, **values).split())


def first_line(key: str, language: str = "en", /, **values: object) -> str:
    """Return the title of a notice, which is the first line of its string."""
    return Words(language)(key, **values).split("\n")[0]
