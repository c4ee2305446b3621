import { Injectable, Module, type Type } from '@nestjs/common';
import { v7 as uuid } from 'uuid';
import { ChoreRunner } from '../../src/platform/chores/chore-runner.js';
import { raw, sql, text } from '../../src/platform/database/sql.js';
import { Transactions } from '../../src/platform/database/transactions.js';
import type { UnitOfWork } from '../../src/platform/database/unit-of-work.js';
import { EventLog } from '../../src/platform/events/event-log.js';
import { EventPurge } from '../../src/platform/events/event-purge.js';
import { type DomainEvent, OnEvent } from '../../src/platform/events/on-event.js';
import { Metrics } from '../../src/platform/metrics/metrics.js';
import { bootApp, bootWorker, type TestApp } from '../harness/app.js';
import { makeMember } from '../harness/client.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { holding } from '../harness/locks.js';
import { runTask } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { slowIt } from '../harness/slow.js';

const EFFECT = sql`INSERT INTO effects (event, handler) VALUES (${text('event')}, ${text('handler')})`.rows();

/** What the handlers do beside their effect, until the test says otherwise. */
let also: (event: DomainEvent, tx: UnitOfWork) => Promise<unknown> = () => Promise.resolve();
let running = 0;

@Injectable()
class Notes {
  /** In this process. */
  readonly seen: DomainEvent[] = [];

  @OnEvent('note.made', 'task.completed')
  async note(event: DomainEvent, tx: UnitOfWork): Promise<void> {
    this.seen.push(event);
    expect(++running).toBe(1);
    try {
      await tx.run(EFFECT({ event: event.id, handler: 'note' }));
      await also(event, tx);
    } finally {
      running -= 1;
    }
  }
}

@Injectable()
class Others {
  @OnEvent('other.made')
  other(event: DomainEvent, tx: UnitOfWork): Promise<unknown> {
    return tx.run(EFFECT({ event: event.id, handler: 'other' }));
  }
}

const moduleOf = (...providers: Type[]) => {
  @Module({ providers })
  class HandlersModule {}
  return HandlersModule;
};
const HANDLERS = moduleOf(Notes, Others);

