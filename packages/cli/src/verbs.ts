import type { ListTasks, Reply, Task, TaskStatus } from '@millwright/sdk';
import { fileFrom, saveTo } from '@millwright/sdk/node';
import { client, login } from './account.js';
import { checks } from './checks.js';
import { commands } from './commands.js';
import { download, stay } from './following.js';
import { type Line, UsageError, type Verb } from './line.js';
import { listen } from './listen.js';
import { waitingLine } from './progress.js';
import { answerLine } from './questions.js';
import { contentOf, effortIn, metadataIn, numberIn, oneOf, schemaIn, taskOf } from './task-options.js';
import { mcp } from './mcp.js';
import { plain } from './terminal.js';
import { printTree } from './tree.js';
import { proof, verify } from './verify.js';

const run: Verb = {
  words: ['CONTENT|-'],
  options: {
    file: 'texts', project: 'text', agent: 'text', environment: 'text', skill: 'texts', mcp: 'texts', model: 'text', effort: 'text', approvals: 'text', 'when-blocked': 'text', 'max-steps': 'text',
    metadata: 'texts', tag: 'texts', check: 'texts', protect: 'texts', 'max-repairs': 'text', schema: 'text', 'no-web': 'switch', detach: 'switch', out: 'text',
  },
  async run(line) {
    const mw = client();
    const outputSchema = schemaIn(line.text('schema'));
    const files = await Promise.all(line.texts('file').map(fileFrom));
    const body = await taskOf(line);
    const attachments = [];
    for (const file of files) attachments.push({ uploadId: (await mw.uploads.create(file)).id });
    const task = await mw.tasks.create({ ...body, ...(outputSchema && { outputSchema }), ...(attachments.length > 0 && { attachments }) });
    if (line.has('detach')) return printTask(line, task);
    console.error(`Task ${task.id}`);
    return stay(mw, task.id, { json: line.json, out: line.text('out'), output: outputSchema !== undefined });
  },
}; // prettier-ignore

const follow: Verb = {
  words: ['TASK'],
  options: { from: 'text', out: 'text' },
  run(line) {
    const from = line.text('from') ?? '0';
    if (from !== 'latest' && !/^\d+$/.test(from)) throw new UsageError('--from takes the number of an event, or latest.');
    return stay(client(), line.word(0), { json: line.json, out: line.text('out'), after: from === 'latest' ? from : Number(from) });
  },
}; // prettier-ignore

const send: Verb = {
  words: ['TASK', 'CONTENT|-'],
  options: { mode: 'text' },
  async run(line) {
    const mode = oneOf(line, 'mode', ['queue', 'steer', 'interrupt'] as const);
    const body = { content: await contentOf(line.word(1)), ...(mode && { mode }) };
    const { message, task } = await client().tasks.send(line.word(0), body);
    console.error(`Message ${message.id}`);
    return printTask(line, task);
  },
};

const withdraw: Verb = {
  words: ['TASK', 'MESSAGE'],
  options: {},
  async run(line) {
    const gone = await client().tasks.withdraw(line.word(0), line.word(1));
    console.log(line.json ? JSON.stringify(gone) : `Withdrawn ${gone.id}`);
    return 0;
  },
};

const answer: Verb = {
  words: ['TASK'],
  options: { option: 'texts', text: 'text', approve: 'switch', deny: 'switch', reason: 'text' },
  async run(line) {
    const reply = replyIn(line);
    const mw = client();
    const { pendingInteraction } = await mw.tasks.get(line.word(0));
    if (pendingInteraction === null) throw new UsageError('The task waits for no answer.');
    return printTask(line, await mw.tasks.answer(line.word(0), { interactionId: pendingInteraction.id, ...reply }));
  },
};

const cancel: Verb = {
  words: ['TASK'],
  options: {},
  run: async (line) => printTask(line, await client().tasks.cancel(line.word(0))),
};

const pause: Verb = {
  words: ['TASK'],
  options: { until: 'text' },
  async run(line) {
    const resumeAt = line.text('until');
    return printTask(line, await client().tasks.pause(line.word(0), resumeAt === undefined ? {} : { resumeAt }));
  },
};

const resume: Verb = {
  words: ['TASK'],
  options: {},
  run: async (line) => printTask(line, await client().tasks.resume(line.word(0))),
};

const fork: Verb = {
  words: ['TASK', '[CONTENT|-]'],
  options: { turn: 'text', title: 'text', model: 'text', effort: 'text' },
  async run(line) {
    const [turn, title, model, content] = [numberIn(line, 'turn'), line.text('title'), line.text('model'), line.optionalWord(1)];
    const body = {
      ...(turn && { turn }),
      ...(title && { title }),
      ...(content !== undefined && { content: await contentOf(content) }),
      ...(model && { model }),
      ...effortIn(line),
    };
    return printTask(line, await client().tasks.fork(line.word(0), body));
  },
}; // prettier-ignore

