// Rounds, medians, ratios, tables.
import { execFile } from 'node:child_process';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const LOAD = fileURLToPath(new URL('./load.mjs', import.meta.url));

export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

export function percentile(numbers, share) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)];
}

/** Load on one program; CPU is that of the program's process alone, microseconds a request. */
export async function load(program, options) {
  const before = program.cpu;
  const figures = await requests(options);
  return { ...figures, cpuMicros: ((program.cpu - before) * 1e6) / figures.answered };
}

/** The requests that `load.mjs` describes, all answered as they should be. */
export async function requests(options) {
  const { stdout } = await promisify(execFile)(process.execPath, [LOAD, JSON.stringify(options)]);
  const figures = JSON.parse(stdout);
  const { answered, failed } = figures;
  if (failed > 0 || answered === 0) throw new Error(`${options.url}: ${failed} of ${answered} requests failed.`);
  return figures;
}

/**
 * Measures the subjects in turn, round after round, so that what else the machine does falls on all of them.
 * `subjects`: name → function that resolves with one round's figures. Resolves with name → median of each figure, or what else `of` makes of
 * those of all rounds.
 */
export async function inRounds(subjects, rounds, of = median) {
  const all = new Map(Object.keys(subjects).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, measure] of Object.entries(subjects))
      all.get(name).push({ ...(await measure()), load: loadavg()[0] });
  }
  return Object.fromEntries([...all].map(([name, rows]) => [name, eachOf(rows, of)]));
}

/** One row of many: each figure is what `of` makes of that of all rows. */
export function eachOf(rows, of) {
  return Object.fromEntries(Object.keys(rows[0]).map((name) => [name, of(rows.map((row) => row[name]))]));
}

/** Rows of numbers and texts as an aligned table. */
export function table(title, rows) {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cells = [columns, ...rows.map((row) => columns.map((column) => shown(row[column])))];
  const widths = columns.map((_, i) => Math.max(...cells.map((line) => line[i].length)));
  const lines = cells.map((line) =>
    line.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join('  '),
  );
  return `\n${title}\n${lines.join('\n')}`;
}

function shown(value) {
  if (typeof value !== 'number') return value ?? '';
  if (Math.abs(value) >= 100) return String(Math.round(value));
  return String(Math.round(value * 100) / 100);
}
