import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import type { Command } from 'commander';
import { exampleOf, type VerbCommand } from '../../src/operator/verbs/command.js';
import { program } from '../../src/operator/verbs/program.js';
import { Progress } from '../../src/operator/verbs/progress.js';
import { lines, table } from '../../src/operator/verbs/words.js';
import { LOCKS } from '../../src/platform/database/locks.js';
import { defineExtension } from '../../src/platform/plugins/extension.js';
import { ExtensionSet } from '../../src/platform/plugins/extension-set.js';
import { REVIEWS } from '../extensions/reviews/reviews.extension.js';
import { useService } from '../harness/app.js';
import { holding, untilWaiting, waiting } from '../harness/locks.js';
import { emptyDatabase } from '../harness/new-database.js';
import { Operator } from '../harness/operator.js';
import { temporaryFolder } from '../harness/service.js';
import { until } from '../harness/until.js';
import { slowIt } from '../harness/slow.js';

const tree = () => program(new ExtensionSet([REVIEWS]));
const verbsBelow = (command: Command): Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap(verbsBelow);
const pathOf = (command: Command): string[] =>
  command.parent === null ? [] : [...pathOf(command.parent), command.name()];
const VERBS = verbsBelow(tree()).map((verb) => pathOf(verb).join(' '));
const verb = (path: string, root = tree()) =>
  verbsBelow(root).find((one) => pathOf(one).join(' ') === path) as VerbCommand;

describe('The help of the operator command (reference §16)', () => {
  it.each(VERBS)('of %s shows an example, and the verb takes it', async (path) => {
    const root = tree();
    const found = verb(path, root);
    expect(found.sample).toBeDefined();
    let taken = false;
    found.action(() => void (taken = true));
    const words = found.sample?.match(/'[^']*'|\S+/g)?.map((word) => word.replaceAll("'", '')) ?? [];
    await root.parseAsync([...path.split(' '), ...words], { from: 'user' });
    expect(taken).toBe(true);
  });

  it('has its examples in docs/operating.md too', () => {
    const document = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8');
    const ours = verbsBelow(program(new ExtensionSet([]))).map((one) => exampleOf(one as VerbCommand).slice('millwright '.length)); // prettier-ignore
    expect(ours.filter((example) => !document.includes(` \`${example}\` `))).toEqual([]);
  });

  it.each(VERBS)('of %s marks the options that are required', (path) => {
    const found = verb(path);
    const help = found.helpInformation().replace(/\s+/g, ' ');
    for (const { flags, mandatory } of found.options) {
      expect(help.includes(`millwright ${path} `)).toBe(true);
      expect([flags, help.slice(0, help.indexOf('[options]')).includes(flags)]).toEqual([flags, mandatory]);
    }
    expect(help.split('(required)')).toHaveLength(1 + found.options.filter(({ mandatory }) => mandatory).length);
  });
});

