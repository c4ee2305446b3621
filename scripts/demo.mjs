// npm run demo: the whole service in one command. It boots on the embedded default, works as a client over HTTP and shows
// everything that it does; `-- --once` ends afterwards instead of serving on.
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { answer } from './demo-answer.mjs';
import { Client } from './demo-client.mjs';
import { Service } from './demo-service.mjs';
import { Printer } from './demo-view.mjs';
import { ROOT, SetupError, loadDotEnv, main, prepare } from './setup.mjs';
import { tarGz } from './tar.mjs';

const POLL_MS = 250;
const FINAL = ['completed', 'failed', 'cancelled'];
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

async function demo(service, printer, { dataDir, outDir, ask, servesOn }) {
  printer.heading('Starting the service');
  await service.start({ DATA_DIR: dataDir }, (text) => printer.progress(text));
  printer.line(`It answers at ${service.url}; its data lie in ${dataDir}, its log in ${service.logPath}.`);

  printer.heading('A workspace, a user and a key, by the operator command');
  const key = await makeKey(service, printer);
  const client = new Client(service.url, key);
  service.exited.then((reason) => client.abort(new Error(`the service ended: ${reason}`)));

  printer.heading('A task');
  const { models } = await client.get('/v1/models');
  const model = models.find((candidate) => candidate.default) ?? models[0];
  const { upload } = await client.upload(
    'split-bill.tar.gz',
    'application/gzip',
    tarGz(join(EXAMPLES, 'split-bill'), 'split-bill'),
  );
  printer.line(`Uploaded ${upload.name}, ${upload.size} bytes: examples/split-bill, a repository with a failing test.`);
  const input = model.id === 'runbook' ? 'fix-failing-test.md' : 'fix-failing-test.problem.md';
  const limitSeconds = model.id === 'runbook' ? 180 : 1500;
  const { task } = await client.post('/v1/tasks', randomUUID(), {
    content: readFileSync(join(EXAMPLES, input), 'utf8'),
    attachments: [{ uploadId: upload.id }],
    model: model.id,
    budget: { maxSteps: 80, maxDurationSeconds: limitSeconds },
  });
  printer.line(`Started ${task.id} from examples/${input}, with the model ${model.id}.`);

  printer.heading('The conversation');
  const finished = await follow(client, printer, task.id, { ask, limitSeconds });
  await download(client, printer, finished, outDir);
  if (finished.status !== 'completed') {
    throw new Error(`the task ended as ${finished.status}: ${finished.statusReason?.message ?? 'no reason given'}`);
  }
  // Not before: it imports a package, and in a fresh clone there was none when this program began.
  const { automations } = await import('./demo-automations.mjs');
  await automations(client, service, printer, model.id, async (taskId) => {
    const { status, statusReason } = await follow(client, printer, taskId, { ask, limitSeconds });
    if (status !== 'completed')
      throw new Error(`the task ended as ${status}: ${statusReason?.message ?? 'no reason given'}`);
  });
  // With --once nobody would answer.
  if (servesOn) printTry(printer, service.url, key, task.id);
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
    return key.secret;
  } catch (error) {
    throw new Error([...made, error.message].join('\n'), { cause: error });
  }
}

/** Prints what happens until the task is final, and answers what it asks. Resolves with the task. */
async function follow(client, printer, taskId, { ask, limitSeconds }) {
  const started = performance.now();
  printer.lastComplete = null;
  for (;;) {
    // The task first: what it had said when it was final is then in the messages that are read after it.
    const { task } = await client.get(`/v1/tasks/${taskId}`);
    await printNew(client, printer, taskId);
    if (FINAL.includes(task.status)) {
      printer.progress(null);
      printer.line(`The task is ${task.status}: ${task.usage.steps} steps, ${task.usage.toolCalls} tool calls.`);
      return task;
    }
    // The budget ends a task in time, waiting for a person excluded; this is for a service that does not keep to it.
    const limit = limitSeconds + 60;
    if (performance.now() - started > limit * 1000) throw new Error(`the task was not finished after ${limit} s`);
    if (task.pendingInteraction !== null) {
      const body = await answer(printer, task.pendingInteraction, ask);
      await client.post(`/v1/tasks/${taskId}/interaction`, randomUUID(), body);
    }
    const seconds = Math.round((performance.now() - started) / 1000);
    printer.progress(`${task.status} · ${seconds} s · ${task.usage.steps} steps · ${task.usage.toolCalls} tool calls`);
    await client.pause(POLL_MS);
  }
}

async function printNew(client, printer, taskId) {
  for (;;) {
    const after = printer.lastComplete === null ? '' : `&after=${printer.lastComplete}`;
    const page = await client.get(`/v1/tasks/${taskId}/messages?limit=100${after}`);
    const before = printer.lastComplete;
    for (const message of page.messages) printer.message(message);
    if (page.nextCursor === null || printer.lastComplete === before) return;
  }
}

async function download(client, printer, task, outDir) {
  const fileIds = task.result?.fileIds ?? [];
  if (fileIds.length === 0) return;
  printer.heading('What it published');
  for (const id of fileIds) {
    const { file } = await client.get(`/v1/files/${id}`);
    const content = await client.bytes(`/v1/files/${id}/content`);
    const path = join(outDir, basename(file.name));
    writeFileSync(path, content);
    printer.line(`${path} (${content.length} bytes)`);
    if (file.name.endsWith('.patch')) printer.block(content.toString('utf8'));
  }
}

function printTry(printer, url, key, taskId) {
  printer.heading('Try it yourself');
  printer.line(`curl -s -H 'Authorization: Bearer ${key}' ${url}/v1/tasks/${taskId}`);
  printer.line('');
}
