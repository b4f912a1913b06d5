"""Languages to choose from, each by its own name: first the languages of Candor's strings, then other common ones.

A survey may be in any language that has a tag; for these languages no author has to look up the tag.
"""

from functools import cache

from survey_app.languages import LANGUAGES, Words

OTHER_LANGUAGES = {
    "ar": "العربية",
    "bg": "Български",
    "ca": "Català",
    "cs": "Čeština",
    "da": "Dansk",
    "el": "Ελληνικά",
    "et": "Eesti",
    "fa": "فارسی",
    "fi": "Suomi",
    "ga": "Gaeilge",
    "he": "עברית",
    "hi": "हिन्दी",
    "hr": "Hrvatski",
    "hu": "Magyar",
    "id": "Bahasa Indonesia",
    "it": "Italiano",
    "ja": "日本語",
    "ko": "한국어",
    "lt": "Lietuvių",
    "lv": "Latviešu",
    "mt": "Malti",
    "nb": "Norsk bokmål",
    "nl": "Nederlands",
    "pl": "Polski",
    "pt": "Português",
    "ro": "Română",
    "ru": "Русский",
    "sk": "Slovenčina",
    "sl": "Slovenščina",
    "sr": "Српски",
    "sv": "Svenska",
    "tr": "Türkçe",
    "uk": "Українська",
    "ur": "اردو",
    "vi": "Tiếng Việt",
    "zh": "中文",
}


@cache
def list_names() -> dict[str, str]:
    """Return the names of the languages by tag, in the order in which they are offered."""
    return {tag: Words(tag)("front.name") for tag in LANGUAGES} | OTHER_LANGUAGES


def get_name(tag: str) -> str:
    """Return a language's own name, or its tag if it is not in the list."""
    return list_names().get(tag, tag)
