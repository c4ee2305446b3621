// npm run demo: the whole service in one command. It boots on the embedded default, works as a client over HTTP and shows
// everything that it does; `-- --once` ends afterwards instead of serving on.
import { File } from 'node:buffer';
import { mkdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { answer } from './demo-answer.mjs';
import { Service } from './demo-service.mjs';
import { Printer } from './demo-view.mjs';
import { ROOT, SetupError, loadDotEnv, main, prepare } from './setup.mjs';
import { tarGz } from './tar.mjs';

const TICK_MS = 250;
const EXAMPLES = join(ROOT, 'examples');

class Stopped extends Error {}

await main(async () => {
  const { values } = parseArgs({ options: { once: { type: 'boolean', default: false } } });
  // `npm run demo --once`, without the two dashes between: npm takes it for an option of its own.
  if (process.env.npm_config_once) values.once = true;
  const started = performance.now();
  await prepare();
  loadDotEnv();
  const dataDir = resolve(ROOT, process.env.DATA_DIR || '.data');
  // Not in DATA_DIR: that folder is the service's to make, with the access that its database and sandbox need.
  const outDir = join(ROOT, 'demo-output');
  mkdirSync(outDir, { recursive: true });
  const service = new Service(join(outDir, 'service.log'));
  const stopped = stopOnSignal(service);
  const printer = new Printer(process.stdout);
  try {
    await Promise.race([
      demo(service, printer, { dataDir, outDir, ask: !values.once && process.stdin.isTTY, servesOn: !values.once }),
      stopped,
    ]);
  } catch (error) {
    printer.progress(null);
    await service.stop();
    if (error instanceof Stopped) process.exit(130);
    throw new SetupError(`\nThe demo failed: ${error.message}\n\n${service.tail()}`);
  }
  printer.line(`The demo took ${((performance.now() - started) / 1000).toFixed(1)} s.`);
  if (!values.once) {
    printer.line('Serving on. Ctrl-C stops everything.');
    const reason = await Promise.race([service.exited, stopped.catch(() => null)]);
    if (reason !== null) throw new SetupError(`The service ended: ${reason}.\n\n${service.tail()}`);
  }
  await service.stop();
  process.exit(0);
});

function stopOnSignal(service) {
  return new Promise((_, reject) => {
    let asked = false;
    const onSignal = () => {
      if (asked) service.kill();
      asked = true;
      reject(new Stopped('stopped'));
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, onSignal);
  });
}

async function demo(service, printer, { dataDir, ...options }) {
  printer.heading('Starting the service');
  await service.start({ DATA_DIR: dataDir }, (text) => printer.progress(text));
  printer.line(`It answers at ${service.url}; its data lie in ${dataDir}, its log in ${service.logPath}.`);
  const ended = service.exited.then((reason) => {
    throw new Error(`the service ended: ${reason}`);
  });
  await Promise.race([show(service, printer, options), ended]);
}

async function show(service, printer, { outDir, ask, servesOn }) {
  // Not before: these are packages, and in a fresh clone there were none when this program began.
  const { Millwright } = await import('@millwright/sdk');
  const { automations } = await import('./demo-automations.mjs');

  printer.heading('A workspace, a user and a key, by the operator command');
  const key = await makeKey(service, printer);
  const client = new Millwright({ apiKey: key.secret, baseUrl: service.url });

  printer.heading('A task');
  const models = await client.models.list();
  const model = models.find((candidate) => candidate.default) ?? models[0];
  const archive = tarGz(join(EXAMPLES, 'split-bill'), 'split-bill');
  const upload = await client.uploads.create(new File([archive], 'split-bill.tar.gz', { type: 'application/gzip' }));
  printer.line(`Uploaded ${upload.name}, ${upload.size} bytes: examples/split-bill, a repository with a failing test.`);
  const input = model.id === 'runbook' ? 'fix-failing-test.md' : 'fix-failing-test.problem.md';
  const limitSeconds = model.id === 'runbook' ? 180 : 1500;
  const { id } = await client.tasks.create({
    content: readFileSync(join(EXAMPLES, input), 'utf8'),
    attachments: [{ uploadId: upload.id }],
    model: model.id,
    budget: { maxSteps: 80, maxDurationSeconds: limitSeconds },
  });
  printer.line(`Started ${id} from examples/${input}, with the model ${model.id}.`);

  printer.heading('The conversation');
  const finished = await follow(client, printer, id, { ask, limitSeconds });
  await download(client, printer, finished, outDir);
  mustBeCompleted(finished);
  await automations(client, service, printer, model.id, async (taskId) => {
    mustBeCompleted(await follow(client, printer, taskId, { ask, limitSeconds }));
  });
  // With --once nobody would answer.
  if (servesOn) {
    printTry(printer, service.url, key.secret, id);
    await printConsole(service, printer, key.id);
    printer.line('');
  }
}

function mustBeCompleted({ status, statusReason }) {
  if (status !== 'completed')
    throw new Error(`the task ended as ${status}: ${statusReason?.message ?? 'no reason given'}`);
}

/** A data folder that was used before has the workspace and the user already: then only the key is new. */
async function makeKey(service, printer) {
  const { workspaces } = await service.cli('workspace', 'list');
  const made = [];
  if (!workspaces.some((workspace) => workspace.slug === 'demo')) {
    await service.cli('workspace', 'create', '--name', 'Demo', '--slug', 'demo');
  }
  for (const command of [
    ['user', 'create', '--email', 'demo@localhost', '--name', 'Demo'],
    ['member', 'add', '--workspace', 'demo', '--user', 'demo@localhost', '--role', 'owner'],
  ]) {
    // They fail when they were done before; should they fail for another reason, the next command fails too and says so.
    await service.cli(...command).catch((error) => made.push(error.message));
  }
  try {
    const name = `demo ${new Date().toISOString().slice(0, 16)}`;
    const who = ['--workspace', 'demo', '--user', 'demo@localhost'];
    const { key } = await service.cli('key', 'create', ...who, '--name', name, '--expires', '30d');
    printer.line(`Workspace demo, user demo@localhost, key ${key.prefix}… (for 30 days).`);
    return key;
  } catch (error) {
    throw new Error([...made, error.message].join('\n'), { cause: error });
  }
}

/** Prints what happens while it happens, and answers what the task asks. Resolves with the task once its status is final. */
async function follow(client, printer, taskId, { ask, limitSeconds }) {
  const { Transcript } = await import('@millwright/cli');
  const started = performance.now();
  const seconds = () => Math.round((performance.now() - started) / 1000);
  // The budget ends a task in time, waiting for a person excluded; this is for a service that does not keep to it.
  const limit = limitSeconds + 60;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error(`the task was not finished after ${limit} s`)), limit * 1000);
  let asking = false;
  const tick = () => asking || printer.progress(`${printer.state} · ${seconds()} s`);
  const ticking = setInterval(tick, TICK_MS);
  printer.begin(new Transcript());
  try {
    const task = await client.tasks.wait(taskId, {
      deltas: true,
      signal: late.signal,
      onEvent: (event) => printer.event(event),
      onQuestion: async (question, { signal }) => {
        asking = true;
        return answer(printer, question, ask, signal).finally(() => (asking = false));
      },
    });
    printer.line(`The task is ${task.status}: ${task.usage.steps} steps, ${task.usage.toolCalls} tool calls.`);
    return task;
  } finally {
    clearTimeout(timer);
    clearInterval(ticking);
    printer.progress(null);
  }
}

