import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import type { Command } from 'commander';
import { KeyUses } from '../../src/access/auth/key-uses.js';
import { ExtensionSet } from '../../src/platform/plugins/extension-set.js';
import { program } from '../../src/operator/verbs/program.js';
import { bootApp, type TestApp } from '../harness/app.js';
import { Client } from '../harness/client.js';
import { Operator } from '../harness/operator.js';
import { temporaryFolder } from '../harness/service.js';

describe('What the operator command says and asks (reference §16)', () => {
  let service: TestApp;
  let operator: Operator;

  beforeAll(async () => {
    service = await bootApp({ env: { ROLE: 'api' } });
    operator = new Operator(service);
  });
  afterAll(() => service.close());

  it.each(['a\nb', 'a\u001b[31m', 'a\u2028b', 'a\u202eb', 'a\u200bb', 'a\u{e0041}', ' '])(
    'takes no name such as %j',
    async (name) => {
      for (const words of [
        ['workspace', 'create', '--name', name],
        ['user', 'create', '--email', 'a@b.example', '--name', name],
        ['service-account', 'create', '--workspace', 'default', '--name', name],
        ['key', 'create', '--workspace', 'default', '--user', 'owner@localhost', '--name', name],
      ]) {
        await expect(operator.run(...words)).rejects.toThrow(
          'has 1 to 200 characters, in one line, without control characters and hidden ones.',
        );
      }
    },
  );

  it('takes no address that is not shown as it is', async () => {
    const words = ['user', 'create', '--email', 'a\u202eb@c.example', '--name', 'A'];
    await expect(operator.run(...words)).rejects.toThrow('is no address');
  });

  it('lists keys with whose they are and when they were used', async () => {
    const at = ['--workspace', 'default'];
    await operator.json('service-account', 'create', ...at, '--name', 'nightly');
    type Made = { key: { id: string; secret: string } };
    const { key } = await operator.json<Made>('key', 'create', ...at, '--service', 'nightly');
    const person = await operator.json<Made>('key', 'create', ...at, '--user', 'owner@localhost');
    expect((await new Client(service.url, key.secret).get('/v1/auth/context')).status).toBe(200);
    await service.app.get(KeyUses, { strict: false }).write();
    const { keys } = await operator.json<{ keys: { id: string }[] }>('key', 'list', ...at);
    const used = { id: key.id, userName: 'nightly', userEmail: null, lastUsedAt: expect.stringMatching(/^20.*Z$/) };
    const unused = { id: person.key.id, userName: 'Owner', userEmail: 'owner@localhost', lastUsedAt: null };
    expect(keys).toEqual(expect.arrayContaining([expect.objectContaining(used), expect.objectContaining(unused)]));
    await operator.json('service-account', 'delete', ...at, '--name', 'nightly');
  });
  it('says that it changes the role of a member, and from what', async () => {
    await operator.json('user', 'create', '--email', 'riser@example.test', '--name', 'Riser');
    const add = (role: string) =>
      operator.run('member', 'add', '--workspace', 'default', '--user', 'riser@example.test', '--role', role);
    expect(await add('viewer')).not.toContain('already');
    expect(await add('admin')).toMatch(
      /^riser@example\.test is a member already: the role is changed from viewer to admin\.\n/,
    );
    expect(await add('admin')).toMatch(/^riser@example\.test is admin of this workspace already\.\n/);
  });
  it('keeps the last owner of a workspace unless it is told --yes', async () => {
    const at = ['--workspace', 'lonely'];
    const user = ['--user', 'lonely@example.test'];
    await operator.json('workspace', 'create', '--name', 'Lonely');
    await operator.json('user', 'create', '--email', 'lonely@example.test', '--name', 'Lonely');
    await operator.json('member', 'add', ...at, ...user, '--role', 'owner');
    await operator.json('service-account', 'create', ...at, '--name', 'robot', '--role', 'owner');
    const remove = ['member', 'remove', ...at, ...user];
    const demote = ['member', 'add', ...at, ...user, '--role', 'admin'];
    const forget = ['user', 'delete', ...user];
    const refused = "This would leave 'lonely' without a person as owner";
    for (const line of [remove, demote, forget]) await expect(operator.run(...line)).rejects.toThrow(refused);
    await operator.json(...demote, '--yes');
    await operator.json('member', 'add', ...at, ...user, '--role', 'owner');
    await operator.json(...remove, '--yes');
    await operator.json('member', 'add', ...at, ...user, '--role', 'owner');
    await operator.json(...forget, '--yes');
    const account = ['service-account', 'delete', ...at, '--name', 'robot'];
    await expect(operator.run(...account)).rejects.toThrow(refused);
    await operator.json(...account, '--yes');
  });
  it('takes --json before and after the verb', async () => {
    for (const line of [
      ['--json', 'user', 'list'],
      ['user', '--json', 'list'],
      ['user', 'list', '--json'],
    ])
      expect(JSON.parse(await operator.run(...line))).toEqual({ users: expect.any(Array) });
  });
  it('describes each verb', () => {
    const verbs = (command: Command): Command[] =>
      command.commands.length === 0 ? [command] : command.commands.flatMap(verbs);
    const all = verbs(program(new ExtensionSet([])));
    expect(all.length).toBeGreaterThanOrEqual(16);
    for (const one of all) {
      expect([one.name(), one.description()]).toEqual([one.name(), expect.stringMatching(/^[a-z].{10,}[^.]$/)]);
      expect(one.helpInformation()).toContain('--json');
      for (const option of one.options) expect([option.flags, option.description]).not.toContain('');
    }
  });
});

describe('A DATABASE_URL at which no PostgreSQL answers (reference §16)', () => {
  it('is refused at the first attempt', async () => {
    let attempts = 0;
    const server = createServer((socket) => {
      attempts++;
      socket.destroy();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const { port } = server.address() as AddressInfo;
      const operator = new Operator({ db: { url: `postgres://postgres@127.0.0.1:${port}/postgres` } });
      await expect(operator.run('user', 'list')).rejects.toThrow(
        'DATABASE_URL: a PostgreSQL that answers there is expected',
      );
      expect(attempts).toBe(1);
    } finally {
      server.close();
    }
  });
});

describe('A wrong DATA_DIR, without DATABASE_URL (reference §16)', () => {
  const folder = temporaryFolder();
  afterAll(() => folder.remove());
  const on = (name: string) => {
    const DATA_DIR = join(folder.path, name);
    return { DATA_DIR, operator: new Operator({ db: { url: '' } }, { DATA_DIR }) };
  };

  it('is named, and nothing is made there', async () => {
    const { DATA_DIR, operator } = on('typo');
    const wrong = operator.run('key', 'list', '--workspace', 'default');
    await expect(wrong).rejects.toThrow(
      `DATA_DIR ${DATA_DIR} holds no Millwright installation. Set DATA_DIR to the folder of the service, or DATABASE_URL to its database.`,
    );
    expect(existsSync(DATA_DIR)).toBe(false);
  });

  it('where the system makes no folders, it is refused at once', async () => {
    const operator = new Operator({ db: { url: '' } }, { DATA_DIR: '/proc/millwright/data' });
    await expect(operator.run('workspace', 'create', '--name', 'First')).rejects.toThrow(
      'DATA_DIR: a folder that can be made is expected',
    );
  });

  it('is a new installation for workspace create, and other commands know it then', async () => {
    const { operator } = on('new');
    await operator.json('workspace', 'create', '--name', 'First');
    const { workspaces } = await operator.json<{ workspaces: object[] }>('workspace', 'list');
    expect(workspaces).toMatchObject([{ slug: 'first' }]);
  });
});