describe('A line of the operator command (reference §16)', () => {
  const BROKEN = defineExtension({
    name: 'broken',
    module: class {},
    commands: {
      lost: { description: 'loses its database', run: () => Promise.reject(new Error('Connection terminated')) },
    },
  });
  const service = useService();
  const operator = () => new Operator(service, {}, [BROKEN]);

  it.each([
    ['--help', 0, /^Usage: millwright \[options\] \[command\]/],
    ['key --help', 0, /^Usage: millwright key /],
    ['help key', 0, /^Usage: millwright key /],
    ['key list --help', 0, /^Usage: millwright key list --workspace <slug> \[options\]/],
    ['--version', 0, /^\d+\.\d+\.\d+\n$/],
    ['user list', 0, /owner@localhost/],
  ])('%s ends with %i', async (line, code, out) => {
    expect(await operator().attempt(...line.split(' '))).toEqual({ code, out: expect.stringMatching(out), err: '' });
  });

  it.each([
    ['', 2, /^Usage: /],
    ['key', 2, /^Usage: millwright key /],
    ['wrkspace list', 2, /unknown command 'wrkspace'\n\(Did you mean workspace\?\)/],
    ['key lst', 2, /unknown command 'lst'\n\(Did you mean list\?\)/],
    ['key list', 2, /required option '--workspace <slug>' not specified/],
    ['user list --jsn', 2, /unknown option '--jsn'\n\(Did you mean --json\?\)/],
    ['user list more', 2, /too many arguments/],
    ['workspace create --name A --plan gold', 2, /Allowed choices are free, paid/],
    ['completion fish', 2, /Allowed choices are bash, zsh/],
    ['key list --workspace nowhere', 1, /^There is no workspace 'nowhere'/],
    ['key create --workspace default', 1, /^Give either --user or --service\.$/m],
    ['broken lost', 1, /^The database cannot be reached or is busy\. Try again\. \(Connection terminated\)$/m],
  ])('%s ends with %i, and says why on standard error', async (line, code, err) => {
    const words = line.split(' ').filter((word) => word !== '');
    const plain = await operator().attempt(...words);
    expect(plain).toEqual({ code, out: '', err: expect.stringMatching(err) });
    const json = await operator().attempt(...words, '--json');
    expect(json.code).toBe(code);
    expect(json.out.split('\n')).toHaveLength(2);
    const { error } = JSON.parse(json.out) as { error: { message: string } };
    if (err.source.startsWith('^Usage')) expect(error.message).toContain('--help');
    else expect(plain.err).toContain(error.message);
  });

  it('with extensions that cannot be ends with 1', async () => {
    const { code, out } = await new Operator(service, {}, [BROKEN, BROKEN]).attempt('user', 'list', '--json');
    expect({ code, out: JSON.parse(out) as unknown }).toMatchObject({
      code: 1,
      out: { error: { message: expect.stringContaining("two extensions are called 'broken'") } },
    });
  });

  slowIt('on a database that says nothing ends with 1 after a few seconds, in one sentence', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    try {
      const url = `postgres://postgres@127.0.0.1:${(silent.address() as AddressInfo).port}/postgres`;
      const { code, out, err } = await new Operator({ db: { url } }).spawn('user', 'list');
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toMatch(/^DATABASE_URL: a PostgreSQL that answers there is expected \(.*\)\.\n$/);
    } finally {
      silent.close();
    }
  });

  slowIt('that Ctrl-C ends leaves nothing half done, and ends with 130', async () => {
    const people = await holding(service.db, 'LOCK TABLE users');
    const words = ['member', 'add', '--workspace', 'default', '--user', 'owner@localhost', '--role', 'viewer', '--yes'];
    const { child, result } = operator().start(...words, '--json');
    await until('the verb waits for the person', async () => (await waiting(service.db)).length > 0);
    child.kill('SIGINT');
    const { code, out } = await result;
    expect({ code, out: JSON.parse(out) as unknown }).toMatchObject({
      code: 130,
      out: { error: { message: expect.stringMatching(/^Interrupted\. /) } },
    });
    await people.release();
    expect((await operator().attempt('member', 'list', '--workspace', 'default', '--json')).out).toContain('"owner"');
  });

  slowIt('that Ctrl-C ends while the embedded database starts stops it, and the next one finds it in order', async () => {
    const folder = temporaryFolder();
    try {
      const own = new Operator({ db: { url: '' } }, { DATA_DIR: folder.path });
      const create = ['workspace', 'create', '--name', 'First', '--json'];
      const { child, result } = own.start(...create);
      await until('it is at work', () => existsSync(join(folder.path, 'postgres.lock')));
      child.kill('SIGINT');
      expect(await result).toMatchObject({ code: 130 });
      expect(await own.spawn(...create)).toMatchObject({ code: 0, out: expect.stringContaining('"slug":"first"') });
    } finally {
      folder.remove();
    }
  }); // prettier-ignore

  slowIt('that Ctrl-C ends takes back what a backup or a restore has begun, whatever that waits for', async () => {
    const [room, target] = [temporaryFolder(), await emptyDatabase()];
    try {
      const [half, whole] = [join(room.path, 'half'), join(room.path, 'whole')];
      const tables = await holding(service.db, 'LOCK TABLE tasks IN ACCESS EXCLUSIVE MODE');
      const backup = operator().start('backup', half, '--json');
      await untilWaiting(service.db, 'LOCK TABLE');
      backup.child.kill('SIGINT');
      const { code, out } = await backup.result;
      expect({ code, there: existsSync(half) }).toEqual({ code: 130, there: false });
      expect(JSON.parse(out)).toEqual({ error: { message: expect.stringMatching(/^Interrupted\. /) } });
      await tables.release();
      expect(await operator().spawn('backup', whole)).toMatchObject({ code: 0 });
      const env = { DATA_DIR: join(room.path, 'copy') };
      const boot = await holding(target, `SELECT pg_advisory_xact_lock(${LOCKS.firstBoot})`);
      const restore = new Operator({ db: target }, env).start('restore', whole);
      await untilWaiting(target, 'pg_advisory_xact_lock');
      restore.child.kill('SIGINT');
      expect(await restore.result).toMatchObject({ code: 130 });
      expect(existsSync(env.DATA_DIR)).toBe(false);
      await boot.release();
      expect(await target.query('SELECT id FROM workspaces')).toEqual([]);
      const embedded = new Operator({ db: { url: '' } }, env).start('restore', whole);
      await until('it is at work', () => existsSync(join(env.DATA_DIR, 'postgres.lock')));
      embedded.child.kill('SIGINT');
      expect(await embedded.result).toMatchObject({ code: 130 });
      expect(existsSync(env.DATA_DIR)).toBe(false);
      expect(await new Operator({ db: target }, env).spawn('restore', whole)).toMatchObject({ code: 0, err: '' });
    } finally {
      await target.drop();
      room.remove();
    }
  });
});

