"""Answer a survey from a program that asks the questions itself: python examples/answer.py LINK"""

import sys

import candor_client

session = candor_client.open(sys.argv[1])  # checks ε and limits, takes a ticket, draws the questions of this device
for question in session.questions:
    if session.is_shown(question):  # not a follow-up that the answers so far leave out
        typed = input(f"{question.text} {' / '.join(question.labels) or 'a number'}: ")  # or your own screen
        if question.type == "yes_no":
            session.answer(question.id, typed == "yes")
        elif question.type == "multiple":
            session.answer(question.id, [label for label in question.labels if label in typed.split()])
        else:
            session.answer(question.id, typed or None)
for reviewed in session.review().answers:  # randomized, once and for all
    print(f"you: {reviewed.answer} → sent: {reviewed.sent}")
print(session.send().to_json().decode())
