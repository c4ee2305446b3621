import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type TestApp, useService } from '../harness/app.js';
import { Client, makeMember, type Member } from '../harness/client.js';
import { connect, github } from '../harness/hooks.js';
import { FAR_LIMITS } from '../harness/limits.js';
import { MailServer } from '../harness/mail-server.js';
import { ModelServer } from '../harness/model-server.js';
import { setNotices } from '../harness/notices.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { call, createTask, finished, script } from '../harness/tasks.js';
import { attributesOf, type CollectedSpan, TraceCollector } from '../harness/trace-collector.js';
import { until } from '../harness/until.js';

const LOADED = fileURLToPath(new URL('../harness/loaded-modules.mjs', import.meta.url));
const SDK = ['core', 'exporter-trace-otlp-http', 'resources', 'sdk-trace'];

/** What must be nowhere; a quote in it is written in another way in JSON. */
const canary = (name: string) => `${name}-"${randomBytes(12).toString('hex')}`;
const plain = (name: string) => `${name}-${randomBytes(12).toString('hex')}`;

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';
const EMPTY_PORT = 1;

type Line = Record<string, unknown>;

describe('Logs and traces of a process (reference §16)', () => {
  const folder = temporaryFolder();
  // Before the service goes, whose database this needs.
  afterAll(async () => {
    await Promise.all([traced.end('SIGKILL'), untraced.end('SIGKILL')]);
    await collector.stop();
    await model.stop();
    await mail.close();
    await service.db.query(`DROP ROLE ${role}`);
    folder.remove();
  });
  const service = useService();
  /** Of another installation: it has a secret of its own. */
  const other = useService();
  const secrets = {
    database: plain('database-password'),
    redis: plain('redis-password'),
    secretKey: canary('secret-key-of-this-test'),
    model: plain('model-key'),
    openai: canary('openai-key'),
    hook: plain('hook-secret'),
    mail: plain('mail-password'),
    content: plain('content'),
  };
  const role = `mw_logs_${randomBytes(6).toString('hex')}`;
  let model: ModelServer;
  let mail: MailServer;
  let collector: TraceCollector;
  let traced: ServiceProcess;
  let untraced: ServiceProcess;
  let member: Member;
  let secret: string;
  let connection: { id: string };
  let taskId: string;
  /** In nanoseconds since 1970. */
  let lastRequest: bigint;

  const start = (name: string, { db }: TestApp, env: Record<string, string>) => {
    const url = new URL(db.url);
    Object.assign(url, { username: role, password: secrets.database });
    return ServiceProcess.start({
      DATABASE_URL: url.href,
      DATA_DIR: join(folder.path, name),
      SECRET_KEY: 'a secret of the tests, at least 32 bytes long',
      CONFIG_FILE: join(folder.path, 'config.json'),
      OPENAI_API_KEY: secrets.openai,
      CANARY_MODEL_KEY: secrets.model,
      REDIS_URL: `redis://:${secrets.redis}@127.0.0.1:${EMPTY_PORT}`,
      SMTP_URL: mail.url(`mill:${secrets.mail}`),
      SMTP_FROM: 'mill@example.test',
      LOG_LEVEL: 'trace',
      NODE_OPTIONS: `--import ${LOADED}`,
      ...env,
    });
  };
  const lines = (process: ServiceProcess): Line[] =>
    process.log.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Line] : []));

  beforeAll(async () => {
    await service.db.query(`CREATE ROLE ${role} LOGIN SUPERUSER PASSWORD '${secrets.database}'`);
    model = await ModelServer.start();
    mail = await MailServer.listen(`mill:${secrets.mail}`);
    collector = await TraceCollector.start();
    const provider = { provider: 'openai-compatible', baseUrl: model.url, apiKeyEnv: 'CANARY_MODEL_KEY', model: 'm' };
    writeFileSync(
      join(folder.path, 'config.json'),
      JSON.stringify({ ...FAR_LIMITS, models: [{ id: 'm', ...provider }] }),
    );
    member = await makeMember(service);
    secret = member.key.secret;
    connection = await connect(service, member, { secret: secrets.hook });
    const tracing = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SERVICE_NAME: 'mill' };
    [traced, untraced] = await Promise.all([
      start('a', service, tracing),
      start('b', other, { ROLE: 'api', SECRET_KEY: secrets.secretKey }),
    ]);
    await work();
    lastRequest = BigInt(Date.now()) * 1_000_000n;
    await new Client(traced.url, secret).get('/v1/models');
    expect(await traced.end()).toBe(0);
    expect(await untraced.end()).toBe(0);
  });
  /** A task with a tool; then what makes errors, with secrets in all places where a client can put them. */
  async function work(): Promise<void> {
    const client = new Client(traced.url, secret);
    const bash = call('bash', { command: `echo ${secrets.content}` });
    const headers = { traceparent: `00-${TRACE}-${CALLER}-01`, 'X-Request-Id': 'id-of-the-client' };
    const body = { title: secrets.content, content: script(bash, { text: secrets.content }) };
    const made = await client.post<{ task: { id: string } }>('/v1/tasks', body, { headers });
    taskId = made.body.task.id;
    expect((await finished(client, taskId)).status).toBe('completed');
    await client.get(`/v1/tasks/${taskId}`, { headers: { traceparent: 'nonsense' } });
    await client.get(`/v1/tasks/${taskId}?key=${secret}`);
    await client.get(`/v1/${secret}/nothing`);
    await client.get(`/v1/tasks/${secret}`);
    await client.as(`${secret.slice(0, -1)}_`).get('/v1/tasks');
    await client.post('/v1/keys', { name: 'K', scopes: ['tasks:read'] });
    // The server of mails and the provider say the password and the key that they were sent.
    mail.answers.push(['AUTH', `535 Wrong password: ${secrets.mail}`]);
    await setNotices(client, { failed: ['email'] });
    const failure = { status: 401, body: JSON.stringify({ error: { message: `Wrong key: ${secrets.model}` } }) };
    await finished(client, (await createTask(client, { content: script(failure) })).id);
    await until('a log-in at the mail server', () => mail.answers.length === 0);
    for (const signed of [secrets.hook, 'another secret']) {
      const { headers: signature, raw } = github(signed);
      await client.as(null).request('POST', `/hooks/${connection.id}`, { headers: signature, raw });
    }
    // Every connection is lost, and errors of the driver are logged.
    await service.db.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [role]);
    await until('the database to be there again', async () => (await client.get('/v1/tasks')).status === 200);
  }

  it('one line for each request has its route, status, time, size, ids, and the id that the client gave it', () => {
    const made = lines(traced).filter(({ clientRequestId }) => clientRequestId === 'id-of-the-client');
    expect(made).toEqual([
      {
        level: 30,
        time: expect.any(String) as string,
        context: 'http',
        requestId: expect.any(String) as string,
        clientRequestId: 'id-of-the-client',
        method: 'POST',
        route: '/v1/tasks',
        status: 201,
        ms: expect.any(Number) as number,
        bytes: expect.any(Number) as number,
        workspaceId: member.workspace.id,
        userId: member.user.id,
        keyId: member.key.id,
      },
    ]);
    expect(made[0]?.['bytes']).toBeGreaterThan(100);
    const routes = lines(traced).filter(({ context }) => context === 'http').map(({ route }) => route);
    expect(routes).toEqual(expect.arrayContaining(['/v1/tasks/{taskId}', null, '/hooks/{connectionId}']));
    const requests = lines(traced).filter((line) => line['method'] !== undefined && line['ms'] !== undefined);
    expect(new Set(requests.map(({ requestId }) => requestId)).size).toBe(requests.length);
  }); // prettier-ignore

  it('probes have their lines below info', () => {
    const probes = lines(traced).filter(({ route }) => String(route).startsWith('/health/'));
    expect(probes.length).toBeGreaterThan(0);
    expect(probes.every(({ level }) => level === 20)).toBe(true);
  });

  it('the lines of a run name workspace, task and run: its begin, each step and tool, and its end', () => {
    const said = lines(traced).filter((line) => line['taskId'] === taskId);
    expect(said.map(({ msg }) => msg)).toEqual(['Run begun.', 'Step.', 'Tool.', 'Step.', 'Run ended.']);
    for (const line of said) {
      expect(line).toMatchObject({ workspaceId: member.workspace.id, runId: expect.any(String) as string });
    }
    expect(said.at(-1)).toMatchObject({ level: 30, outcome: 'completed', steps: 2 });
  });

  it('no secret is in the log, at any level, nor what people and models wrote', () => {
    // What went wrong is in the log: the refusal of the provider and of the mail server, and the loss of the database.
    expect(traced.log).toContain('A notice by email was not taken');
    expect(traced.log).toContain('model_credentials');
    expect(traced.log).toContain('The connection for notices was lost');
    for (const [name, value] of Object.entries({ ...secrets, key: secret.slice(12) })) {
      for (const form of [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)]) {
        expect([name, traced.log.includes(form), untraced.log.includes(form)]).toEqual([name, false, false]);
      }
    }
  });

  const span = (name: string, parent?: CollectedSpan) =>
    collector.spans.filter((one) => one.name === name && (parent === undefined || one.parentSpanId === parent.spanId));

  it('a trace goes from the request over its transaction to the run, its steps and tools', () => {
    const [request] = span('POST /v1/tasks').filter(({ traceId }) => traceId === TRACE);
    expect(request).toMatchObject({ parentSpanId: CALLER, kind: 2, service: 'mill' });
    const [transaction] = span('transaction', request);
    const [run, ...others] = span('run', transaction);
    expect(others).toEqual([]);
    const steps = span('step', run);
    expect(steps).toHaveLength(2);
    const tools = steps.flatMap((step) => span('tool bash', step));
    expect(tools).toHaveLength(1);
    for (const one of [request, transaction, run, ...steps, ...tools]) expect(one?.traceId).toBe(TRACE);
    expect(run && attributesOf(run)).toMatchObject({
      'millwright.workspace.id': member.workspace.id,
      'millwright.task.id': taskId,
      'millwright.model': 'm',
      'millwright.outcome': 'completed',
      'millwright.steps': expect.anything() as unknown,
    });
    expect(request && attributesOf(request)).toMatchObject({ 'http.route': '/v1/tasks', 'millwright.workspace.id': member.workspace.id });
    const [tool, step] = [tools[0], steps[0]];
    expect(BigInt(tool?.startTimeUnixNano ?? 0) >= BigInt(step?.startTimeUnixNano ?? 1)).toBe(true);
    expect(BigInt(tool?.endTimeUnixNano ?? 1) <= BigInt(step?.endTimeUnixNano ?? 0)).toBe(true);
  }); // prettier-ignore

  it('a traceparent that is malformed, or none, begins a trace; probes have none', () => {
    const reads = span('GET /v1/tasks/{taskId}');
    expect(reads.length).toBeGreaterThan(1);
    expect(reads.every(({ parentSpanId, traceId }) => !parentSpanId && traceId !== TRACE)).toBe(true);
    expect(collector.spans.filter(({ name }) => name.includes('health'))).toEqual([]);
  });

  it('what was not sent yet at SIGTERM is sent before the process ends', () => {
    const sentAtStop = collector.spans.filter(({ startTimeUnixNano }) => BigInt(startTimeUnixNano) >= lastRequest);
    expect(sentAtStop.map(({ name }) => name)).toEqual(['GET /v1/models']);
  });

  it('no secret is in a span, nor what people, models or tools wrote', () => {
    expect(collector.spans.length).toBeGreaterThan(10);
    for (const value of Object.values({ ...secrets, key: secret.slice(12) })) {
      expect(collector.text).not.toContain(value);
      expect(collector.text).not.toContain(JSON.stringify(value).slice(1, -1));
    }
  });

  it('without OTEL_EXPORTER_OTLP_ENDPOINT nothing of the SDK is loaded', () => {
    const loaded = (process: ServiceProcess) => JSON.parse(/LOADED (.*)/.exec(process.log)?.[1] ?? '[]') as string[];
    expect(loaded(traced)).toEqual(expect.arrayContaining(SDK));
    // The client of Prometheus names types of it.
    expect(loaded(untraced)).toEqual(['api']);
  });
});
