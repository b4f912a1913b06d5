"""The reporting checklist for results, and cautions about their intervals (docs/methods.md §13)."""

from enum import StrEnum
from typing import NamedTuple

from msgspec import UNSET

from candor_client.definition import Survey
from survey_app.channels.posterior import total_epsilon
from survey_app.languages.numbers import format_count, format_epsilon, format_percent
from survey_app.results.caution import FAKE_SHARE
from survey_app.results.denominators import BlockDraws, DrawVerdict, describe_draws
from survey_app.results.group_document import Study
from survey_app.results.methods import MOST_NAMED, SurveyStatus, count_intervals, get_block_draws
from survey_app.results.report_counts import format_rounded_count
from survey_app.results.survey_document import Results

LOOKS = range(40, 1001, 20)  # numbers of reports at which a researcher reads the results of an open survey
MISSED_AT_SOME_LOOK = (24, 27)  # of 100 surveys, ε from 1 to 4; `python -m benchmarks.looks`
ESTIMATOR = (
    "The estimator (r − q)/(p − q) is unbiased; where the methods paragraph gives P and Q, they replace p and q."
    " Displayed figures are not unbiased. Displayed shares are the nearest possible ones, and displayed means and"
    " differences are computed from these. So they are biased towards the middle where reports are few. (For totals of"
    " groups, the unbiased values are summed first, and only the sum is moved to the nearest possible value.) Report"
    " the unbiased value next to its interval; every table has it."
)


class ItemCode(StrEnum):
    """The items of the reporting checklist."""

    MODE = "mode"
    SAMPLING = "sampling"
    RESPONSE = "response"
    BLOCKS = "blocks"
    PRIVACY = "privacy"
    NOISE = "noise"
    ESTIMATOR = "estimator"
    INTERVALS = "intervals"
    WEIGHTS = "weights"
    STOPPING = "stopping"
    DEFINITION = "definition"


class Item(NamedTuple):
    """An item of the reporting checklist; `open` means that only the researcher can fill it in."""

    code: ItemCode
    name: str
    text: str
    open: bool = False


class CautionCode(StrEnum):
    """The limits of the intervals."""

    SAMPLING = "sampling"
    TOGETHER = "together"  # intervals are simultaneous within a question
    APART = "apart"  # each interval may miss
    STOPPING = "stopping"
    OPEN = "open"  # the survey is still open, so many looks are possible
    NOISE = "noise"
    FAKES = "fakes"
    BLOCKS = "blocks"  # the draws of the blocks are suspicious
    GROUP_LINKS = "group_links"
    NO_INVITATIONS = "no_invitations"


class Caution(NamedTuple):
    """A sentence about a limit of the intervals."""

    code: CautionCode
    text: str


def make_checklist(survey: Survey, document: Results | Study, setting: SurveyStatus) -> list[Item]:
    """Return the items that a report of these results should state (docs/methods.md §13)."""
    plural = isinstance(document, Study)
    budgets = [
        f"{'+'.join(question.id for question in field.questions)} {format_epsilon(field.mechanism.epsilon)}"
        for field in survey.fields
    ]
    if len(budgets) > 2 * MOST_NAMED:
        budgets = [*budgets[: 2 * MOST_NAMED], f"{len(budgets) - 2 * MOST_NAMED} more, given with each question"]
    return [
        Item(
            ItemCode.MODE,
            "Mode",
            "Respondents answered on their own devices, in the form or with a client, and the devices randomized the"
            " answers. If paper sheets or interviewers were used, say so.",
            True,
        ),
        Item(
            ItemCode.SAMPLING,
            "Frame and sampling",
            ("By invitation. " if setting.is_by_invitation else "Open to anyone with the link. ")
            + "State who could take part, and whether the respondents are a probability sample of them.",
            True,
        ),
        _response_item(document),
        *_blocks_item(get_block_draws(document)),
        Item(
            ItemCode.PRIVACY,
            "Privacy",
            f"Total ε = {format_epsilon(total_epsilon(survey))}; by field: {', '.join(budgets)}.",
        ),
        Item(
            ItemCode.NOISE,
            "Noise",
            "The methods paragraph gives p and q of every mechanism, and P and Q of answers that several combinations"
            " contain. All follow from the published integers.",
        ),
        Item(ItemCode.ESTIMATOR, "Estimator", ESTIMATOR),
        Item(
            ItemCode.INTERVALS,
            "Intervals",
            f"{format_count(count_intervals(document, setting))} intervals with a confidence of"
            f" {format_percent(setting.options.confidence)},"
            f" {'simultaneous within each question' if setting.options.simultaneous else 'each on its own'}. The"
            " methods paragraph names their methods.",
        ),
        _weights_item(document),
        _stopping_item(setting),
        Item(
            ItemCode.DEFINITION,
            "Definition",
            f"{_digests(document)}; published before the first report, {'they' if plural else 'it'} can serve as a"
            " pre-registration of questions and parameters.",
        ),
    ]


