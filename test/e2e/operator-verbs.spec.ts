import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { DataSource } from 'typeorm';
import { SignInIdentity } from '../../src/access/sign-in/sign-in-identity.entity.js';
import { UsersService } from '../../src/access/workspaces/users.service.js';
import { program } from '../../src/operator/verbs/program.js';
import { DatabaseServer } from '../../src/platform/database/database-server.js';
import { ExtensionSet } from '../../src/platform/plugins/extension-set.js';
import { REVIEWS } from '../extensions/reviews/reviews.extension.js';
import { bootApp, type TestApp } from '../harness/app.js';
import { createAutomation } from '../harness/automation-requests.js';
import { Client } from '../harness/client.js';
import { newId } from '../../src/platform/database/ids.js';
import { Transactions } from '../../src/platform/database/transactions.js';
import { BEAT } from '../../src/work/machines/machines.sql.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { emptyDatabase } from '../harness/new-database.js';
import { Operator } from '../harness/operator.js';
import { temporaryFolder } from '../harness/service.js';
import { S3Stand } from '../harness/s3-stand.js';
import { createTask } from '../harness/tasks.js';
import { SLOW, sizedIt, slowIt } from '../harness/slow.js';

/** What the lines below are about. Each round makes a workspace of its own. */
interface World {
  slug: string;
  email: string;
  key: string;
  connection: string;
  /** Of a directory. */
  token: string;
  /** In the workspace `default`, with reviews of its tasks. */
  automation: string;
  machine: string;
  reviews: string[];
  /** A folder that is not there yet. */
  backup: string;
}

interface Case {
  /** What follows the verb. */
  line: (world: World) => string[];
  /** What later lines need of the answer. */
  keep?: (world: World, answer: Record<string, { id: string }>) => void;
  /** The verb may answer bad news, with exit code 1. */
  badNews?: true;
  /** The verb is for an installation that holds nothing. */
  anew?: true;
  /** What it reads. */
  input?: string;
}

const at = ({ slug }: World) => ['--workspace', slug];
const ann = (world: World) => [...at(world), '--user', world.email];
/** A person whom a provider knows: one for each round. */
const linked = (slug: string) => `${slug}@linked.test`;
const inDefault = ['--workspace', 'default'];
const NIGHTLY = ['--name', 'nightly'];

/** Every verb, in an order in which they can be tried on one installation. A new verb gets its line here. */
const CASES: Record<string, Case> = {
  'workspace create': { line: ({ slug }) => ['--name', 'Acme Mills', '--slug', slug] },
  'workspace list': { line: () => [] },
  'workspace policy': { line: (world) => [...at(world), '--expose', 'text,files'] },
  'workspace plan': { line: (world) => [...at(world), '--usage', 'month:tasks:500', '--top-up', '12.50'] },
  'user create': { line: ({ email }) => ['--email', email, '--name', 'Ann Miller'] },
  'user list': { line: () => [] },
  'user unlink': { line: ({ slug }) => ['--user', linked(slug)] },
  'member add': { line: (world) => [...ann(world), '--role', 'admin'] },
  'member list': { line: at },
  'service-account create': { line: (world) => [...at(world), ...NIGHTLY] },
  'service-account list': { line: at },
  'key create': { line: ann, keep: (world, { key }) => (world.key = key?.id ?? '') },
  'key list': { line: at },
  'console link': { line: ({ key }) => ['--key', key] },
  'key revoke': { line: ({ key }) => [key] },
  'integration connect': {
    line: (world) => ['github', ...at(world)],
    keep: (world, { connection }) => (world.connection = connection?.id ?? ''),
  },
  'integration list': { line: at },
  'integration rotate': { line: ({ connection }) => [connection, '--overlap', '0'] },
  'integration deliveries': { line: ({ connection }) => [connection] },
  'integration disconnect': { line: ({ connection }) => [connection] },
  'automation list': { line: () => inDefault },
  'automation pause': { line: ({ automation }) => [automation, ...inDefault] },
  'automation resume': { line: ({ automation }) => [automation, ...inDefault] },
  'automation run': { line: ({ automation }) => [automation, ...inDefault] },
  'reviews list': { line: () => inDefault },
  'reviews delete': { line: ({ reviews }) => [reviews.pop() ?? ''] },
  'machine list': { line: () => [] },
  'machine drain': { line: ({ machine }) => [machine] },
  'secret set': {
    line: (world) => ['GITHUB_TOKEN', ...at(world), '--host', 'api.github.com'],
    input: 'a-value-of-a-test',
  },
  'secret list': { line: at },
  'secret delete': { line: (world) => ['GITHUB_TOKEN', ...at(world)] },
  'secret-key status': { line: () => [] },
  'secret-key rotate': { line: () => [] },
  'signing-key list': { line: () => [] },
  'signing-key rotate': { line: () => [] },
  'scim-token create': { line: at, keep: (world, { token }) => (world.token = token?.id ?? '') },
  'scim-token list': { line: at },
  'scim-token delete': { line: ({ token }) => [token] },
  // Of no program that is known, and so not tried: operator-engines.spec.ts does that.
  'engine install': { line: () => ['own', '--from', join(import.meta.dirname, '../fixtures'), '--force'] },
  'storage move': { line: () => ['--to', 's3'] },
  'audit list': { line: at },
  'audit verify': { line: () => [] },
  backup: { line: ({ backup }) => [backup] },
  restore: { line: ({ backup }) => [backup], anew: true },
  doctor: { line: () => [], badNews: true },
  adopt: { line: () => [] },
  completion: { line: () => ['bash'] },
  'service-account delete': { line: (world) => [...at(world), ...NIGHTLY] },
  'member remove': { line: ann },
  'user delete': { line: ({ email }) => ['--user', email] },
  'workspace delete': { line: (world) => [...at(world), '--yes'] },
};

