"""The Python client, audited like a third-party one: it reads a definition and answers per line and prints a report.

It runs as a separate script, with the folder of the client as its argument, so that no other code of Candor is loaded.
"""

import json
import sys
from functools import lru_cache

if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    from candor_client import Survey, randomize

    known = lru_cache(4)(lambda text: Survey.from_json(text.encode()))
    for line in sys.stdin:
        asked = json.loads(line)
        print(randomize(known(asked["definition"]), asked["answers"]).to_json().decode(), flush=True)
