import type { Wait } from '../../engine/agent/waits.js';
import type { EngineSettings } from '../../engine/agent/engine-settings.js';
import { jsonb, sql } from '../../platform/database/sql.js';
import type { WaitingFor } from '../../resources/tasks/task.entity.js';
import { HOLD, TASK_ID } from './run-recorder.sql.js';

/** Records what the run waits for; nothing when it is not ours any more. The trigger on tasks makes it an event. */
export const WAITS = sql`
WITH ${HOLD}
UPDATE tasks t SET waiting_for = ${jsonb<WaitingFor | null>()('waitingFor')}, updated_at = now()
FROM run WHERE t.id = ${TASK_ID} RETURNING t.id`.rows<{ id: string }>();

/**
 * Tells what a run waits for (reference §4), of waits that last longer than two seconds alone: a run that does not wait writes nothing.
 * What is told of a run is forgotten by the trigger of events when the status of its task changes, so that a lost worker leaves nothing behind.
 */
export class RunWaits {
  private latest = Promise.resolve();

  /**
   * @param settings a wait that is over before `waitToldMs` is not told.
   * @param tell writes it; null: the run goes on. What it rejects with is its own matter to report.
   */
  constructor(
    private readonly settings: Pick<EngineSettings, 'waitToldMs'>,
    private readonly tell: (waitingFor: WaitingFor | null) => Promise<void>,
  ) {}

  /** A wait begins. What is returned says that it is over; it may be called twice. */
  readonly begin = (wait: Wait): (() => void) => {
    const began = Date.now();
    let told = false;
    const timer = setTimeout(() => {
      told = true;
      this.next({ ...wait, since: new Date(began).toISOString() });
    }, this.settings.waitToldMs);
    return () => {
      clearTimeout(timer);
      if (told) this.next(null);
      told = false;
    };
  };

  /** In the order of what happened. */
  private next(waitingFor: WaitingFor | null): void {
    this.latest = this.latest.then(() => this.tell(waitingFor)).catch(() => undefined);
  }
}
