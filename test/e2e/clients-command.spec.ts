import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Interaction, unwrap } from '@millwright/sdk';
import { helpOf } from '../../packages/cli/src/help.js';
import { replyOf } from '../../packages/cli/src/questions.js';
import { VERBS } from '../../packages/cli/src/verbs.js';
import { SECRETS } from '../../packages/cli/src/secrets.js';
import { PARTS } from '../../packages/cli/src/webhooks.js';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { Command } from '../harness/command.js';
import { createTask, finished, reaches, readMessages, RUNBOOK } from '../harness/tasks.js';
import { freePort } from '../harness/ports.js';
import { until } from '../harness/until.js';
import { slowIt } from '../harness/slow.js';

const MW = fileURLToPath(new URL('../../packages/cli/bin.js', import.meta.url));
const MILLWRIGHT = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

const ECHO = '```bash\necho a word\n```';
const HELD = '```bash\nsleep 1000\n```';

describe('The command (reference §19)', () => {
  let member: Member;
  const service = useService(bootWorker);
  const folder = mkdtempSync(join(tmpdir(), 'millwright-command-'));
  const running: ChildProcess[] = [];
  beforeAll(async () => {
    member = await makeMember(service);
  });
  afterEach(() => {
    for (const child of running.splice(0)) child.kill('SIGKILL');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const env = () => ({ MILLWRIGHT_URL: service.url, MILLWRIGHT_API_KEY: member.key.secret });
  const start = (args: string[], more: Record<string, string> = env(), program = [process.execPath, MW]) => {
    const [file = '', ...words] = [...program, ...args];
    const base = { PATH: process.env['PATH'] ?? '', HOME: folder };
    const command = new Command(spawn(file, words, { cwd: folder, env: { ...base, ...more } }));
    running.push(command.child);
    return command;
  };
  const mw = async (args: string[], input = '', more?: Record<string, string>, program?: string[]) => {
    const command = start(args, more, program);
    command.child.stdin?.end(input);
    const code = await command.code();
    return { code, out: command.out, err: command.err };
  };

  it('runs a task from standard input, prints its answer on standard output and the rest beside it', async () => {
    const { code, out, err } = await mw(['run', '-', '--metadata', 'by=hand'], ECHO);
    expect([code, out.includes('a word'), err]).toEqual([0, true, expect.stringContaining('● completed')]);
    const [, id = ''] = /^Task (\S+)/.exec(err) ?? [];
    const { body } = await member.client.get<{ task: { metadata: unknown } }>(`/v1/tasks/${id}`);
    expect(body.task.metadata).toEqual({ by: 'hand' });
  });

  it('prints nothing but the JSON that a schema asks for', async () => {
    writeFileSync(join(folder, 'schema.json'), '{"type": "object", "required": ["n"]}');
    const answer = '```bash\necho \'{"n": 1.5}\'\n```\n\n```output\n```';
    const { code, out, err } = await mw(['run', answer, '--schema', 'schema.json']);
    expect([code, JSON.parse(out)]).toEqual([0, { n: 1.5 }]);
    expect(err).toContain('The runbook is finished');
    const unfit = await mw(['run', ECHO, '--schema', 'schema.json']);
    expect([unfit.code, unfit.out]).toEqual([1, '']);
    writeFileSync(join(folder, 'schema.json'), '{"type"');
    expect(await mw(['run', answer, '--schema', 'schema.json'])).toMatchObject({ code: 2, out: '' });
  });

  it('says what a task waits for', async () => {
    const { id } = await createTask(member.client, { content: HELD });
    const wait = { code: 'model', message: 'It has not begun.\u202e', since: new Date().toISOString() };
    await reaches(member.client, id, 'running');
    await service.db.query('UPDATE tasks SET waiting_for = $2 WHERE id = $1', [id, wait]);
    expect((await mw(['show', id])).out).toContain('… waiting for model: It has not begun.\n');
    const follow = start(['follow', id]);
    await until('the wait to be told', () => follow.err.includes('… waiting for model: It has not begun.'));
    await member.client.post(`/v1/tasks/${id}/cancel`);
    expect(await follow.code()).toBe(4);
  });

  it('`millwright` of the service hands these verbs to it', async () => {
    const { code, out } = await mw(['run', ECHO, '--json'], '', env(), [process.execPath, MILLWRIGHT]);
    const events = out.trimEnd().split('\n').map((line) => JSON.parse(line) as { seq: number; type: string }); // prettier-ignore
    expect([code, events.at(-1)?.type]).toEqual([0, 'task.completed']);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  });

  it('without a terminal it ends at a question with 3 and the line that answers; then follow takes the files', async () => {
    writeFileSync(join(folder, 'names.txt'), 'b\na\n');
    const { code, err } = await mw(['run', '-', '--file', 'names.txt'], RUNBOOK);
    const [, id = ''] = /mw answer (\S+) --option sort\|tac/.exec(err) ?? [];
    expect([code, id]).toEqual([3, expect.any(String)]);
    expect((await mw(['show', id])).out).toContain('? Which order?');
    expect((await mw(['answer', id, '--option', 'sort'])).code).toBe(0);
    expect((await mw(['follow', id, '--out', 'results'])).code).toBe(0);
    expect(readFileSync(join(folder, 'results', 'sorted.txt'), 'utf8')).toBe('a\nb\n');
    expect((await mw(['files', id])).out).toMatch(/task .*sorted\.txt\n.*attachment .*names\.txt/);
    expect((await mw(['files', id, '--zip', 'all.zip'])).err).toBe('Saved all.zip\n');
    expect(execFileSync('unzip', ['-Z1', 'all.zip'], { cwd: folder, encoding: 'utf8' })).toBe(
      'attachments/names.txt\nsorted.txt\n',
    );
    const [, message = ''] = /^Message (\S+)/.exec((await mw(['send', id, 'Thank you.'])).err) ?? [];
    await finished(member.client, id);
    const late = await mw(['withdraw', id, message]);
    expect([late.code, late.err]).toEqual([5, expect.stringContaining('part of the conversation')]);
  });

  slowIt('lists tasks by its filters; archive takes one out of the list', async () => {
    const made = await mw(['run', 'Count the sheep', '--detach', '--tag', 'wool', '--metadata', 'herd=1']);
    const [id = ''] = made.out.split(' ');
    const asked = ['tasks', '--tag', 'wool', '--metadata', 'herd=1', '--query', 'shee', '--status', 'queued,running,completed'];
    expect((await mw(asked)).out).toContain(id);
    expect((await mw(['archive', id])).code).toBe(0);
    expect(await mw(asked)).toMatchObject({ code: 0, out: '' });
    expect((await mw([...asked, '--archived', 'true', '--sort', 'updatedAt'])).out).toContain(id);
  }); // prettier-ignore

  describe('on a terminal', () => {
    /** script(1) of util-linux makes it. The content comes from a file: the line is the shell's. */
    const onTerminal = (content: string, options = '') => {
      writeFileSync(join(folder, 'content.md'), content);
      const line = `${process.execPath} ${MW} run "$(cat content.md)" ${options}`;
      return start([line, '/dev/null'], { ...env(), SHELL: '/bin/sh' }, ['script', '-qfec']);
    };
    const shows = (command: Command, what: string) => until(what, () => command.out.includes(what));
    const idIn = (command: Command) => /Task (\S+)/.exec(command.out)?.[1] ?? '';
    const task = async (command: Command) => {
      const { body } = await member.client.get<{ task: { status: string } }>(`/v1/tasks/${idIn(command)}`);
      return body.task;
    };

    it('it asks in place, again when the answer does not fit', async () => {
      const command = onTerminal(RUNBOOK);
      await shows(command, '1 … > ');
      command.child.stdin?.write('7\n');
      await until('the question again', () => command.out.split('1 … > ').length > 2);
      command.child.stdin?.write('2\n');
      expect([await command.code(), command.out]).toEqual([0, expect.stringContaining('● completed')]);
    });

    slowIt('it asks for approvals in place, and a reason goes to the agent', async () => {
      const content = '```bash\necho first\n```\n\n```bash may-fail\necho second\n```';
      const command = onTerminal(content, '--approvals writes');
      await shows(command, '[y, or n and why] ');
      command.child.stdin?.write('perhaps\n');
      await until('the question again', () => command.out.split('[y, or n and why] ').length > 2);
      command.child.stdin?.write('y\n');
      await until('the next question', () => command.out.split('[y, or n and why] ').length > 3);
      command.child.stdin?.write('no, not this one\n');
      await command.code();
      const results = (await readMessages(member.client, idIn(command))).flatMap(({ parts }) =>
        parts.filter(({ type }) => type === 'tool_result'),
      );
      expect(results).toMatchObject([{ status: 'success' }, { status: 'denied' }]);
      const asked = { type: 'approval' } as Interaction;
      expect(replyOf(asked, 'no, not this one')).toEqual({ decision: 'deny', reason: 'not this one' });
    });

    slowIt.each([
      ['Ctrl-C at a question leaves the task waiting', RUNBOOK, '1 … > ', '\x03', 130, 'awaiting_input'],
      ['Ctrl-D at a question prints the line that answers', RUNBOOK, '1 … > ', '\x04', 3, 'awaiting_input'],
      ['Ctrl-C beside a command leaves it running', HELD, '● running', '\x03', 130, 'running'],
    ])('%s', async (_title, content, shown, key, code, status) => {
      const command = onTerminal(content);
      await shows(command, shown);
      command.child.stdin?.write(key);
      expect(await command.code()).toBe(code);
      expect(command.out).toContain(code === 3 ? `mw answer ${idIn(command)}` : `mw follow ${idIn(command)} --from `);
      expect(await task(command)).toMatchObject({ status });
      expect((await mw(['cancel', idIn(command)])).code).toBe(0);
    });
  });

  slowIt('shows what a command writes while it runs, without what steers a terminal', async () => {
    const command = start([
      'run',
      "```bash\nprintf 'half\\rwhole \\033[31mred\\n'; cat\n```".replace('cat', 'sleep 1000'),
    ]);
    command.child.stdin?.end();
    await until('its output', () => command.err.includes('    whole [31mred\n'));
    expect(command.err).toContain('▸ bash printf');
    command.child.kill('SIGINT');
    expect(await command.code()).toBe(130);
    const [, id = '', from = ''] = /mw follow (\S+) --from (\d+)/.exec(command.err) ?? [];
    await mw(['cancel', id]);
    const { out, code } = await mw(['follow', id, '--from', from, '--json']);
    const [first] = out.split('\n').map((line) => (line === '' ? null : (JSON.parse(line) as { seq: number })));
    expect([code, first?.seq, command.err.includes('\x1b')]).toEqual([4, Number(from) + 1, false]);
  });

  it('ends with 1 when the task has failed', async () => {
    const { code, err } = await mw(['run', '```bash\nexit 3\n```']);
    expect([code, err]).toEqual([1, expect.stringContaining('● failed')]);
  });

  it.each([
    ['no verb', ['dance']],
    ['an unknown option', ['run', 'x', '--colour', 'red']],
    ['a missing word', ['follow']],
    ['a wrong value', ['run', 'x', '--effort', 'huge']],
    ['a file that is not there', ['run', 'x', '--file', 'nowhere.txt']],
    ['two answers at once', ['answer', 'x', '--approve', '--deny']],
  ])('ends with 2 for %s', async (_title, args) => {
    const { code, out, err } = await mw(args);
    expect([code, out, err]).toEqual([2, '', expect.stringMatching(/^.+\n$/)]);
  });

  slowIt.each([
    ['no key at all', {}],
    ['an address that is none', { MILLWRIGHT_API_KEY: 'x', MILLWRIGHT_URL: 'localhost:3000' }],
    ['a key that nobody can have', { MILLWRIGHT_API_KEY: 'two words', MILLWRIGHT_URL: 'http://127.0.0.1:1' }],
  ])('ends with 2 for %s', async (_title, more) => {
    expect(await mw(['tasks'], '', more)).toMatchObject({ code: 2, out: '', err: expect.stringMatching(/^.+\n$/) });
  });

  it('tells programs of an error too', async () => {
    const { code, out, err } = await mw(['show', 'x', '--json']);
    const { error } = JSON.parse(out) as { error: { message: string } };
    expect([code, error, err]).toMatchObject([
      5,
      { status: 404, code: 'not_found' },
      expect.stringContaining(error.message),
    ]);
    expect(JSON.parse((await mw(['dance', '--json'])).out)).toMatchObject({ error: { message: expect.any(String) } });
  });

  it('has help for each verb and each of its options', async () => {
    for (const [name, verb] of [
      ...Object.entries(VERBS),
      ...Object.values(PARTS).map((part) => ['webhooks', part] as const),
      ...Object.values(SECRETS).map((part) => ['secrets', part] as const),
    ]) {
      const shown = helpOf(name) ?? '';
      expect(shown).toContain(`\n  mw ${name}`);
      const known = [...Object.keys(verb?.options ?? {}), 'json'];
      expect(known.filter((option) => !shown.includes(`  --${option} `))).toEqual([]);
    }
    const { code, out } = await mw(['run', '--help']);
    expect([code, out]).toEqual([0, `${helpOf('run')}\n`]);
    expect((await mw(['-h'])).out).toContain('\n  5    refused');
    expect((await mw(['--version'])).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  slowIt('ends with 5 when it is refused, or finds nobody', async () => {
    const refused = await mw(['tasks'], '', { ...env(), MILLWRIGHT_API_KEY: 'x' });
    expect(refused).toMatchObject({ code: 5, err: expect.stringContaining("'mw login'") });
    const nobody = await mw(['tasks'], '', { ...env(), MILLWRIGHT_URL: `http://127.0.0.1:${await freePort()}` });
    expect(nobody).toMatchObject({
      code: 5,
      err: expect.stringMatching(/does not answer. Trying again .*\n.*ECONNREFUSED/),
    });
    expect(await mw(['show', 'x'])).toMatchObject({ code: 5 });
  });

  it('login checks a key and keeps it for its owner alone', async () => {
    const refused = await mw(['login', '--url', service.url], 'nonsense\n', {});
    expect(refused.code).toBe(5);
    const { code, err } = await mw(['login', '--url', service.url], `${member.key.secret}\n`, {});
    expect([code, err]).toEqual([0, expect.stringContaining('Logged in')]);
    expect(statSync(join(folder, '.config', 'millwright', 'account.json')).mode & 0o777).toBe(0o600);
    expect((await mw(['tasks'], '', {})).code).toBe(0);
    const elsewhere = { MILLWRIGHT_API_KEY: 'x' };
    expect((await mw(['tasks'], '', elsewhere)).code).toBe(5);
  });

  slowIt('listen posts the events of the workspace to a receiver, signed', async () => {
    const got: { headers: IncomingHttpHeaders; body: string }[] = [];
    const receiver = createServer((req, res) => {
      let body = '';
      req.on('data', (chunk) => (body += String(chunk)));
      req.on('end', () => {
        got.push({ headers: req.headers, body });
        res.end();
      });
    });
    const port = await freePort();
    await new Promise<void>((listening) => receiver.listen(port, '127.0.0.1', listening));
    try {
      const url = `http://127.0.0.1:${port}/hook`;
      const command = start(['listen', '--types', 'task.completed', '--forward', url]);
      // It follows from its connection on, so tasks are made until one is told of.
      await until('an event', async () => {
        await finished(member.client, (await createTask(member.client, { content: ECHO })).id);
        return got.length > 0;
      });
      const [, secret = ''] = /Signed with (\S+)/.exec(command.err) ?? [];
      const [{ headers, body } = { headers: {}, body: '' }] = got;
      expect((await unwrap(body, headers, secret)).type).toBe('task.completed');
      command.child.kill('SIGINT');
      expect(await command.code()).toBe(130);
    } finally {
      receiver.close();
    }
  });
});
