import { rename } from 'node:fs/promises';
import { DataDir } from '../../src/platform/config/data-dir.js';
import { Readiness } from '../../src/operator/health/readiness.js';
import { bootApp, bootWorker, useService } from '../harness/app.js';
import { Client, makeMember } from '../harness/client.js';
import { freePort } from '../harness/ports.js';
import { runTask } from '../harness/tasks.js';
import { until } from '../harness/until.js';

interface Ready {
  status: string;
  checks: Record<string, string>;
  inForce: string[];
  missing: string[];
}

/** The value of one series; null when there is none. */
function figure(text: string, series: string): number | null {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `));
  return line === undefined ? null : Number(line.slice(series.length + 1));
}

describe('Health and figures (reference §16)', () => {
  let client: Client;
  let metricsPort: number;

  const service = useService(async () => {
    metricsPort = await freePort();
    return bootWorker({ env: { METRICS_PORT: String(metricsPort), SANDBOX: 'none' } });
  });
  beforeAll(() => {
    client = new Client(service.url);
  });

  const metrics = async () => (await client.get('/metrics')).text;

  it('ready says how the database, the signals and the storage are', async () => {
    const { status, body } = await client.get<Ready>('/health/ready');
    expect([status, body]).toMatchObject([
      200,
      { status: 'ok', checks: { process: 'ok', database: 'ok', signals: 'ok', storage: 'ok' } },
    ]);
  });

  it('ready shows what is in force and what is missing, as the boot said it, and no path', async () => {
    const { body } = await client.get<Ready>('/health/ready');
    expect(body.inForce).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^Sandbox none: Limits of time/),
        'Limits of a command: 600 s, 2048 MiB of memory, 256 processes, 2048 MiB of disk, 10 MiB of output, more as far as its workdir has room for it.',
        'Places for tasks: 16, 4 kept for workspaces that have no running task.',
      ]),
    );
    expect(body.missing).toEqual([expect.stringMatching(/^Sandbox none: NOTHING keeps a command apart from the host/)]);
    expect(JSON.stringify([body.inForce, body.missing])).not.toContain(service.app.get(DataDir).path);
  });

  it('is 503 without the storage, and 200 when it is back', async () => {
    const { path } = service.app.get(DataDir);
    await rename(path, `${path}.away`);
    const { status, body } = await client.get<Ready>('/health/ready');
    await rename(`${path}.away`, path);
    expect([status, body.status, body.checks['storage']]).toEqual([503, 'unavailable', 'unavailable']);
    expect((await client.get('/health/ready')).status).toBe(200);
  });

  it('a lost connection for notices is degraded and no reason for a 503', async () => {
    await service.db.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'millwright channel' AND datname = current_database()`,
    );
    const seen = new Set<string>();
    await until('the connection to be lost and found again', async () => {
      const { status, body } = await client.get<Ready>('/health/ready');
      expect(status).toBe(200);
      seen.add(String(body.checks['signals']));
      return seen.size === 2 && body.checks['signals'] === 'ok';
    });
    expect([...seen].sort()).toEqual(['degraded', 'ok']);
  });

  it('is 503, draining, from the moment at which the process was told to stop', async () => {
    const other = await bootApp();
    other.app.get(Readiness).onModuleDestroy();
    const { status, body } = await new Client(other.url).get<Ready>('/health/ready');
    await other.close();
    expect([status, body.checks['process']]).toEqual([503, 'draining']);
  });

  it('counts requests by the template of their route, and what is no route under one name', async () => {
    const member = await makeMember(service);
    const count = (route: string, status: number, method = 'GET') =>
      `millwright_http_request_duration_seconds_count{method="${method}",route="${route}",status="${status}"}`;
    for (const id of ['a', 'b']) await member.client.get(`/v1/tasks/${id}`);
    await client.get('/v1/tasks');
    await client.get('/nowhere/1');
    await client.request('PUT', '/v1/tasks');
    await until('the requests to be counted', async () => {
      const text = await metrics();
      return figure(text, count('none', 404, 'none')) === 1 && figure(text, count('none', 405, 'none')) === 1;
    });
    const text = await metrics();
    expect(figure(text, count('/v1/tasks/{taskId}', 404))).toBe(2);
    expect(figure(text, count('/v1/tasks', 401))).toBe(1);
    expect(text).not.toContain('nowhere');
  });

  it('counts runs, model calls and sandboxes, and reads the queue', async () => {
    const { client: worker } = await makeMember(service);
    const task = await runTask(worker, '```bash\necho hello\n```\n\n```bash may-fail\nexit 3\n```\n');
    expect(task.status).toBe('completed');
    // The client is told first.
    const ended = async () => {
      const text = await metrics();
      return figure(text, 'millwright_runs_ended_total{outcome="completed"}') === 1 && text;
    };
    const text = await until('the run to be counted', ended);
    expect(figure(text, 'millwright_sandbox_starts_total{outcome="ended"}')).toBe(2);
    expect(figure(text, 'millwright_model_calls_total{model="runbook",outcome="answered"}')).toBeGreaterThanOrEqual(2);
    expect(figure(text, 'millwright_model_tokens_total{model="runbook",kind="input"}')).not.toBeNull();
    expect(figure(text, 'millwright_runs{state="queued"}')).toBe(0);
    expect(figure(text, 'millwright_runs{state="running"}')).toBe(0);
    expect(figure(text, 'millwright_queue_age_seconds')).toBe(0);
    expect(figure(text, 'millwright_process_resident_bytes')).toBeGreaterThan(1e7);
    expect(text).toMatch(/^millwright_build_info\{version="\d+\.\d+\.\d+"\} 1$/m);
  });

  it('shows how many runs wait and how long', async () => {
    const api = await bootApp();
    const member = await makeMember(api);
    await member.client.post('/v1/tasks', { content: 'x' });
    await api.db.query(`UPDATE runs SET created_at = now() - interval '100 seconds'`);
    const { text } = await new Client(api.url).get('/metrics');
    await api.db.query(`UPDATE runs SET status = 'running', lease_until = now() - interval '100 seconds'`);
    const { text: later } = await new Client(api.url).get('/metrics');
    await api.close();
    expect([text, later].map((one) => figure(one, 'millwright_stuck_runs'))).toEqual([0, 1]);
    expect(figure(text, 'millwright_waiting_age_seconds{queue="automations"}')).toBe(0);
    expect(figure(text, 'millwright_waiting_age_seconds{queue="events"}')).toBe(0);
    expect(figure(text, 'millwright_runs{state="queued"}')).toBe(1);
    expect(figure(text, 'millwright_runs_queued')).toBe(1);
    expect(figure(text, 'millwright_queue_age_seconds')).toBeGreaterThanOrEqual(100);
  });

  it('METRICS_PORT has the figures and nothing else', async () => {
    const at = `http://127.0.0.1:${metricsPort}`;
    const answer = await fetch(`${at}/metrics`);
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain/);
    expect(await answer.text()).toContain('millwright_process_uptime_seconds');
    for (const path of ['/', '/health/live', '/v1/tasks']) expect((await fetch(at + path)).status).toBe(404);
  });

  it('a service that others can reach has no figures on its main port', async () => {
    const open = await bootApp({ env: { HOST: '0.0.0.0' } });
    const { status } = await new Client(open.url).get('/metrics');
    await open.close();
    expect(status).toBe(404);
  });
});
