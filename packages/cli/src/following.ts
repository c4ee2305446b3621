// Staying with a task until it ends, waits for a person, or the person leaves.
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Millwright, Task } from '@millwright/sdk';
import { saveTo } from '@millwright/sdk/node';
import { untilInterrupted } from './interrupts.js';
import { Progress } from './progress.js';
import { answerLine, ask, Waits } from './questions.js';
import { plain } from './terminal.js';

/** Exit codes by the status that a task ends in. */
const CODES: Record<string, number> = { completed: 0, failed: 1, cancelled: 4 };

/** When a task that is still queued is asked what it waits for, in milliseconds. */
const PLACE_MS = 3_000;

export interface Following {
  json: boolean;
  after?: number | 'latest';
  /** The task asks for JSON: it alone goes to standard output. */
  output?: boolean;
  /** Where the files that the agent has published go at the end. */
  out?: string | undefined;
}

export async function stay(
  client: Millwright,
  id: string,
  { json, after = 0, out, output = false }: Following,
): Promise<number> {
  const progress = new Progress(json, output ? process.stderr : process.stdout);
  const interrupted = untilInterrupted(() => {
    progress.close();
    console.error(`The task goes on. To follow it further: mw follow ${id} --from ${progress.last}`);
  });
  let queued: NodeJS.Timeout | undefined;
  const waits = () => client.tasks.get(id).then((task) => progress.waits(task), () => undefined); // prettier-ignore
  try {
    const task = await client.tasks.wait(id, {
      after,
      deltas: true,
      signal: interrupted.signal,
      onEvent: (event) => {
        clearTimeout(queued);
        progress.event(event);
        if (event.type === 'task.updated' && event.data.changed.includes('waitingFor')) void waits();
        // Of a place no event tells.
        if (event.type === 'task.created' || event.type === 'task.queued')
          queued = setTimeout(() => void waits(), PLACE_MS);
      },
      onQuestion: (question, { signal }) => {
        progress.close();
        return ask(question, signal);
      },
    });
    progress.close();
    if (output && !json && task.result !== null) console.log(JSON.stringify(task.result.output, null, 2));
    if (out !== undefined) await download(client, task, out);
    return CODES[task.status] ?? 1;
  } catch (error) {
    if (!(error instanceof Waits)) throw error;
    console.error(`? ${plain(error.question.question)}`);
    console.error(answerLine(id, error.question));
    return 3;
  } finally {
    clearTimeout(queued);
    interrupted.done();
  }
}

/** Saves what the agent has published; a file that is there already is not touched. */
export async function download(client: Millwright, { id }: Pick<Task, 'id'>, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for await (const file of client.tasks.files(id)) {
    if (file.origin !== 'task') continue;
    // The service has made a name of it that is one segment of a path.
    const path = join(folder, file.name);
    if (existsSync(path)) {
      console.error(plain(`${path} is there already.`));
      continue;
    }
    await saveTo(path, await client.files.content(file.id));
    console.error(plain(`Saved ${path}`));
  }
}
