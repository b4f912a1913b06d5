"""The whole idea in one file, for a lecture: each comment names the modules of Candor that do the step for real.

python minimal.py serves a form at http://127.0.0.1:5000/ and its results at /results; respond() answers by a program.
"""

import secrets
from contextlib import closing
from urllib.request import Request, urlopen

import jinja2
import numpy as np
from flask import Flask, abort, request
from sqlite_utils import Database

QUESTION = "Did you copy in the last exam?"
KEEP = 192  # of 256 coins keep an answer; survey_app/authoring/mechanism_choice.py derives such integers from ε
P, Q = KEEP / 256, 1 - KEEP / 256  # P(1 | yes) and P(1 | no), so ε = ln(P / Q) = ln 3; candor_client.verify checks it


# 1. The respondent's device: integers and the system's randomness, as in client/candor_client/mechanisms/flip.py.
#    Two reports would cost 2ε: candor_client.ledger sends the first one again, a ticket allows one an invitation.
def randomize(answer: bool) -> int:
    return int(answer if secrets.randbelow(256) < KEEP else not answer)


def respond(server: str, answer: bool) -> None:  # client/candor_client/respond.py
    bit = randomize(answer)
    urlopen(Request(f"{server}/reports", b'{"bit": %d}' % bit, {"Content-Type": "application/json"})).close()  # noqa: S310


FORM = """<!doctype html><html lang="en"><title>A question</title><h1>{{ question }}</h1>
<button value="1">Yes</button> <button value="0">No</button> <p role="status">Your device flips a coin first.</p>
<script type="module">  // client/js/ flips, static/form/ asks; without scripts these buttons send nothing
const buttons = document.querySelectorAll("button"), headers = { "Content-Type": "application/json" };
for (const button of buttons) button.onclick = async () => {
  for (const each of buttons) each.disabled = true;
  const truth = +button.value, bit = crypto.getRandomValues(new Uint8Array(1))[0] < {{ keep }} ? truth : 1 - truth;
  const reply = await fetch("/reports", { method: "POST", headers, body: JSON.stringify({ bit }) });
  document.querySelector("p").textContent = reply.ok ? `Sent: ${bit ? "yes" : "no"}.` : "Nothing was stored.";
};</script>"""
RESULTS = """<!doctype html><html lang="en"><title>Results</title><h1>{{ question }}</h1><p>{{ ones }} of {{ n }}
reports say yes. {{ "Corrected for the noise: {:.1%}, 95% interval {:.1%} to {:.1%}".format(*shares) if n }}"""


# 2. The researcher: a share x of yes makes a share P·x + Q·(1 − x) of ones; survey_app/estimate/ solves it.
#    Hoeffding's interval holds for every x and every number of reports; survey_app/estimate/intervals.py has narrower.
def estimate(ones: int, n: int) -> list[float]:  # the share, and the ends of its 95% interval
    half = np.sqrt(np.log(2 / 0.05) / (2 * n))
    return [float(x) for x in np.clip((ones / n + np.array([0, -half, half]) - Q) / (P - Q), 0, 1)]


# 3. The server: noisy bits without time or order. One question takes two counts; survey_app/store/ keeps whole reports.
def create_app(path: str) -> Flask:
    app, page = Flask(__name__), jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined).from_string
    with closing(Database(path)) as db:
        db.table("bits").insert_all([{"bit": bit, "n": 0} for bit in (0, 1)], pk="bit", ignore=True)

    @app.get("/")  # survey_app/web/form/ and templates/
    def form() -> str:
        return page(FORM).render(question=QUESTION, keep=KEEP)

    @app.post("/reports")  # survey_app/collect/
    def store() -> tuple[dict[str, str], int]:
        if (report := request.get_json()) not in ({"bit": 0}, {"bit": 1}):
            abort(400)
        with closing(Database(path)) as db, db.conn:
            db.execute("update bits set n = n + 1 where bit = ?", [report["bit"]])
        return {"status": "stored"}, 201

    @app.get("/results")  # survey_app/results/; survey_app/store/steps.py shows reports in steps of twenty
    def results() -> str:
        with closing(Database(path)) as db:
            n, ones = db.execute("select sum(n), sum(bit * n) from bits").fetchone()
        return page(RESULTS).render(question=QUESTION, n=n, ones=ones, shares=estimate(ones, n) if n else None)

    return app


if __name__ == "__main__":
    create_app("minimal.db").run()
