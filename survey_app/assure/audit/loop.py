"""The Python client, audited as a stranger would be: a definition and answers on each line, a report on each back.

It is run as a file of its own, with the folder of the client as its argument: nothing else of ours is loaded.
"""

import json
import sys
from functools import lru_cache

if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    from client import Survey, randomize

    known = lru_cache(4)(lambda text: Survey.from_json(text.encode()))
    for line in sys.stdin:
        asked = json.loads(line)
        print(randomize(known(asked["definition"]), asked["answers"]).to_json().decode(), flush=True)
