// What a pull request of a task says (reference §15), in Markdown as GitHub and GitLab read it.
import type { CheckedTurn, CheckResult } from '../checks/check.js';

/** Bytes. GitHub takes 65,536 characters. */
const MOST = 60_000;

/** Ends with what the checks of the turn have found, and where that is proven. */
export function pullRequestText(taskId: string, checked: CheckedTurn): string {
  const made = `Made by Millwright, task ${code(taskId)}.`;
  if (checked.results.length === 0) return made;
  const head = [
    made,
    '## Checks',
    'The service has run these checks itself, in a clean copy of the work:',
    tableOf(checked),
  ].join('\n\n');
  const proof = `${code(`GET /v1/tasks/${taskId}/proof`)} answers the signed proof of this.`;
  const left = MOST - Buffer.byteLength(`${head}${proof}`);
  return [head, ...unused(checked.results, left), proof].join('\n\n');
}

function tableOf({ results, before }: CheckedTurn): string {
  const earlier = new Map(before.map(({ name, status }) => [name, status]));
  const rows = results.map(({ name, status, exitCode, durationMs, required }) => [
    code(name),
    ...(before.length === 0 ? [] : [inWords(earlier.get(name) ?? '')]),
    inWords(status),
    String(exitCode ?? ''),
    `${(durationMs / 1000).toFixed(1)} s`,
    required ? 'yes' : 'no',
  ]);
  const titles = ['Check', ...(before.length === 0 ? [] : ['Before']), 'Status', 'Exit code', 'Duration', 'Required'];
  const lines = [titles, titles.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

const inWords = (status: string) => status.replace('_', ' ');

/** A reviewer sees these files changed, and the checks did not. @param left bytes that may be taken. */
function unused(results: readonly CheckResult[], left: number): string[] {
  const checksOf = new Map<string, string[]>();
  for (const { name, protectedChanged } of results) {
    for (const path of protectedChanged) checksOf.set(path, [...(checksOf.get(path) ?? []), name]);
  }
  if (checksOf.size === 0) return [];
  const lines = [...checksOf].map(([path, names]) => `- ${code(path)}: ${names.map(code).join(', ')}`);
  const title = 'Changed, but not used by these checks, which protect them:';
  let room = left - Buffer.byteLength(title) - RESERVE;
  const shown = lines.filter((line) => (room -= Buffer.byteLength(line) + 1) >= 0);
  const more = lines.length - shown.length;
  return [title, [...shown, ...(more === 0 ? [] : [`- and ${more} more`])].join('\n')];
}

/** Of the line that counts the others, and of what stands between the parts. */
const RESERVE = 100;

/**
 * As it is, and nothing else: within these signs Markdown, HTML, names of people and numbers of issues are read as text. What does not show, or
 * begins a line, is written as a number.
 */
function code(text: string): string {
  const seen = text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`);
  const inside = Math.max(0, ...[...seen.matchAll(/`+/g)].map(([signs]) => signs.length));
  const fence = '`'.repeat(inside + 1);
  const space = inside > 0 || /^ .* $/.test(seen) ? ' ' : '';
  return `${fence}${space}${seen}${space}${fence}`;
}
