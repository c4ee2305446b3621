// The second half of the demo: tasks that nobody sends. One is made by the clock, one by a signed event of GitHub.
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { sign } from '@octokit/webhooks-methods';

const POLL_MS = 200;
const RUN_SECONDS = 60;

/** `model` is the one that the demo works with; a runbook is written for `runbook`, plain words for every other one. */
export async function automations(client, service, printer, model, follow) {
  const runbook = model === 'runbook';
  printer.heading('A task at a time that was set before');
  const due = new Date(Date.now() + 2000).toISOString();
  const scheduled = await client.automations.create({
    name: 'Say what time it is',
    runAt: due,
    content: runbook ? '```bash\ndate --utc\n```' : 'Say what time it is in UTC, in one line.',
    model,
  });
  printer.line(`Made the automation ${scheduled.id}; it is due at ${due}.`);
  await showRun(client, printer, scheduled.id, null, follow);

  printer.heading('A task that a push to GitHub starts');
  const connection = await connect(service);
  printer.line(
    `Connected the workspace to GitHub; its deliveries are sent to ${connection.path}, signed with a secret.`,
  );
  const onPush = await client.automations.create({
    name: 'Look at a push',
    triggerEvent: 'github.push',
    filter: "ref == 'refs/heads/main'",
    content: runbook ? '```bash\ngrep -o \'"message": *"[^"]*"\' event.json\n```' : 'Say in one line what was pushed.',
    model,
  });
  printer.line(`Made the automation ${onPush.id}: ${onPush.triggerEvent}, when ${onPush.filter}.`);
  const body = JSON.stringify(push());
  const headers = {
    'Content-Type': 'application/json',
    'X-GitHub-Event': 'push',
    'X-GitHub-Delivery': randomUUID(),
    'X-Hub-Signature-256': await sign(connection.secret, body),
  };
  const deliver = async () => (await fetch(service.url + connection.path, { method: 'POST', headers, body })).text();
  printer.line(`Delivered a push, signed as GitHub signs it: ${await deliver()}`);
  printer.line(`The same delivery again: ${await deliver()}`);
  await showRun(client, printer, onPush.id, connection.id, follow);
  // A data folder may be used for many demos: what this one made would go on counting.
  for (const { id } of [scheduled, onPush]) await client.automations.delete(id);
}

/** A data folder that was used before is connected already; its secret was shown once, so it gets a new one. */
async function connect(service) {
  const { connections } = await service.cli('integration', 'list', '--workspace', 'demo');
  const known = connections.find((one) => one.slug === 'github' && one.userEmail === null);
  const args = known === undefined ? ['connect', 'github', '--workspace', 'demo'] : ['rotate', known.id];
  return (await service.cli('integration', ...args)).connection;
}

/** Waits for the run of an automation and follows its task to the end. */
async function showRun(client, printer, id, started, follow) {
  const began = performance.now();
  for (;;) {
    const { items } = await client.automations.runs(id).page();
    const run = items.find(({ status }) => status !== 'waiting');
    if (run !== undefined) {
      const late = Date.parse(run.createdAt) - Date.parse(run.trigger.scheduledAt ?? run.createdAt);
      const when = run.trigger.type === 'schedule' ? `, ${late} ms after it was due` : `, by ${run.trigger.event}`;
      printer.progress(null);
      printer.line(`Its run ${run.id} is ${run.status}${when}.`);
      if (run.taskId === null) throw new Error(`the run has no task: ${run.reason?.message ?? 'no reason given'}`);
      await follow(run.taskId);
      return;
    }
    if (performance.now() - began > RUN_SECONDS * 1000) throw new Error(`no run after ${RUN_SECONDS} s`);
    printer.progress('waiting for the run');
    await delay(POLL_MS);
  }
}

/** What GitHub sends of a push, shortened. Each has a commit of its own: GitHub signs no delivery id, so equal bodies are one delivery. */
function push() {
  const author = { name: 'Octocat', email: 'octocat@example.com', username: 'octocat' };
  const commit = {
    id: randomBytes(20).toString('hex'),
    message: 'Round the last cent up',
    author,
    added: [],
    removed: [],
    modified: ['split.js'],
  };
  return {
    ref: 'refs/heads/main',
    before: '0'.repeat(40),
    after: commit.id,
    repository: { id: 1, name: 'split-bill', full_name: 'octocat/split-bill', private: false },
    pusher: { name: 'octocat', email: 'octocat@example.com' },
    sender: { login: 'octocat', id: 1, type: 'User' },
    commits: [commit],
    head_commit: commit,
  };
}
