import type { Response } from 'express';
import pg from 'pg';
import { SCOPES } from '../../src/platform/http/endpoint.js';
import { BEHIND, NEXT } from '../../src/platform/events/event-handlers.sql.js';
import { Notices } from '../../src/platform/notices/notices.js';
import { EVENT_TYPES } from '../../src/platform/events/event-types.js';
import { EventPurge } from '../../src/platform/events/event-purge.js';
import { EventAnswers } from '../../src/resources/events/event-answers.js';
import { Streams } from '../../src/resources/events/streams.js';
import { LATEST, LOOK_AT_WORKSPACES, WORKSPACE_BATCH } from '../../src/resources/events/workspace-batch.sql.js';
import { bootApp, useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { rowsRead } from '../harness/plans.js';
import { useStreams } from '../harness/streams.js';
import { createTask } from '../harness/tasks.js';
import { until } from '../harness/until.js';

interface Events {
  events: { id: string; type: string; taskId: string | null; data: Record<string, unknown> }[];
  position: string;
  caughtUp: boolean;
}

describe('The events of a workspace, as a client follows them (reference §17)', () => {
  let owner: Member;
  let member: Member;
  const open = useStreams();

  const service = useService(() => bootApp({ env: { MAX_STREAMS: '30' } }));
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
    member = await makeMember(service, { workspace: owner.workspace });
  });

  const stream = (query = '', who = member, headers: Record<string, string> = {}) =>
    open(`${service.url}/v1/events${query}`, who.key.secret, headers);
  /** An event is shown when all older transactions that write are over, also those of other tests on the same server. */
  const allShown = () =>
    until('older transactions to end', async () => {
      const text =
        'SELECT 1 FROM workspace_events WHERE xid >= pg_snapshot_xmin(pg_current_snapshot())::text::bigint LIMIT 1';
      return (await service.db.query(text)).length === 0;
    });
  const json = async (query = '', who = member) => {
    await allShown();
    const answer = await who.client.get<Events>(`/v1/events${query}`);
    expect(answer.status).toBe(200);
    return answer.body;
  };
  const refused = async (query: string, who = member) => {
    const { status, body } = await who.client.get<ErrorBody>(`/v1/events${query}`);
    return [status, body.error.code, body.error.param];
  };
  const whole = async (query = '', who = member) => {
    const all: Events['events'] = [];
    let page = await json(`?after=0&limit=2${query}`, who);
    for (;;) {
      all.push(...page.events);
      if (page.caughtUp) return all;
      page = await json(`?after=${page.position}&limit=2${query}`, who);
    }
  };
  const told = (events: { type: string; taskId?: unknown }[]) => events.map(({ type, taskId }) => [type, taskId]);

  it('are those of the tasks that the caller sees, from now on, and from a position on', async () => {
    const reader = await stream();
    expect((await reader.frame('stream.ready')).data).toMatchObject({ latest: null, task: null });
    const { position } = await json();
    const [mine, hidden] = [
      await createTask(member.client, { content: 'x' }),
      await createTask(owner.client, { content: 'x' }),
    ];
    await member.client.post(`/v1/tasks/${mine.id}/cancel`);
    await until('all to come', () => reader.events.length === 2);
    const two = [['task.created', mine.id], ['task.cancelled', mine.id]]; // prettier-ignore
    expect(told(reader.events as never)).toEqual(two);
    const page = await json(`?after=${position}`);
    expect(told(page.events)).toEqual(two);
    expect(page.events).toEqual(reader.events);
    expect(page.events[0]).toMatchObject({ id: `${mine.id}-2`, data: { status: 'queued', projectId: null } });
    expect(await json(`?after=${page.position}`)).toMatchObject({ events: [], caughtUp: true });
    expect(told(await whole('', owner))).toContainEqual(['task.created', hidden.id]);
    const again = await stream('', member, { 'Last-Event-ID': reader.frames.at(-2)?.id ?? '' });
    await again.frame('stream.caught_up');
    expect(told(again.events as never)).toEqual(two.slice(1));
  });

  it('of a deleted task its end stays, for those who saw it', async () => {
    const { id } = await createTask(member.client, { content: 'x' });
    const other = await makeMember(service, { workspace: owner.workspace });
    // Otherwise the stream begins before the create.
    await allShown();
    const readers = [await stream(), await stream('', other)];
    await member.client.delete(`/v1/tasks/${id}`);
    await until('its end', () => readers[0]?.events.length === 1);
    expect(readers[0]?.events[0]).toMatchObject({ type: 'task.deleted', taskId: id, data: { projectId: null } });
    expect(readers[0]?.events[0]?.['data']).not.toHaveProperty('createdBy');
    expect(told(await whole())).toEqual([['task.deleted', id]]);
    expect(await whole('', other)).toEqual([]);
    expect(readers[1]?.events).toEqual([]);
  });

  it('of automations need automations:read', async () => {
    const { body } = await member.client.post<{ automation: { id: string } }>('/v1/automations', { name: 'A', content: 'x', cron: '0 9 * * *' }); // prettier-ignore
    await member.client.request('POST', `/v1/automations/${body.automation.id}/pause`);
    const [paused] = await whole();
    const data = { automationId: body.automation.id, runId: null, taskId: null };
    expect(paused).toMatchObject({ type: 'automation.paused', seq: null, taskId: null, data });
    const { key } = member;
    await service.db.query(`UPDATE api_keys SET scopes = $2 WHERE id = $1`, [key.id, SCOPES.filter((one) => one !== 'automations:read')]); // prettier-ignore
    expect(await whole()).toEqual([]);
  });

  it('`types` and `projectId` choose; a position holds for its filters alone, its workspace and its user', async () => {
    const project = await member.client.post<{ project: { id: string } }>('/v1/projects', { name: 'P' });
    const projectId = project.body.project.id;
    const inside = await createTask(member.client, { content: 'x', projectId });
    await createTask(member.client, { content: 'x' });
    await member.client.post(`/v1/tasks/${inside.id}/cancel`);
    expect(told(await whole(`&projectId=${projectId}`))).toEqual([['task.created', inside.id], ['task.cancelled', inside.id]]); // prettier-ignore
    expect(told(await whole('&types=task.cancelled'))).toEqual([['task.cancelled', inside.id]]);
    expect(await whole('&projectId=nonsense')).toEqual([]);
    const { position } = await json('?types=task.*');
    await json(`?types=task.*&after=${position}`);
    const wrong = [400, 'invalid_cursor', 'after'];
    expect(await refused(`?after=${position}`)).toEqual(wrong);
    expect(await refused(`?types=task.created&after=${position}`)).toEqual(wrong);
    expect(await refused(`?types=task.*&after=${position}`, owner)).toEqual(wrong);
    for (const after of ['', '1', 'nonsense', `${position}x`]) {
      expect(await refused(`?types=task.*&after=${after}`)).toEqual(wrong);
    }
    expect(await refused('?types=message.created')).toEqual([400, 'invalid_query', 'types']);
    expect(await refused('?deltas=true')).toEqual([400, 'invalid_query', 'deltas']);
  });

  it('a position that is older than what is kept is 410, and so is one of before a restore', async () => {
    await createTask(member.client, { content: 'x' });
    const { position } = await json('?after=0');
    await json(`?after=${position}`);
    const streams = await stream(`?after=${position}`);
    expect(streams.status).toBe(200);
    // What a restore does: events get the id 0, in their order, with later ids.
    await service.db.query(`UPDATE workspace_events SET xid = 0, id = nextval('workspace_events_id_seq')`);
    expect(await refused(`?after=${position}`)).toEqual([410, 'cursor_expired', 'after']);
    const kept = await json('?after=0');
    expect(kept.events).toHaveLength(1);
    await json(`?after=${kept.position}`);
    await service.db.query(`UPDATE workspace_events SET created_at = now() - interval '31 days'`);
    const { position: old } = await json('?after=0&limit=1');
    expect(await refused(`?after=${old}`)).toEqual([410, 'cursor_expired', 'after']);
    await service.app.get(EventPurge, { strict: false }).purge();
    expect(await whole()).toEqual([]);
  });

  it('24 writers at once: each event once, in one order for everybody, and each number of a task in order', async () => {
    const tasks = await Promise.all(Array.from({ length: 6 }, () => createTask(member.client, { content: 'x' })));
    const [all, byTask] = [
      [await stream('?after=0'), await stream('?after=0', owner)],
      await Promise.all(tasks.map(({ id }) => open(`${service.url}/v1/tasks/${id}/events`, member.key.secret))),
    ];
    const notices = service.app.get(Notices);
    await race(
      service.db.url,
      tasks.map(({ id }) => id),
      (id) => notices.send({ tasks: [id], workspace: owner.workspace.id }),
    ); // prettier-ignore
    const written = await service.db.query<{ id: string }>(
      `SELECT task_id || '-' || seq AS id FROM workspace_events WHERE workspace_id = $1 ORDER BY xid, id`,
      [owner.workspace.id],
    );
    expect(written.length).toBeGreaterThan(100);
    for (const reader of all) {
      await until('all of them', () => reader.events.length >= written.length);
      expect(reader.events.map(({ id }) => id)).toEqual(written.map(({ id }) => id)); // prettier-ignore
    }
    for (const [n, reader] of byTask.entries()) {
      const [{ last } = { last: 0 }] = await service.db.query<{ last: number }>('SELECT last_event AS last FROM tasks WHERE id = $1', [tasks[n]?.id]); // prettier-ignore
      await until('all of the task', () => reader.events.length >= last);
      expect(reader.events.map(({ seq }) => seq)).toEqual(Array.from({ length: last }, (_, index) => index + 1));
    }
  });

  it('of a small workspace cost no look at those of a large one, whatever the planner makes of it', async () => {
    await createTask(member.client, { content: 'x' });
    await service.db.query(
      `INSERT INTO workspace_events (xid, workspace_id, event_id, type, data)
       SELECT pg_current_xact_id()::text::bigint, $1, gen_random_uuid(), 'noise', '{}' FROM generate_series(1, 5000)`,
      [(await makeMember(service)).workspace.id],
    );
    await service.db.query('VACUUM ANALYZE workspace_events');
    const keyId = member.key.id;
    const from = {
      keyId,
      session: null,
      types: EVENT_TYPES,
      projectId: null,
      days: 30,
      limit: 100,
      xid: 0,
      id: 0,
      at: null,
    };
    const look = LOOK_AT_WORKSPACES({ ns: [0], keyIds: [keyId], sessions: [null] });
    for (const query of [WORKSPACE_BATCH(from), LATEST({ keyId, session: null }), look]) {
      expect(await rowsRead(service.db, 'workspace_events', query)).toBeLessThan(10);
    }
  });

  it('of 5,000 others cost a handler no look either', async () => {
    const name = 'Notes.note';
    await service.db.query(
      `INSERT INTO event_handlers (name, xid, id) SELECT $1, xid, id - 1 FROM workspace_events ORDER BY xid DESC, id DESC LIMIT 1`,
      [name],
    );
    await service.db.query('ANALYZE event_handlers');
    for (const query of [BEHIND({ names: ['Other.note', name] }), NEXT({ name, types: ['noise'], limit: 50 })]) {
      expect(await rowsRead(service.db, 'workspace_events', query)).toBeLessThan(10);
    }
  });

  it('a client that has gone before its stream begins takes no place', () => {
    const desk = service.app.get(EventAnswers, { strict: false });
    const gone = { destroyed: true, once: () => undefined } as unknown as Response;
    const owner = { workspaceId: member.workspace.id, keyId: member.key.id };
    for (let n = 0; n < 31; n++) desk.place(owner, gone);
  });

  it('a process has MAX_STREAMS at most: 429 too_many_streams', async () => {
    const keys = [member, owner];
    for (let n = 0; n < 30; n++) await stream('', keys[n % 2]);
    await until('all to be open', () => service.app.get(Streams).size === 30);
    const third = await makeMember(service);
    expect((await stream('', third)).status).toBe(429);
    expect(await refused('?wait=1', third)).toEqual([429, 'too_many_streams', null]);
    await json('', third);
  });
});

/** Transactions that change tasks, of which some wait, and some are taken back; each lets those who follow read at once. */
async function race(url: string, tasks: string[], tell: (task: string) => void): Promise<void> {
  const pool = new pg.Pool({ connectionString: url, max: 24 });
  const change = `UPDATE tasks SET metadata = jsonb_build_object('n', $2::text) WHERE id = $1`;
  const writer = async (w: number) => {
    const client = await pool.connect();
    for (let n = 0; n < 8; n++) {
      await client.query('BEGIN');
      // A transaction may have its id long before it writes the event.
      if ((w + n) % 3 === 0) await client.query('SELECT pg_current_xact_id(), pg_sleep(0.005)');
      const task = tasks[(w * 5 + n) % tasks.length] ?? '';
      await client.query(change, [task, `${w}-${n}`]);
      if ((w + n) % 2 === 0) await client.query('SELECT pg_sleep(0.002)');
      await client.query((w + n) % 8 === 0 ? 'ROLLBACK' : 'COMMIT');
      tell(task);
    }
    client.release();
  };
  await Promise.all(Array.from({ length: 24 }, (_, w) => writer(w)));
  await pool.end();
}
