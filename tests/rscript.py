"""Find R for the test of the documented script, and install it where possible, which takes half a minute."""

import shutil

from tests.debian import install


def find_rscript() -> str | None:
    return shutil.which("Rscript")


if __name__ == "__main__":
    install("r-base-core", find_rscript, "the test of the R script")
