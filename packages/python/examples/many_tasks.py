"""Hands over several pieces of work at once, and tells of each as it ends.

    python many_tasks.py 'echo one' 'echo two'
"""

import asyncio
import sys

from millwright import AsyncMillwright
from millwright.types import Task


async def work(client: AsyncMillwright, command: str) -> Task:
    task = await client.tasks.run({"content": f"```bash\n{command}\n```", "metadata": {"command": command}})
    print(f"{command}: {task['status']}")
    return task


async def main(commands: list[str]) -> int:
    async with AsyncMillwright() as client:
        tasks = await asyncio.gather(*(work(client, command) for command in commands))
        listed = [task["id"] async for task in client.tasks.list(status="completed")]
    return 0 if all(task["id"] in listed for task in tasks) else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
