/**
 * What time it is for schedules: every statement that asks what is due (automations.sql.ts, src/work/occurrences) calls it. It writes nothing.
 *
 * A function, so that a rehearsal can let the years go by (docs/decisions/0034); inlined, it costs nothing.
 */
export const SCHEDULE_NOW = `
CREATE OR REPLACE FUNCTION schedule_now() RETURNS timestamptz LANGUAGE sql STABLE AS 'SELECT now()';
`;
