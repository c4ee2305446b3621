import { ForwardMigration } from '../../platform/database/forward-migration.js';
import { RECORD_TASK_EVENT } from '../../resources/tasks/events/record-task-event.function.js';
import { DELIVER_EVENT } from '../../resources/webhooks/deliver-event.function.js';

/** Without the functions whose rule is said where it is used (docs/decisions/0076). Those that an older database has are dropped. */
export class SaidInStatements1798156800043 extends ForwardMigration {
  readonly sql = [
    RECORD_TASK_EVENT + DELIVER_EVENT,
    `
      DROP TRIGGER IF EXISTS a_wait_is_over ON tasks;
      DROP FUNCTION IF EXISTS forget_wait();
      DROP FUNCTION IF EXISTS webhook_body(workspace_events);
      DROP FUNCTION IF EXISTS webhook_wants(text[], uuid, workspace_events);
      DROP FUNCTION IF EXISTS event_key(workspace_events);
      DROP FUNCTION IF EXISTS uuid_v7_now();
    `,
  ];
}
