"""Reasons why a figure cannot be computed, as codes for programs; the messages are for people."""

from enum import StrEnum


class RefusalCode(StrEnum):
    """The reasons why a cross-tab, a regression or a total cannot be computed."""

    UNKNOWN_QUESTION = "unknown_question"
    UNKNOWN_OPTION = "unknown_option"
    UNKNOWN_ANSWER = "unknown_answer"
    UNKNOWN_SURVEY = "unknown_survey"
    MISSING_ROWS = "missing_rows"
    MISSING_COLUMNS = "missing_columns"
    MISSING_OUTCOME = "missing_outcome"
    MISSING_PREDICTOR = "missing_predictor"
    MISSING_COVARIATE = "missing_covariate"
    MISSING_NUMBER = "missing_number"
    INVALID_NUMBER = "invalid_number"
    UNEXPECTED_NUMBER = "unexpected_number"
    ZERO_WEIGHTS = "zero_weights"
    REPEATED = "repeated"
    SELF_EXPLAINED = "self_explained"
    REFERENCE_ANSWER = "reference_answer"
    OPTION_WITH_QUESTION = "option_with_question"
    OPTIONS_OF_TWO_QUESTIONS = "options_of_two_questions"
    OTHER_QUESTIONS = "other_questions"
    NO_SHARES = "no_shares"
    NO_OWN_FIELD = "no_own_field"
    SEPARATE_BLOCKS = "separate_blocks"
    ONE_OPTION_EACH = "one_option_each"
    TOO_FEW_REPORTS = "too_few_reports"
    TOO_MANY_REPORTS = "too_many_reports"
    TOO_MANY_CELLS = "too_many_cells"
    TOO_MANY_PATTERNS = "too_many_patterns"
    TOO_MANY_SURVEYS = "too_many_surveys"
    SMALL_POPULATION = "small_population"
    UNDETERMINED = "undetermined"
    DIVERGING = "diverging"


class Refusal(Exception):
    """A figure cannot be computed: `code` is the reason, and the message says why and what to do."""

    def __init__(self, code: RefusalCode, message: str) -> None:
        super().__init__(code, message)
        self.code, self.message = code, message

    def __str__(self) -> str:
        return self.message
