// The figures of an attack, and the table that the long form prints.
import type { SeenRequest, SeenTask } from './tenant-b.js';
import { MIB } from './bounds.js';
import type { Usage } from './usage.js';

export interface Figures {
  attack: string;
  seconds: number;
  /** Of the other tenant's reads, milliseconds. */
  p50: number;
  p99: number;
  /** Of the other tenant's tasks, milliseconds: the median and the longest. */
  task: number;
  longestTask: number;
  /** How late the last of its automations was, milliseconds: after the time that it was planned for, after the answer to its event. */
  planned: number;
  onEvent: number;
  /** What failed for the other tenant, in words. */
  wrongs: string[];
  /** Longest spans of computing of the main threads, milliseconds. */
  api: number;
  worker: number;
  most: Usage;
  /** What was more than the configuration allows, in words. */
  over: string[];
  /** What the attack was answered, `201 × 4, 402 × 3`; 0 is no answer. */
  answers: string;
}

export interface Window {
  from: number;
  to: number;
}

const WRITES: SeenRequest['kind'][] = ['create', 'plan', 'deliver'];

/** Of a time: what began in it. */
export function readsAndTasks(requests: SeenRequest[], tasks: SeenTask[], { from, to }: Window) {
  const within = ({ at }: { at: number }) => at >= from && at < to;
  const reads = requests.filter((request) => within(request) && !WRITES.includes(request.kind)).map(({ ms }) => ms);
  const times = tasks.filter(within).map(({ ms }) => ms);
  return {
    p50: quantile(reads, 0.5),
    p99: quantile(reads, 0.99),
    task: quantile(times, 0.5),
    longestTask: quantile(times, 1),
  };
}

function quantile(numbers: number[], share: number): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

const COLUMNS: [string, (figures: Figures) => string | number][] = [
  ['attack', ({ attack }) => attack],
  ['sec', ({ seconds }) => Math.round(seconds)],
  ['reads p50 ms', ({ p50 }) => p50.toFixed(1)],
  ['p99 ms', ({ p99 }) => p99.toFixed(1)],
  ['task ms', ({ task }) => Math.round(task)],
  ['longest', ({ longestTask }) => Math.round(longestTask)],
  ['planned late', ({ planned }) => Math.round(planned)],
  ['event late', ({ onEvent }) => Math.round(onEvent)],
  ['wrong', ({ wrongs }) => wrongs.length],
  ['api CPU ms', ({ api }) => Math.round(api)],
  ['worker CPU ms', ({ worker }) => Math.round(worker)],
  ['service MiB', ({ most }) => mib(most.service)],
  ['sandboxes MiB', ({ most }) => mib(most.sandboxes)],
  ['stored MiB', ({ most }) => mib(most.stored)],
  ['workdirs MiB', ({ most }) => mib(most.workdirs)],
  ['descriptors', ({ most }) => most.descriptors],
  ['over', ({ over }) => over.map((words) => words.split(':')[0]).join(' ')],
  ['answers', ({ answers }) => answers],
];

export const mib = (bytes: number) => Math.round(bytes / MIB);

/** In Markdown, with aligned columns. */
export function tableOf(rows: Figures[]): string {
  const cells = [COLUMNS.map(([title]) => title), ...rows.map((row) => COLUMNS.map(([, of]) => String(of(row))))];
  const widths = COLUMNS.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: string[]) =>
    `| ${row.map((cell, n) => (n === 0 ? cell.padEnd(widths[n] ?? 0) : cell.padStart(widths[n] ?? 0))).join(' | ')} |`;
  const rule = `| ${widths.map((width, n) => (n === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`;
  const [head = [], ...rest] = cells.map(line);
  return [head, rule, ...rest].join('\n');
}
