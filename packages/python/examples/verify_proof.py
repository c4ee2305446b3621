"""Says whether a proof holds that a task has published, with the patch that it is of.

    python verify_proof.py proof.json changes.patch https://millwright.example.com
    python verify_proof.py proof.json changes.patch keys.json
"""

import sys
from pathlib import Path

from millwright import ProofError, verify_proof


def main(proof: str, patch: str, trusted: str) -> int:
    text, changes = Path(proof).read_bytes(), Path(patch).read_bytes()
    try:
        if trusted.startswith(("http://", "https://")):
            proven = verify_proof(text, patch=changes, origin=trusted)
        else:
            proven = verify_proof(text, patch=changes, keys=Path(trusted).read_bytes())
    except ProofError as error:
        print(error)
        return 1
    print(proven.summary)
    return 0 if proven.statement["predicate"]["result"] == "PASSED" else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