async function download(client, printer, task, outDir) {
  const { saveTo } = await import('@millwright/sdk/node');
  const fileIds = task.result?.fileIds ?? [];
  if (fileIds.length === 0) return;
  printer.heading('What it published');
  for (const id of fileIds) {
    const file = await client.files.get(id);
    const path = join(outDir, basename(file.name));
    await saveTo(path, await client.files.content(id), 'w');
    printer.line(`${path} (${file.size} bytes)`);
    if (file.name.endsWith('.patch')) printer.block(readFileSync(path, 'utf8'));
  }
}

/** The code is made last: it is good for ten minutes. */
async function printConsole(service, printer, keyId) {
  if (process.env.CONSOLE === 'off') return;
  const { url } = await service.cli('console', 'link', '--key', keyId);
  printer.heading('Look at it in a browser');
  printer.line(url);
  printer.line('This logs in once, within ten minutes. Later, log in there with the key above.');
}

function printTry(printer, url, key, taskId) {
  printer.heading('Try it yourself');
  printer.line(`export MILLWRIGHT_URL=${url} MILLWRIGHT_API_KEY=${key}`);
  printer.line(`npx mw follow ${taskId}`);
  printer.line(
    `curl -N -H "Authorization: Bearer $MILLWRIGHT_API_KEY" -H 'Accept: text/event-stream' "$MILLWRIGHT_URL/v1/tasks/${taskId}/events?until=final"`,
  );
}
