import { LOCKS } from '../../platform/database/locks.js';
import { NOWHERE } from './usage-sum.entity.js';

/**
 * Adds an entry of the ledger to the sums of its day, when that day is added up already: `CLOSE` (usage-sums.sql.ts). The service writes an entry at its
 * own time, for which the condition of the trigger is false. The lock is shared: it waits for nothing but a day that is being added up.
 */
export const ADD_LATE_USAGE = `
CREATE OR REPLACE FUNCTION add_late_usage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(${LOCKS.usageSums}, hashtext(NEW.workspace_id::text));
  INSERT INTO usage_sums AS s (workspace_id, day, model, project_id, automation_id, created_by, tasks, steps, input_tokens, output_tokens,
    cached_input_tokens, reasoning_tokens, cost_micros)
  SELECT NEW.workspace_id, (NEW.at AT TIME ZONE 'UTC')::date, NEW.model, coalesce(NEW.project_id, '${NOWHERE}'),
    coalesce(NEW.automation_id, '${NOWHERE}'), NEW.created_by, NEW.starts_turn::int, 1, NEW.input_tokens, NEW.output_tokens,
    NEW.cached_input_tokens, NEW.reasoning_tokens, NEW.cost_micros
  FROM usage_closed c WHERE c.workspace_id = NEW.workspace_id AND (NEW.at AT TIME ZONE 'UTC')::date < c.until
  ON CONFLICT (workspace_id, day, model, project_id, automation_id, created_by) DO UPDATE SET
    tasks = s.tasks + excluded.tasks, steps = s.steps + 1, input_tokens = s.input_tokens + excluded.input_tokens,
    output_tokens = s.output_tokens + excluded.output_tokens,
    cached_input_tokens = s.cached_input_tokens + excluded.cached_input_tokens,
    reasoning_tokens = s.reasoning_tokens + excluded.reasoning_tokens,
    cost_micros = CASE WHEN excluded.cost_micros IS NULL THEN s.cost_micros ELSE coalesce(s.cost_micros, 0) + excluded.cost_micros END;
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER late_usage AFTER INSERT ON usage_ledger FOR EACH ROW
  WHEN (NEW.at < now() - interval '30 minutes') EXECUTE FUNCTION add_late_usage();
`;