def _response_item(document: Results | Study) -> Item:
    response = f"n = {format_count(document.reports)} reports"
    if isinstance(document, Results) and document.invited is not UNSET and document.taken is not UNSET:
        response += (
            f", of {format_rounded_count(document.invited)} people invited, "
            f"{format_rounded_count(document.taken)} with a ticket"
            " (these two counts advance in steps)"
        )
    return Item(ItemCode.RESPONSE, "Response rate", f"{response}. State the number N of people invited, and n/N.", True)


def _stopping_item(setting: SurveyStatus) -> Item:
    rule = setting.stopping_rule or "None was published. State when and why the survey was closed."
    if setting.stopping_rule_changed:
        rule = f"{rule} This rule was changed after the survey opened: state when and why."
    return Item(ItemCode.STOPPING, "Stopping rule", rule, setting.stopping_rule_changed or not setting.stopping_rule)


def _weights_item(document: Results | Study) -> Item:
    if isinstance(document, Results):
        text = "None: every report counts the same. Weighting groups of people requires a link for each; state weights."
        return Item(ItemCode.WEIGHTS, "Weights", text)
    if document.total and document.total.questions:
        basis, source = ("the weight given for it", "weights") if document.total.given else ("its size", "sizes")
        text = f"In totals, each group is weighted by {basis}. State where the {source} come from."
        return Item(ItemCode.WEIGHTS, "Weights", text, True)
    return Item(ItemCode.WEIGHTS, "Weights", "None: there is no total over the groups.")


def _digests(document: Results | Study) -> str:
    if isinstance(document, Results):
        return f"Digest {document.survey}"
    return f"Digests {', '.join(f'{group.group} {group.survey}' for group in document.groups)}"


def _blocks_item(block_draws: BlockDraws | None) -> list[Item]:
    """Return the item about blocks as a list; an empty list where every device answers everything."""
    if block_draws is None:
        return []
    counts = ", ".join(
        f"{block.name} {format_count(block.n)} (expected {format_count(round(block.expected))})"
        for block in block_draws.blocks[:MOST_NAMED]
    )
    more = len(block_draws.blocks) - MOST_NAMED
    rest = f", and {more} more" if more > 0 else ""
    text = f"Each device answered one block. Devices that drew each block: {counts}{rest}."
    return [Item(ItemCode.BLOCKS, "Blocks", f"{text} Report n with each figure, and the test of the draws.")]


def list_cautions(document: Results | Study, setting: SurveyStatus) -> list[Caution]:
    """Return sentences about the limits of the intervals: multiplicity, stopping, noise and fake responses."""
    options, number = setting.options, count_intervals(document, setting)
    if options.simultaneous:
        multiplicity = (
            "Those for the answers to one question hold simultaneously, as needed to compare these answers. Those for"
            " different questions do not."
        )
    else:
        multiplicity = (
            f"Each may miss with probability {format_percent(options.alpha)}, so up to"
            f" {_format_expected_misses(options.alpha * number)} of them"
            " are expected to miss. To compare answers, choose simultaneous intervals."
        )
    closing = "Intervals assume that the decision to close the survey does not depend on its results."
    if not setting.is_final:
        closing += (
            " This survey is still open, and each interval holds for a single look. Over many looks at an open survey"
            f" (at {LOOKS[0]}, {LOOKS[1]}, … {format_count(LOOKS[-1])} reports), a true share of 20% lies outside its"
            f" 95% interval at some look in {MISSED_AT_SOME_LOOK[0]} to {MISSED_AT_SOME_LOOK[1]} of 100 surveys."
        )
    cautions = [
        Caution(
            CautionCode.SAMPLING,
            "Intervals account for who happened to be sampled, and for the randomization. They do not account for"
            " people who did not answer, who took part because of their opinions, or who answered untruthfully. If the"
            " respondents are not a random sample, only the intervals for these respondents keep their meaning.",
        ),
        Caution(
            CautionCode.TOGETHER if options.simultaneous else CautionCode.APART,
            f"{format_count(number)} intervals with a confidence of {format_percent(options.confidence)} are shown."
            f" {multiplicity}",
        ),
        Caution(CautionCode.STOPPING if setting.is_final else CautionCode.OPEN, closing),
        Caution(
            CautionCode.NOISE,
            "Noise costs precision. Each question states its effective sample size: how many reports without noise"
            " would be as informative. The design effect is n divided by it.",
        ),
        Caution(
            CautionCode.FAKES,
            f"Responses can be faked. Each question states how far {format_percent(FAKE_SHARE)} of fake responses"
            " could move a figure at most. No test can find fake responses that look like honest noise.",
        ),
    ]
    block_draws = get_block_draws(document)
    if block_draws and block_draws.verdict is DrawVerdict.SUSPICIOUS:
        cautions.append(Caution(CautionCode.BLOCKS, describe_draws(block_draws)))
    if isinstance(document, Study):
        text = "A link can be passed on: anyone who answers with a group's link counts in that group, member or not."
        cautions.append(Caution(CautionCode.GROUP_LINKS, text))
    if not setting.is_by_invitation:
        text = "Reports came without invitation codes, so it is unknown whether one person sent several."
        cautions.append(Caution(CautionCode.NO_INVITATIONS, text))
    return cautions


def _format_expected_misses(expected: float) -> str:
    return f"{expected:.0f}" if expected >= 10 else f"{expected:.1f}"
