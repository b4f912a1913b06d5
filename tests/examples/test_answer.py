"""The app in 20 lines: it asks what its device has drawn, shows what each answer became, and sends it."""

import json
import os
import subprocess
import sys
from pathlib import Path

from candor_client.report import from_base64url, unpack
from survey_app.authoring import build
from tests.examples.studies import FOLDER, ROOT
from tests.scripted_server import Server

FILE = FOLDER / "answer.py"
SURVEY = build(b"""
slug: exam
title: Exam honesty
epsilon: 2
ask: one
questions:
  - {id: cheated, type: yes_no, text: Did you copy?}
  - {id: helped, type: yes_no, text: Did you help?}
  - {id: used, type: multiple, text: Which of these?, options: [notes, phone, neighbour]}
""").survey
TYPED = {"Did you copy?": "no", "Did you help?": "yes", "Which of these?": "notes phone"}


def test_it_answers_with_nothing_but_the_client(server: Server, tmp_path: Path) -> None:
    server.define(SURVEY.source)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "client"), "CANDOR_LEDGER": str(tmp_path / "ledger.json")}
    with subprocess.Popen(
        [sys.executable, "-S", FILE, f"{server.origin}/s/exam"], env=environment, cwd=tmp_path, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdin and process.stdout
        prompt = ""
        while not prompt.endswith(": "):
            prompt += process.stdout.read(1)
        (typed,) = (answer for text, answer in TYPED.items() if prompt.startswith(text))
        output, _ = process.communicate(f"{typed}\n")
    assert process.returncode == 0
    shown, receipt = output.splitlines()
    assert shown.startswith("you: ") and " → sent: " in shown
    (body,) = server.bodies
    assert json.loads(receipt)["status"] == "stored"
    bits = unpack(SURVEY, from_base64url(json.loads(body)["bits"]))
    (field,) = (field for field, part in zip(SURVEY.fields, bits, strict=True) if part is not None)
    assert field.questions[0].text == prompt.partition("?")[0] + "?"


def test_it_is_as_short_as_the_docs_say() -> None:
    assert len(FILE.read_text().splitlines()) <= 20
    assert "(answer.py)" in (FOLDER / "README.md").read_text()