const tasks: Verb = {
  words: [],
  options: {
    status: 'text', project: 'text', automation: 'text', tag: 'text', metadata: 'texts', query: 'text', after: 'text', before: 'text',
    archived: 'text', sort: 'text',
  },
  async run(line) {
    for await (const task of client().tasks.list(filtersIn(line))) printTask(line, task);
    return 0;
  },
}; // prettier-ignore

const archive: Verb = {
  words: ['TASK'],
  options: { undo: 'switch' },
  run: async (line) =>
    printTask(line, await client().tasks.update(line.word(0), { archived: !line.has('undo') })),
}; // prettier-ignore

const show: Verb = {
  words: ['TASK'],
  options: { tree: 'switch' },
  async run(line) {
    const mw = client();
    const task = await mw.tasks.get(line.word(0));
    if (line.has('tree')) return printTree(line, mw, task);
    printTask(line, task);
    if (line.json) return 0;
    if (task.statusReason !== null) console.log(plain(task.statusReason.message));
    if (task.waitingFor !== null) console.log(waitingLine(task.waitingFor));
    if (task.pendingInteraction !== null) {
      console.log(`? ${plain(task.pendingInteraction.question)}`);
      console.log(answerLine(task.id, task.pendingInteraction));
    }
    if (task.result?.text) console.log(process.stdout.isTTY ? plain(task.result.text) : task.result.text);
    return 0;
  },
};

const files: Verb = {
  words: ['TASK'],
  options: { out: 'text', zip: 'text' },
  async run(line) {
    const [out, zip] = [line.text('out'), line.text('zip')];
    if (out !== undefined && zip !== undefined) throw new UsageError('One of --out and --zip.');
    const mw = client();
    if (zip !== undefined) {
      await saveTo(zip, await mw.tasks.filesArchive(line.word(0)));
      console.error(`Saved ${zip}`);
    } else if (out !== undefined) await download(mw, { id: line.word(0) }, out);
    else {
      for await (const file of mw.tasks.files(line.word(0))) {
        console.log(line.json ? JSON.stringify(file) : `${file.id}  ${file.origin}  ${file.size}  ${plain(file.name)}`);
      }
    }
    return 0;
  },
};

const network: Verb = {
  words: ['TASK'],
  options: {},
  async run(line) {
    for await (const one of client().tasks.network(line.word(0))) {
      const refused = one.refused > 0 ? `  refused ${one.refused} (${one.refusedFor ?? ''})` : '';
      const counts = `${one.connections} connections  ${one.bytesIn} in  ${one.bytesOut} out${refused}`;
      console.log(line.json ? JSON.stringify(one) : `${plain(one.host)}:${one.port}  ${counts}`);
    }
    return 0;
  },
};

/** All of them, by their names. */
export const VERBS: Record<string, Verb | undefined> = {
  login: { words: [], options: { url: 'text', key: 'switch', device: 'switch' }, run: login },
  run, follow, send, withdraw, answer, cancel, pause, resume, fork, archive, tasks, show, files, checks, commands, proof, network, verify, listen, mcp,
}; // prettier-ignore

function printTask(line: Line, task: Task): number {
  console.log(line.json ? JSON.stringify(task) : `${task.id}  ${task.status}  ${plain(task.title)}`);
  return 0;
}

/** The service says what is wrong with a value that it does not take. */
function filtersIn(line: Line): ListTasks {
  const words = {
    status: line.text('status') as TaskStatus | undefined,
    projectId: line.text('project'),
    automationId: line.text('automation'),
    tag: line.text('tag'),
    q: line.text('query'),
    createdAfter: line.text('after'),
    createdBefore: line.text('before'),
    archived: oneOf(line, 'archived', ['false', 'true', 'all'] as const),
    sort: oneOf(line, 'sort', ['createdAt', 'updatedAt'] as const),
    metadata: metadataIn(line),
  };
  return Object.fromEntries(Object.entries(words).filter(([, value]) => value !== undefined));
}

function replyIn(line: Line): Reply {
  const [options, said, reason] = [line.texts('option'), line.text('text'), line.text('reason')];
  const kinds = [options.length > 0, said !== undefined, line.has('approve'), line.has('deny')];
  if (kinds.filter(Boolean).length !== 1) throw new UsageError('One of --option, --text, --approve and --deny.');
  if (options.length > 0) return { optionIds: options };
  if (said !== undefined) return { content: said };
  return { decision: line.has('approve') ? 'approve' : 'deny', ...(reason !== undefined && { reason }) };
}
