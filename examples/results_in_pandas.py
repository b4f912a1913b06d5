"""Results in pandas: fetched from a running server as tables with intervals, and a regression fitted twice.

    candor survey add examples/honesty.yaml
    candor simulate honesty --respondents 20000 --truth examples/honesty-truth.yaml
    candor serve
    candor export honesty bits.csv
    python examples/results_in_pandas.py http://127.0.0.1:8000 honesty --outcome copied --on unprepared --bits bits.csv

It needs pandas and nothing of Candor: `pip install pandas`, or `pip install 'candor-survey[spss]'`, which brings it.
Results that are not public need a token (`candor token add NAME`), in a file that --token-file names; with it the noisy
bits are fetched too, unless --bits names a file of them.
"""

import argparse
import io
import json
import pathlib
import urllib.parse
import urllib.request

import numpy as np
import pandas as pd

SHOWN_COLUMNS = ["n", "estimate", "low", "high", "coverage"]  # no estimate without its interval
FITTED_COLUMNS = ["n", "estimate", "standard_error", "low", "high"]


class Server:
    """The server of a survey, and the token for results that are not public."""

    def __init__(self, address, token=None):
        self.address = address.rstrip("/")
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}

    def get(self, path, **query):
        """Return the bytes at a path."""
        address = f"{self.address}{path}?{urllib.parse.urlencode(query, doseq=True)}"
        with urllib.request.urlopen(urllib.request.Request(address, headers=self.headers)) as reply:  # noqa: S310
            return reply.read()

    def results(self, slug):
        return json.loads(self.get(f"/api/surveys/{slug}/results"))

    def definition(self, slug):
        return json.loads(self.get(f"/api/surveys/{slug}"))

    def regression(self, slug, outcome, on):
        return json.loads(self.get(f"/api/surveys/{slug}/regression", outcome=outcome, on=on))

    def bits(self, slug):
        """Return a table with a column for each stored bit and a row for each report; needs a role in the survey."""
        return pd.read_csv(io.BytesIO(self.get(f"/results/{slug}/reports.csv")))


def table(results):
    """Return every estimate of a survey, or of all groups of a study, with a row for each option or mean."""
    rows = []
    for survey in results.get("groups", [results]):
        for part in survey["questions"]:
            for line in part["estimates"]:
                rows.append({"group": survey.get("group", ""), "question": part["id"], **line})
    if not rows:
        raise SystemExit("Nothing is shown yet: results begin at 40 reports.")
    return pd.DataFrame(rows).set_index(["group", "question", "option"])


def coefficients(regression):
    """Return the server's fit: log odds ratios with their intervals."""
    return pd.DataFrame(regression["coefficients"]).set_index("name")


def chances(definition, question):
    """Return P(1 | yes) and P(1 | no) of the one bit of a yes-or-no question, from the published integers."""
    for field in definition["fields"]:
        if field["questions"] == [question] and field["mechanism"]["kind"] == "flip":
            return int(field["mechanism"]["one"]) / 2**64, int(field["mechanism"]["zero"]) / 2**64
    raise SystemExit(f"{question} is no yes or no in a field of its own; the server's fit stands alone.")


def by_hand(definition, bits, outcome, on):
    """Return the same regression, computed from the noisy bits, for a yes or no explained by another one.

    The coins map the four true shares linearly to four reported shares: reported = mix · true. Two coefficients fit
    four cells exactly. So the maximum likelihood fit inverts this table: true = mix⁻¹ · reported, and takes its log
    odds. Standard errors follow from those of the reported shares (the delta method).
    """
    mix = np.ones((1, 1))
    for question in (outcome, on):
        p, q = chances(definition, question)
        mix = np.kron(mix, [[1 - q, 1 - p], [q, p]])  # rows: what is reported, columns: what is true
    cell_counts = bits.groupby([outcome, on]).size().reindex(pd.MultiIndex.from_product([(0, 1), (0, 1)]), fill_value=0)
    reported = cell_counts.to_numpy() / len(bits)
    true_shares = np.linalg.solve(mix, reported)
    if (true_shares <= 0).any():
        raise SystemExit("The turned-back table has a negative cell: too few reports for this regression.")
    # Cells in order (outcome, on) = 00, 01, 10, 11: log odds where `on` is no, and what a yes adds to them.
    contrast = np.array([[-1, 0, 1, 0], [1, -1, -1, 1]])
    slope = contrast / true_shares @ np.linalg.inv(mix)
    spread = (np.diag(reported) - np.outer(reported, reported)) / len(bits)
    estimate, error = contrast @ np.log(true_shares), np.sqrt(np.diag(slope @ spread @ slope.T))
    half = 1.959963984540054 * error
    columns = {"n": len(bits), "estimate": estimate, "standard_error": error, "low": estimate - half}
    return pd.DataFrame({**columns, "high": estimate + half}, index=["intercept", f"{on}: yes"])


def main():
    parser = argparse.ArgumentParser(description="Results of a survey in pandas, and a regression fitted twice.")
    parser.add_argument("server", help="such as http://127.0.0.1:8000")
    parser.add_argument("slug")
    parser.add_argument("--outcome", help="a yes or no to explain")
    parser.add_argument("--on", help="a yes or no that may explain it")
    parser.add_argument("--bits", help="what candor export wrote")
    parser.add_argument("--token-file", type=pathlib.Path)
    options = parser.parse_args()
    server = Server(options.server, options.token_file.read_text().strip() if options.token_file else None)
    pd.set_option("display.width", 120)

    print(table(server.results(options.slug))[SHOWN_COLUMNS].round(3).to_string())
    if not (options.outcome and options.on):
        return
    fitted = coefficients(server.regression(options.slug, options.outcome, options.on))
    print(f"\nlog odds of {options.outcome}, as the server fits them\n{fitted[FITTED_COLUMNS].to_string()}")
    if not (options.bits or options.token_file):
        return
    bits = pd.read_csv(options.bits) if options.bits else server.bits(options.slug)
    refitted = by_hand(server.definition(options.slug), bits, options.outcome, options.on)
    print(f"\nthe same by hand, from the noisy bits\n{refitted[FITTED_COLUMNS].to_string()}")
    print(f"\nlargest difference: {(refitted - fitted[refitted.columns]).abs().to_numpy().max():.1e}")


if __name__ == "__main__":
    main()
