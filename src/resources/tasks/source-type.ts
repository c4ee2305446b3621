/** SQL: what has made the task that `row` has: the `type` of its source. */
export const sourceType = (row: 'NEW' | 'gone'): string =>
  `CASE WHEN ${row}.automation_id IS NOT NULL THEN 'automation' WHEN ${row}.parent_task_id IS NOT NULL THEN 'task' ELSE 'api' END`;
