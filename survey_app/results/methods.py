"""What a paper has to say about a survey: a methods paragraph, a reporting checklist, cautions (docs/methods.md §13).

All of it is made from the definition and the document of the results, so that the words cannot drift from the numbers.
Nothing here is about a respondent.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from client.definition import Field, Survey
from client.mechanism import Drawn, Flip, Geometric, Mechanism
from client.question import Question
from client.sampling import WHOLE
from survey_app.estimate.intervals import Method, Options
from survey_app.explain.chances import total
from survey_app.explain.written import count, epsilon, percent, probability
from survey_app.results.asked import SMALL, asked_sentences, draws_sentence
from survey_app.results.caution import INVENTED
from survey_app.results.document import Results, table_rows

MOST_NAMED = 6  # questions of one mechanism that a sentence names


@dataclass(frozen=True)
class Setting:
    """What the words need to know besides the definition."""

    options: Options
    sample: bool  # intervals for these respondents, where there are such
    final: bool  # no more reports will come
    invited: bool = False
    stopping: str = ""  # when it closes, or with how many reports
    compared: int = 0  # intervals of comparisons, beside those of the results


def intervals_shown(document: Results, setting: Setting) -> int:
    """How many intervals a reader sees."""
    return setting.compared + sum(1 for _ in table_rows(document.parts))


def paragraph(survey: Survey, document: Results, setting: Setting) -> str:
    """A methods paragraph with this survey's own numbers, ready to paste into a paper."""
    return " ".join(
        [
            "Answers were collected under local differential privacy: each respondent's device randomized every answer"
            " before sending it, and only randomized bits were stored.",
            _reports(document, setting),
            *asked_sentences(survey, document.asked),
            *_mechanisms(survey),
            _budget(survey),
            _estimators(survey),
            _intervals(document, setting),
            "Questions, options and parameters are fixed by the survey's definition, whose SHA-256 digest is"
            f" {survey.digest}.",
        ]
    )


def _reports(document: Results, setting: Setting) -> str:
    state = "all that the closed survey received" if setting.final else "the survey was still open"
    return f"The figures rest on n = {count(document.reports)} reports ({state})."


def _mechanisms(survey: Survey) -> Iterator[str]:
    """A sentence for every mechanism, naming the questions that share it."""
    groups: dict[tuple[object, ...], list[Field]] = {}
    for field in survey.fields:
        joint = field.digest if field.joint else None
        groups.setdefault((field.mechanism, _rounded(field.questions[0]), joint), []).append(field)
    for fields in groups.values():
        mechanism = fields[0].mechanism
        each = " each" if len(fields) > 1 else ""
        yield f"{_subject(fields)} {_coins(mechanism)} (ε = {epsilon(mechanism.epsilon)}{each})."


def _subject(fields: Sequence[Field]) -> str:
    """Which questions, and what was done to them before the coins."""
    names = _listed([f"“{question.id}”" for field in fields for question in field.questions])
    if fields[0].joint:
        return f"{names} were randomized together, as one answer out of {fields[0].size} possible combinations,"
    verb = "was" if len(fields) == 1 else "were each"
    if levels := _rounded(fields[0].questions[0]):
        return f"{names} {verb} rounded at random, without bias, to one of {levels} levels and then randomized"
    return f"{names} {verb} randomized"


def _rounded(question: Question) -> int:
    """To how many levels a number is rounded; 0 if every number has a level of its own."""
    return question.levels if 0 < question.levels <= question.steps else 0