describe('What people read (reference §16)', () => {
  const RECORDS = [
    { id: '1', userName: 'Ann Miller of the old mill', scopes: ['tasks:read', 'tasks:write'], usedAt: null },
    { id: '22', userName: '工場長', scopes: [], usedAt: new Date('2026-01-02T03:04:05.678Z') },
  ];

  it('is a table where there is room for one', () => {
    expect(table(RECORDS, 80)).toBe(
      [
        'ID  USER NAME                   SCOPES                   USED AT',
        '1   Ann Miller of the old mill  tasks:read, tasks:write  -',
        '22  工場長                                               2026-01-02T03:04Z',
      ].join('\n'),
    );
  });

  it('is wrapped between words to fit the terminal, and nothing is cut', () => {
    expect(table(RECORDS, 52)).toBe(
      [
        'ID  USER NAME      SCOPES          USED AT',
        '1   Ann Miller of  tasks:read,     -',
        '    the old mill   tasks:write',
        '22  工場長                         2026-01-02T03:04Z',
      ].join('\n'),
    );
  });

  it('is no table where the terminal is too narrow, but a line for each value', () => {
    expect(table(RECORDS, 40)).toBeNull();
    expect(lines({ id: '1', scopes: ['a:read', 'b:read'], usedAt: null, more: { a: 1 } })).toBe(
      'id: 1\nscopes: a:read,b:read\nusedAt: -\nmore: {"a":1}',
    );
  });

  it('holds nothing that a terminal would carry out', () => {
    expect(lines({ event: 'a\u001b[31m\nb\u0007' })).toBe('event: a [31m b ');
  });
});

describe('Progress (reference §16)', () => {
  const on = (isTTY: boolean) => {
    let written = '';
    const stream = { isTTY, columns: 12, write: (text: string) => (written += text) !== '' };
    return { progress: new Progress(stream), written: () => written };
  };

  it('is one line that fits the terminal, and is gone in the end', () => {
    const { progress, written } = on(true);
    progress.say('1,000 records of many');
    progress.say('too soon for a line');
    progress.end();
    expect(written()).toBe('\r\u001b[2K1,000 recor\r\u001b[2K');
  });

  it('is not shown where standard error is no terminal', () => {
    const { progress, written } = on(false);
    progress.say('1,000 records');
    progress.end();
    expect(written()).toBe('');
  });
});

/** What a shell has: `name` is what Tab is pressed after. */
const COMPLETIONS: [string, string[]][] = [
  ['millwright ', ['workspace', 'key', 'reviews', 'completion', '--json']],
  ['millwright ke', ['key']],
  ['millwright key ', ['create', 'list', 'revoke']],
  ['millwright --json key c', ['create']],
  ['millwright member add --workspace key --ro', ['--role']],
  ['millwright member add --workspace acme --role ', ['owner', 'admin', 'member', 'viewer']],
  ['millwright member add --role ow', ['owner']],
  ['millwright completion ', ['bash', 'zsh', '--help']],
  ['millwright reviews list --w', ['--workspace']],
  ['millwright user delete --user list', []],
];
const installed = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0;
const scriptFor = (shell: string) => new Operator({ db: { url: '' } }, {}, [REVIEWS]).run('completion', shell);

describe('Completion (reference §16)', () => {
  const atTheEnd = `_millwright; printf '%s\\n' "\${COMPREPLY[@]}"`;
  it.each(COMPLETIONS)('in bash, %j may go on with %j', async (line, words) => {
    const given = line.split(' ');
    const places = `COMP_WORDS=(${given.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${given.length - 1}`;
    const script = `${await scriptFor('bash')}\n${places}\n${atTheEnd}`;
    const found = execFileSync('bash', ['--norc', '-uc', script], { encoding: 'utf8' }).trim().split('\n');
    if (words.length === 0) expect(found).toEqual(['']);
    else expect(found).toEqual(expect.arrayContaining(words));
    if (words.length > 0) expect(found.filter((word) => !word.startsWith(given.at(-1) ?? ''))).toEqual([]);
  });

  it('in bash, the value may follow =', async () => {
    const places = `COMP_WORDS=(millwright member add --role = v); COMP_CWORD=5`;
    const script = `${await scriptFor('bash')}\n${places}\n${atTheEnd}`;
    expect(execFileSync('bash', ['--norc', '-uc', script], { encoding: 'utf8' })).toBe('viewer\n');
  });

  // zsh itself leaves out what does not begin as the word does.
  (installed('zsh') ? it.each : it.skip.each)(COMPLETIONS)('in zsh, %j may go on with %j', async (line, words) => {
    const given = line.split(' ');
    const places = `words=(${given.map((word) => `'${word}'`).join(' ')}); CURRENT=${given.length}`;
    const stand = `compdef() { : }; _files() { : }; _describe() { print -l -- \${\${(P)2}%%:*} }`;
    const script = `${stand}\n${await scriptFor('zsh')}\n${places}\n_millwright`;
    const found = execFileSync('zsh', ['-fc', script], { encoding: 'utf8' }).trim().split('\n');
    if (words.length === 0) expect(found).toEqual(['']);
    else expect(found).toEqual(expect.arrayContaining(words));
  });
});