describe('Handlers of events (reference §17)', () => {
  let db: TestDatabase;
  const services: TestApp[] = [];
  const workspaceId = uuid();

  beforeEach(async () => {
    also = () => Promise.resolve();
    db = await createDatabase();
    await db.query('CREATE TABLE effects (n serial, event text, handler text)');
  });
  afterEach(async () => {
    await Promise.all(services.splice(0).map((service) => service.close()));
    await db.drop();
  });

  const boot = async (start: typeof bootApp = bootWorker, ...imports: Type[]) => {
    const service = await start({ db, imports });
    services.push(service);
    return service;
  };
  const make = ({ app }: TestApp, type: string, data: object = {}) =>
    app.get(Transactions).open((tx) => app.get(EventLog).append(tx, { workspaceId, type, data }));
  const effects = async (handler = 'note') =>
    (await db.query<{ event: string }>('SELECT event FROM effects WHERE handler = $1 ORDER BY n', [handler])).map(
      ({ event }) => event,
    );
  const effectsOf = (count: number, handler?: string) =>
    until(`${count} effects`, async () => {
      const found = await effects(handler);
      return found.length >= count ? found : null;
    });
  const logged = async (type: string) =>
    (
      await db.query<{ id: string }>(`SELECT event_id AS id FROM workspace_events WHERE type = $1 ORDER BY xid, id`, [
        type,
      ])
    ).map(({ id }) => id);

  /** A transaction of another database that began earlier holds up where a new handler begins: the server has one order for all. */
  const settled = () =>
    until('a log that is settled', async () => {
      const [row] = await db.query<{ settled: boolean }>(
        `SELECT max(xid) < pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS settled FROM workspace_events`,
      );
      return row?.settled;
    });

  it('get the events of their types, each once, in the order of the log; a new one begins behind what was', async () => {
    const before = await boot();
    await make(before, 'note.made');
    await settled();
    const service = await boot(bootWorker, HANDLERS);
    const member = await makeMember(service);
    const task = await runTask(member.client, 'Nothing to do.', { model: 'runbook' });
    for (let n = 0; n < 20; n++) await make(service, n % 2 === 0 ? 'note.made' : 'other.made', { n });
    const found = await effectsOf(11);
    expect(found.slice(1)).toEqual((await logged('note.made')).slice(1));
    expect(await effectsOf(10, 'other')).toEqual(await logged('other.made'));
    const { seen } = service.app.get(Notes);
    expect(seen[0]).toMatchObject({
      id: `${task.id}-${seen[0]?.seq}`,
      type: 'task.completed',
      taskId: task.id,
      workspaceId: member.workspace.id,
      data: { status: 'completed', usage: task.usage },
    });
    expect(seen[1]).toMatchObject({ taskId: null, seq: null, data: { n: 0 }, createdAt: expect.any(Date) });
  });

  slowIt('get an event again until they succeed, and nothing of a failed try is written', async () => {
    let tries = 0;
    also = () => (++tries < 3 ? Promise.reject(new Error('Not yet.')) : Promise.resolve());
    const service = await boot(bootWorker, HANDLERS);
    await make(service, 'note.made');
    await make(service, 'note.made');
    expect(await effectsOf(2)).toEqual(await logged('note.made'));
    expect(tries).toBe(4);
  });

  it('write the effect of each event once, also of those before one that fails', async () => {
    let failed = false;
    also = ({ data }) => {
      if (data['n'] !== 2 || failed) return Promise.resolve();
      failed = true;
      return Promise.reject(new Error('Once.'));
    };
    const service = await boot(bootWorker, HANDLERS);
    await service.app.get(Transactions).open(async (tx) => {
      for (let n = 0; n < 4; n++)
        await service.app.get(EventLog).append(tx, { workspaceId, type: 'note.made', data: { n } });
    });
    expect(await effectsOf(4)).toEqual(await logged('note.made'));
    expect(failed).toBe(true);
  });

  slowIt('step over an event at which they have failed 20 times: the metric says so, and the others are handled', async () => {
    const service = await boot(bootWorker, HANDLERS);
    const [bad, good] = [{ bad: true }, { bad: false }];
    also = ({ data }) => (data['bad'] === true ? Promise.reject(new Error('Never.')) : Promise.resolve());
    await make(service, 'note.made', bad);
    await make(service, 'note.made', good);
    const failures = () =>
      db.query<{ failures: number }>(`SELECT failures FROM event_handlers WHERE name = 'Notes.note'`);
    await until('a failure', async () => (await failures())[0]?.failures === 1);
    await db.query(`UPDATE event_handlers SET failures = 19, retry_at = NULL WHERE name = 'Notes.note'`);
    expect(await effectsOf(1)).toEqual((await logged('note.made')).slice(1));
    expect(await failures()).toEqual([{ failures: 0 }]);
    const metrics = await service.app.get(Metrics).registry.getSingleMetricAsString('millwright_event_failures_total');
    expect(metrics).toContain('{handler="Notes.note",outcome="stepped_over"} 1');
  }); // prettier-ignore

  slowIt('of two processes are called by one at a time, and each event has its effect once', async () => {
    const two = [await boot(bootWorker, HANDLERS), await boot(bootWorker, HANDLERS)];
    await Promise.all(Array.from({ length: 60 }, (_, n) => make(two[n % 2] as TestApp, 'note.made')));
    expect(await effectsOf(60)).toEqual(await logged('note.made'));
    expect(two.flatMap(({ app }) => app.get(Notes).seen)).toHaveLength(60);
  });

  slowIt('that lose their connection before the commit get the event again', async () => {
    const KILL = sql`SELECT ${raw('pg_terminate_backend(pg_backend_pid())')}`.rows();
    let killed = false;
    also = async (_, tx) => {
      if (killed) return;
      killed = true;
      await tx.run(KILL());
    };
    const service = await boot(bootWorker, HANDLERS);
    await make(service, 'note.made');
    expect(await effectsOf(1)).toEqual(await logged('note.made'));
    expect(service.app.get(Notes).seen).toHaveLength(2);
  });

  slowIt('miss nothing of a transaction that was begun earlier and commits later', async () => {
    const service = await boot(bootWorker, HANDLERS);
    const id = uuid();
    const insert = `INSERT INTO workspace_events (xid, workspace_id, event_id, type, data)
      VALUES (pg_current_xact_id()::text::bigint, $1, $2, 'note.made', '{}')`;
    const holder = await holding(db, insert, [workspaceId, id]);
    await make(service, 'note.made');
    await make(service, 'other.made');
    // A look that passes over the open transaction would have found them.
    const looks = await db.query<{ behind: boolean }>(
      `SELECT min(xid) < pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS behind FROM workspace_events`,
    );
    expect([looks, await effects()]).toEqual([[{ behind: false }], []]);
    await holder.release();
    const [first] = await effectsOf(2);
    expect(first).toBe(id);
  });

  slowIt('run in no process that only serves the API', async () => {
    const api = await boot(bootApp, HANDLERS);
    await make(api, 'note.made');
    expect(await db.query('SELECT 1 FROM event_handlers')).toEqual([]);
    await settled();
    const worker = await boot(bootWorker, HANDLERS);
    await make(api, 'note.made');
    expect(await effectsOf(1)).toEqual((await logged('note.made')).slice(1));
    expect(api.app.get(Notes).seen).toEqual([]);
    expect(worker.app.get(Notes).seen).toHaveLength(1);
  });

  it('of one name stop the boot', async () => {
    const again = (): Type => {
      @Injectable()
      class Others {
        @OnEvent('other.made')
        other(): Promise<void> {
          return Promise.resolve();
        }
      }
      return Others;
    };
    const boots = boot(bootWorker, HANDLERS, moduleOf(again()));
    await expect(boots).rejects.toThrow('Two handlers of events are called Others.other: rename');
  });

  describe('The log', () => {
    const old = () => db.query(`UPDATE workspace_events SET created_at = now() - interval '31 days'`);
    const purge = ({ app }: TestApp) => app.get(ChoreRunner).run(app.get(EventPurge, { strict: false }), 'purge');

    slowIt('keeps events for EVENT_RETENTION_DAYS, and longer what a handler has not read', async () => {
      const service = await boot(bootWorker, HANDLERS);
      for (let n = 0; n < 3; n++) await make(service, 'note.made');
      await effectsOf(3);
      also = () => Promise.reject(new Error('Not now.'));
      await make(service, 'note.made');
      await make(service, 'note.made');
      await until(
        'a failure',
        async () => (await db.query('SELECT 1 FROM event_handlers WHERE failures > 0')).length === 1,
      );
      expect(await purge(service)).toBe(0);
      await old();
      expect(await purge(service)).toBe(3);
      expect(await logged('note.made')).toHaveLength(2);
      // One that no process has had for so long keeps nothing.
      await db.query(`UPDATE event_handlers SET seen_at = now() - interval '31 days'`);
      expect(await purge(service)).toBe(2);
      expect(await db.query('SELECT name FROM event_handlers')).toEqual([]);
    });

    slowIt('is purged in batches', async () => {
      const service = await boot();
      await db.query(
        `INSERT INTO workspace_events (xid, workspace_id, event_id, type, data)
         SELECT 0, $1, gen_random_uuid(), 'note.made', '{}' FROM generate_series(1, 1200)`,
        [workspaceId],
      );
      await old();
      expect(await purge(service)).toBe(1200);
    });

    slowIt('goes on after a restore into a server whose transactions are numbered from the beginning', async () => {
      const first = await boot(bootWorker, HANDLERS);
      for (let n = 0; n < 3; n++) await make(first, 'note.made');
      await effectsOf(3);
      await first.close();
      services.splice(0);
      // What was written when the worker was gone, and is still to be handled.
      const api = await boot(bootApp);
      for (let n = 0; n < 2; n++) await make(api, 'note.made');
      await api.close();
      services.splice(0);
      await db.query('UPDATE workspace_events SET xid = xid + 1000000000');
      await db.query('UPDATE event_handlers SET xid = xid + 1000000000');
      const ids = await logged('note.made');
      const restored = await boot(bootWorker, HANDLERS);
      await make(restored, 'note.made');
      const all = await effectsOf(6);
      expect(all).toEqual(await logged('note.made'));
      expect(all.slice(0, 5)).toEqual(ids);
    });
  });
});