def _listed(names: Sequence[str]) -> str:
    if len(names) > MOST_NAMED + 1:
        names = [*names[:MOST_NAMED], f"{len(names) - MOST_NAMED} more questions"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _coins(mechanism: Mechanism) -> str:
    if isinstance(mechanism, Geometric):
        ratio = probability(mechanism.ratio / WHOLE)
        return (
            f"by two-sided geometric noise, P(noise = k) ∝ r^|k| with r = {ratio}, what left the levels 0 to"
            f" {mechanism.size - 1} being sent as the nearest of them"
        )
    p, q = probability(float(mechanism.p)), probability(float(mechanism.q))
    if isinstance(mechanism, Flip):
        return f"by randomized response, with P(yes sent | yes) = p = {p} and P(yes sent | no) = q = {q}"
    if isinstance(mechanism, Drawn):
        at_once = f" on their {mechanism.sets} sets" if mechanism.draw > 1 else ""
        each = " for each option" if mechanism.draw > 1 else ""
        return (
            f"by asking about {mechanism.draw} of {mechanism.size} options, drawn at random, by randomized response"
            f"{at_once} with P(sent | chosen) = p = {p} and P(sent | not chosen) = q = {q}{each}"
        )
    if mechanism.size == 2:
        return (
            f"by randomized response, the true one of two being sent with probability p = {p}, the other with q = {q}"
        )
    if mechanism.weight == 1:
        return (
            f"by {mechanism.size}-ary randomized response: the true answer was kept with probability p = {p}, and"
            f" any other one sent with probability q = {q}"
        )
    return (
        f"by subset selection: {mechanism.weight} of {mechanism.size} answers were sent, the true one among them with"
        f" probability p = {p}, any other one with probability q = {q}"
    )


def _budget(survey: Survey) -> str:
    how = "the largest of the blocks, of which a device answers one" if survey.ask else "the sum over all fields"
    if len(survey.fields) == 1:
        how = "its only field"
    return f"A whole report is ε-differentially private with ε = {epsilon(total(survey))} ({how})."


def _estimators(survey: Survey) -> str:
    kinds = {kind for question in survey.questions for kind in _figures(question)}
    text = ""
    if "share" in kinds:
        text = (
            "Shares were estimated without bias by (r − q)/(p − q), r being the share of ones among the stored bits and"
            " p, q following from the published integers; displayed shares of exclusive answers are the nearest ones"
            " that are not negative and sum to one."
        )
    if "mean" in kinds:
        also = "likewise" if text else "without bias, with the published integers,"
        text = f"{text} Means were estimated {also} from the scores of the stored bits.".strip()
    return text


def _figures(question: Question) -> tuple[str, ...]:
    if question.levels:
        return ("mean",)
    return ("share", "mean") if question.type == "scale" else ("share",)


def methods_used(document: Results) -> set[Method]:
    """How the intervals of a document were made: what each of its lines says of itself."""
    return {line.method for _, _, line in table_rows(document.parts)}


def method_words(options: Options) -> dict[Method, str]:
    """A phrase for every method, in the order in which a paragraph names them."""
    mapped = "mapped as the estimate is"
    return {
        Method.CLOPPER_PEARSON: "Clopper–Pearson intervals on the binomial count of reported bits, guarded at both ends"
        f" of the possible range (coverage guaranteed), {mapped}",
        Method.WILSON: "Wilson intervals on the binomial count of reported bits (approximate: right on average),"
        f" {mapped}",
        Method.FINITE_POPULATION: f"score intervals for a population of {count(options.population or 0)} with the"
        f" finite-population correction, on the binomial count of reported bits (approximate), {mapped}",
        Method.DIRICHLET: "Dirichlet–Clopper–Pearson intervals for means of scores (approximate)",
        Method.KORN_GRAUBARD: "Korn–Graubard intervals for sums over several reported symbols (approximate)",
        Method.FIELLER: "Fieller's intervals for figures among those who answered (approximate)",
        Method.SCORE: "score intervals for the cells of two questions, the shares within rows and weighted sums of"
        " shares (approximate)",
        Method.MOVER: "MOVER intervals for differences of estimates and weighted sums of means (approximate)",
        Method.WALD: "Wald intervals for the coefficients of a regression (approximate)",
        Method.CERTAIN: "a single point where a total holds every answer (certain)",
    }


def _intervals(document: Results, setting: Setting) -> str:
    used = methods_used(document)
    words = [text for method, text in method_words(setting.options).items() if method in used]
    if setting.sample:
        target = (
            "plots show intervals for these respondents alone, which cover the randomization only (score intervals,"
            " approximate), where such exist; otherwise intervals refer to the population of which the respondents are"
            " a random sample"
        )
    else:
        target = "they refer to the population of which the respondents are a random sample"
    made = f", and are {'; '.join(words)}" if words else ""
    together = " for all answers of a question together (Bonferroni)" if setting.options.simultaneous else " each"
    return f"Intervals have a confidence of {percent(setting.options.confidence)}{together}; {target}{made}."


class Item(NamedTuple):
    """A line of the reporting checklist; `open` means that only the researcher can fill it in."""

    name: str
    text: str
    open: bool = False


def checklist(survey: Survey, document: Results, setting: Setting) -> list[Item]:
    """What a report of these results should state (docs/methods.md §13)."""
    reports = document.reports
    each = [
        f"{'+'.join(one.id for one in field.questions)} {epsilon(field.mechanism.epsilon)}" for field in survey.fields
    ]
    if len(each) > 2 * MOST_NAMED:
        each = [*each[: 2 * MOST_NAMED], f"{len(each) - 2 * MOST_NAMED} more, given with each question"]
    return [
        Item("Mode", "Answered on the respondent's own device, by form or client; randomized there. Say so if paper"
             " sheets or interviewers were used.", True),
        Item("Frame and sampling", ("By invitation. " if setting.invited else "Open to whoever had the link. ")
             + "State who could take part, and whether the respondents are a probability sample of them.", True),
        Item("Response rate", f"n = {count(reports)} reports. State the number N of people invited, and n/N.", True),
        *_blocks_item(document),
        Item("Privacy", f"Total ε = {epsilon(total(survey))}; by field: {', '.join(each)}."),
        Item("Noise", "p and q of every mechanism: in the methods paragraph, from the published integers."),
        Item("Estimator", "Unbiased, (r − q)/(p − q); never clipped before sums, means or differences were taken."),
        Item("Intervals", f"{count(intervals_shown(document, setting))} intervals of"
             f" {percent(setting.options.confidence)}"
             f"{', together within each question' if setting.options.simultaneous else ', each on its own'}; their"
             " kinds are in the methods paragraph."),
        Item("Weights", "None: every report counts the same. Strata need a survey each; state their weights."),
        Item("Stopping rule", setting.stopping or "None was published. State when and why the survey was closed.",
             not setting.stopping),
        Item("Definition", f"Digest {survey.digest}; published before the first report, it can serve as a"
             " pre-registration of questions and parameters."),
    ]  # fmt: skip


def _blocks_item(document: Results) -> list[Item]:
    """What to state of blocks, where there are some."""
    if document.asked is None:
        return []
    drawn = ", ".join(
        f"{one.name} {count(one.n)} of {count(round(one.expected))}" for one in document.asked.blocks[:MOST_NAMED]
    )
    more = len(document.asked.blocks) - MOST_NAMED
    also = f", and {more} more" if more > 0 else ""
    text = f"Each device answered one block. Devices that drew it, of those expected: {drawn}{also}."
    return [Item("Blocks", f"{text} Give n with each figure, and the test of the draws.")]


def cautions(document: Results, setting: Setting) -> list[str]:
    """What the intervals do not say."""
    options, shown = setting.options, intervals_shown(document, setting)
    if options.simultaneous:
        several = "Those of one question's answers hold together, as comparing them needs; questions still err apart."
    else:
        several = (
            f"Each may miss with probability {percent(options.alpha)}, so up to {_few(options.alpha * shown)} of them"
            " are expected to miss; to compare answers, choose simultaneous intervals."
        )
    closing = "Intervals assume that the decision to close the survey does not depend on its results."
    if not setting.final:
        closing += " This one is still open: whoever stops when a figure looks good breaks them."
    sentences = [
        "Intervals cover who happened to be drawn, and the randomization. They do not cover people who did not answer,"
        " who took part because of what they think, or who answered untruly. If the respondents are no random sample,"
        " only the intervals for these respondents keep their meaning.",
        f"{count(shown)} intervals of {percent(options.confidence)} are shown. {several}",
        closing,
        "Noise costs precision: each question tells how many reports without noise would tell as much (its effective"
        " sample size; the design effect is n divided by it).",
        f"Reports can be invented: each question tells how far {percent(INVENTED)} of invented reports could move a"
        " figure at the most. No test can find invented reports that look like honest noise.",
    ]
    test = document.asked.test if document.asked else None
    if document.asked and test and test.p_value < SMALL:
        sentences.append(draws_sentence(document.asked))
    if not setting.invited:
        sentences.append("Reports came without invitation codes, so nothing tells whether one person sent several.")
    return sentences


def _few(expected: float) -> str:
    return f"{expected:.0f}" if expected >= 10 else f"{expected:.1f}"
