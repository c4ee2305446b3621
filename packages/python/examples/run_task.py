"""Hands work over, answers what is asked, and keeps the outcome.

    python run_task.py ../../../examples/sort-names.md ../../../examples/names.txt sorted.txt
"""

import sys
from pathlib import Path

from millwright import Millwright
from millwright.types import Interaction, Reply, Task


def ask(question: Interaction, task: Task) -> Reply | None:
    print(f"{task['title']}: {question['question']}")
    options = question["options"]
    # A question without options is left to somebody else.
    return {"optionIds": [options[0]["id"]]} if options else None


def main(content: str, attachment: str, out: str) -> int:
    with Millwright() as client:
        upload = client.uploads.create(attachment)
        task = client.tasks.run(
            {"content": Path(content).read_text("utf-8"), "attachments": [{"uploadId": upload["id"]}]},
            on_event=lambda event: print(event["seq"], event["type"]),
            on_question=ask,
        )
        print(task["status"])
        result = task["result"]
        if result is None or not result["fileIds"]:
            return 1
        client.files.content(result["fileIds"][0]).save(out, overwrite=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
