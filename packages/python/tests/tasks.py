"""Work for the model `runbook`, which does what is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
NAMES = ROOT / "examples" / "names.txt"
SORT = (ROOT / "examples" / "sort-names.md").read_text("utf-8")
"""It asks which way to sort the attachment, and publishes the outcome."""


def runbook(*commands: str) -> str:
    return "\n".join(f"```bash\n{command}\n```" for command in commands)


def first_option(question: Any, _task: Any) -> Any:
    return {"optionIds": [question["options"][0]["id"]]}
