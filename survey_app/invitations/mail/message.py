"""Messages: plain text in the survey's language, the same for all recipients except for the name and the link.

A message has no pictures, no tracking and no second address. A custom template may contain {name}, {link} and {title}.
No input can add a header: names from `recipients` are on one line, and the email package refuses line breaks.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, make_msgid, parseaddr

from candor_client.definition import Survey
from candor_client.display import translate_survey
from survey_app.authoring.timestamps import format_timestamp
from survey_app.invitations.mail.recipients import ListError, Person, is_single_line, normalize_address
from survey_app.languages import Words
from survey_app.store import now

BLANK = re.compile(r"\{(\w*)\}")
BLANKS = ("name", "link", "title")
LONGEST_SUBJECT = 200


@dataclass(frozen=True)
class Letter:
    """The message to all recipients: sender, subject, and text with placeholders."""

    sender: Address
    subject: str
    text: str
    title: str
    hello: tuple[str, str]  # with a name and without

    def compose_for(self, person: Person) -> EmailMessage:
        """Return the message to one person."""
        user, _, host = person.email.rpartition("@")
        message = EmailMessage(policy=SMTP.clone(utf8=not user.isascii()))
        message["From"] = self.sender
        message["To"] = Address(person.name, user, host)
        message["Subject"] = self.subject
        message["Date"] = format_datetime(now())
        message["Message-ID"] = make_msgid(domain=self.sender.domain)
        hello = self.hello[0] if person.name else self.hello[1]
        values = {"name": person.name, "link": person.link, "title": self.title}
        message.set_content(fill(self.text, {"hello": fill(hello, values), **values}), cte="quoted-printable")
        return message


def compose_letter(survey: Survey, sender: str, *, remind: bool, subject: str = "", template: str = "") -> Letter:
    """Return the letter of a survey: the default text in its language, or a custom template.

    Raise ListError if the subject, the template or the sender is invalid.
    """
    words = Words(survey.language)
    kind = "reminder" if remind else "invitation"
    subject = subject or words(f"mail.{kind}_subject", title=survey.title)
    if not is_single_line(subject) or len(subject) > LONGEST_SUBJECT:
        raise ListError(
            f"the subject must have at most {LONGEST_SUBJECT} characters on one line; shorten it with --subject"
        )
    text = _check_template(template) if template else _default_text(survey, words, kind)
    hello = (words.section("mail")["hello"], words("mail.hello_nobody"))
    return Letter(_sender(sender), fill(subject, {"title": survey.title}), text, survey.title, hello)


def fill(text: str, values: Mapping[str, str]) -> str:
    """Replace the placeholders of a text by their values; other text in braces stays."""
    return BLANK.sub(lambda match: values.get(match[1], match[0]), text)


def compose_invitation(survey: Survey, tag: str, link: str) -> str:
    """Return the text of the invitation in one of a survey's languages, for sending it by other means."""
    translation, words = translate_survey(survey, tag), Words(tag)
    values = {"hello": words("mail.hello_nobody"), "link": link, "title": translation.title}
    return fill(_default_text(translation, words, "invitation"), values)


def _default_text(survey: Survey, words: Words, kind: str) -> str:
    parts = ["{hello}", words.section("mail")[kind], "{link}"]
    if survey.tickets:
        parts.append(words("mail.yours"))
    if survey.tickets and survey.tickets.opens:
        parts.append(words("mail.phases", moment=format_timestamp(survey.tickets.opens)))
    parts.append(words("mail.noise"))
    if survey.tickets:
        parts += [words("mail.ticket"), words("mail.used")]
    if survey.contact:
        parts.append(words("mail.contact", contact=survey.contact))
    return "\n\n".join(parts) + "\n"


def _check_template(template: str) -> str:
    unknown = sorted({name for name in BLANK.findall(template)} - set(BLANKS))
    if unknown:
        raise ListError(f"the template contains {{{unknown[0]}}}; it may contain {{name}}, {{link}} and {{title}}")
    if "{link}" not in template:
        raise ListError("the template does not contain {link}; without the link nobody can answer")
    return template if template.endswith("\n") else f"{template}\n"


def _sender(text: str) -> Address:
    name, email = parseaddr(text)
    try:
        user, _, host = normalize_address(email).rpartition("@")
        if not is_single_line(text) or not user.isascii():
            raise ValueError(text)
        return Address(name, user, host)
    except ValueError:
        raise ListError(f"--from {text!r} is not an address such as 'Ada <ada@example.org>'") from None