const verbsBelow = (command: Command, path: string[] = []): string[] =>
  command.commands.length === 0
    ? [path.join(' ')]
    : command.commands.flatMap((one) => verbsBelow(one, [...path, one.name()]));
const VERBS = verbsBelow(program(new ExtensionSet([REVIEWS])));

it('Every verb of the operator command, also those of extensions, is tried below', () => {
  expect(Object.keys(CASES).toSorted()).toEqual(VERBS.toSorted());
});

/** Of the command alone: what `secret-key rotate` is for. */
const SECRET_KEY_PREVIOUS = 'the secret before of the tests, at least 32 bytes';
const SERVER = 'on a server with DATABASE_URL';
// Starting the embedded database for each verb takes about a second.
const PATIENCE = 180_000;

describe.each(SLOW ? ['on the embedded database', SERVER] : [SERVER])('Every verb works %s', (where) => {
  const folder = temporaryFolder();
  const room = temporaryFolder();
  const embedded = where.includes('embedded');
  const world: World = {
    slug: '',
    email: '',
    key: '',
    connection: '',
    token: '',
    automation: '',
    machine: newId(),
    reviews: [],
    backup: '',
  };
  let db: TestDatabase;
  let service: TestApp;
  let operator: Operator;
  let bucket: S3Stand;

  beforeAll(async () => {
    const CONFIG_FILE = join(room.path, 'config.json');
    writeFileSync(CONFIG_FILE, JSON.stringify({ sandbox: { network: 'allow', allowHosts: ['api.github.com'] } }));
    const env = { CONFIG_FILE, DATA_DIR: folder.path, ...(embedded ? { DATABASE_URL: '' } : {}) };
    db = await createDatabase();
    service = await bootApp({ env, extensions: [REVIEWS], db });
    const { url } = service.app.get(DatabaseServer, { strict: false });
    const { port } = new URL(service.url);
    bucket = await S3Stand.start();
    operator = new Operator(
      { db: { url } },
      { ...env, SECRET_KEY_PREVIOUS, PORT: port, ...bucket.env, STORAGE: 'local' },
      [REVIEWS],
    );
    const works = { workerId: newId(), machineId: world.machine, host: 'mill', places: 4, version: '1' };
    await service.app.get(Transactions, { strict: false }).run(BEAT(works));
    const words = ['key', 'create', ...inDefault, '--user', 'owner@localhost'];
    const { key } = await operator.json<{ key: { secret: string } }>(...words);
    const client = new Client(service.url, key.secret);
    world.automation = (await createAutomation({ client })).id;
    for (const subject of ['running', 'stopped']) {
      const { id: userId } = await service.app.get(UsersService).create({ email: linked(subject), name: subject });
      const link = { issuer: 'https://login.acme.example', subject, userId, madeAccount: false };
      await service.app.get(DataSource).getRepository(SignInIdentity).insert(link);
    }
    for (const content of ['One.', 'Two.']) {
      const { id } = await createTask(client, { content });
      const made = await client.post<{ review: { id: string } }>(`/v1/tasks/${id}/reviews`, { rating: 5, text: 'Hm.' });
      world.reviews.push(made.body.review.id);
    }
  }, PATIENCE);
  afterAll(async () => {
    await bucket.close();
    await db.drop();
    folder.remove();
    room.remove();
  });

  /** The operator of an installation that holds nothing, for the time of `act`. */
  async function anewOn<T>(act: (operator: Operator) => Promise<T>): Promise<T> {
    const empty = await emptyDatabase();
    const DATA_DIR = join(room.path, `${world.slug}-anew`);
    try {
      return await act(
        new Operator({ db: embedded ? { url: '' } : empty }, { DATA_DIR, SECRET_KEY_PREVIOUS }, [REVIEWS]),
      );
    } finally {
      await empty.drop();
    }
  }

  async function tryAll(name: string, json: boolean): Promise<void> {
    Object.assign(world, { slug: name, email: `${name}@example.test`, backup: join(room.path, name) });
    for (const [verb, { line, keep, badNews, anew, input = '' }] of Object.entries(CASES)) {
      const asJson = json || keep !== undefined;
      const words = [...verb.split(' '), ...line(world), ...(asJson ? ['--json'] : [])];
      const attempt = (one: Operator) => Object.assign(one, { input }).attempt(...words);
      const { code, out, err } = await (anew === true ? anewOn(attempt) : attempt(operator));
      const done = code === 0 || (badNews === true && code === 1);
      expect({ words, done, err, answered: out !== '' }).toEqual({ words, done: true, err: '', answered: true });
      if (!asJson) continue;
      const answer = JSON.parse(out) as Record<string, { id: string }>;
      expect(out.trimEnd().split('\n')).toHaveLength(1);
      keep?.(world, answer);
    }
  }

  slowIt('while the service runs, with --json', () => tryAll('running', true), PATIENCE);

  sizedIt(
    'while it does not, in words',
    async () => {
      await service.close();
      await tryAll('stopped', false);
    },
    PATIENCE,
  );
});
