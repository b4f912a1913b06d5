"""Ten survey files of 3 to 12 mixed questions, with every type, mechanism and `ask`, filters and pairs."""

YES = "- {id: %s, type: yes_no, text: Did you?}"
CHEATED = YES % "cheated"
WHY = "- {id: why, type: choice, text: Why?, options: [time, fear], show_if: {question: cheated, is: [yes]}}"
WHO = "- {id: who, type: choice, text: Who?, options: [a, b, c, d], show_if: {question: cheated, is: [yes]}}"
FAIR = "- {id: fair, type: scale, text: It was fair., points: [no, hardly, so so, quite, yes]}"
RATE = "- {id: rate, type: scale, text: It was fair., points: [no, so so, yes], scores: [-1, 0, 1], optional: true}"
HELP = "- {id: help, type: choice, text: What helped?, options: [notes, phone, friend]}"
AID = "- {id: aid, type: choice, text: What helped?, options: [notes, phone, friend], optional: true}"
TOWN = "- {id: town, type: choice, text: Where?, options: [a, b, c, d, e, f, g, h, i, j]}"
USED = "- {id: used, type: multiple, text: Which?, options: [notes, phone, friend, none]}"
DONE = "- {id: done, type: multiple, text: Which?, options: [a, b, c, d, e, f], optional: true}"
HOURS = "- {id: hours, type: number, text: How long?, min: 0, max: 60}"
AGE = "- {id: age, type: number, text: How old?, min: 18, max: 97, bins: 5}"
SPENT = "- {id: spent, type: number, text: How much?, min: 0, max: 500, step: 10, mechanism: laplace}"
COIN = "- {id: coin, type: yes_no, text: Did you?, design: coin}"


def _file(epsilon: float, ask: str, *questions: str, joint: str = "") -> str:
    joint_line = f"joint: [{joint}]\n" if joint else ""
    return (
        f"slug: s\ntitle: S\nepsilon: {epsilon:g}\nask: {ask}\n{joint_line}questions:\n" + "\n".join(questions) + "\n"
    )


FILES = {
    "three yes or no": _file(3, "auto", *(YES % f"q{i}" for i in range(3))),
    "three mixed": _file(1, "auto", CHEATED, FAIR, HOURS),
    "a pair and a follow-up": _file(2, "auto", CHEATED, YES % "stress", WHY, HELP, joint="[cheated, stress]"),
    "a tree in one block": _file(4, "one", CHEATED, WHO, FAIR, HOURS, joint="[cheated, who]"),
    "six mixed": _file(2, "auto", CHEATED, WHO, FAIR, USED, HOURS, AID),
    "all may be left out": _file(3, "auto", RATE, AID, DONE, YES % "stress", AGE),
    "everything split": _file(8, "all", COIN, HELP, FAIR, USED, HOURS),
    "fixed mechanisms": _file(2, "one", COIN, SPENT, TOWN, AGE, HOURS, HELP),
    "nine yes or no": _file(4, "auto", *(YES % f"q{i}" for i in range(9))),
    "twelve mixed": _file(4, "auto", CHEATED, WHY, FAIR, RATE, HELP, AID, TOWN, USED, DONE, HOURS, AGE, YES % "stress"),
}
