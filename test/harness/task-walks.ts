// What walks through the page of a task begin with.
import { readFile } from 'node:fs/promises';
import type { Download } from 'playwright-core';
import { bootWorker, type TestApp } from './app.js';
import type { HeldModel } from './held-model.js';

/** A runbook that asks which word it is, and publishes a patch with it. */
export const PATCHES = `
\`\`\`ask
Which word?

- one: The first
- two: The second
\`\`\`

\`\`\`bash
printf -- '--- a/word\\n+++ b/word\\n@@ -1 +1 @@\\n-old\\n+%s\\n' "$ANSWER" > word.patch
\`\`\`

\`\`\`publish path=word.patch
\`\`\`
`;
/** What it publishes for the second answer. */
export const PATCH = '--- a/word\n+++ b/word\n@@ -1 +1 @@\n-old\n+two\n';

/** A service whose model `scripted` answers when the test says so, and whose `runbook` does what it is told. */
export function bootWithModels(model: HeldModel): Promise<TestApp> {
  return bootWorker({
    env: { OPENAI_COMPATIBLE_URL: model.server.url },
    config: {
      models: [
        { id: 'scripted', provider: 'openai-compatible' },
        { id: 'runbook', provider: 'runbook' },
      ],
    },
  });
}

/** What the browser has saved. */
export async function textOf(download: Download): Promise<string> {
  return readFile(await download.path(), 'utf8');
}

/** Puts so many sentences of the agent behind what a task has, `Sentence 1` first. */
export async function addMessages(service: TestApp, taskId: string, count: number): Promise<void> {
  await service.db.query(
    `WITH t AS (SELECT id, last_seq FROM tasks WHERE id = $1)
     INSERT INTO messages (id, task_id, seq, read_seq, turn, role, status, parts, created_at)
     SELECT gen_random_uuid(), t.id, t.last_seq + n, t.last_seq + n, 1, 'assistant', 'complete',
       jsonb_build_array(jsonb_build_object('type', 'text', 'text', 'Sentence ' || n)), now() + n * interval '1 ms'
     FROM t, generate_series(1, $2::int) n`,
    [taskId, count],
  );
}
