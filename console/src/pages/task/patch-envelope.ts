// A patch as models write it: `*** Begin Patch`, a section for each file, no numbers of lines.
import type { DiffFile, DiffHunk, DiffLine } from '../../ui/patch.ts';

const SECTION = /^\*\*\* (Add|Delete|Update) File: (.+)$/;
const CHANGES = { Add: 'added', Delete: 'deleted', Update: 'modified' } as const;
const KINDS: Record<string, DiffLine['kind']> = { '+': 'add', '-': 'del', ' ': 'same', '': 'same' };

/** Null when there is anything in it that is not understood, so that nothing is shown as what it is not. */
export function readEnvelope(text: string): DiffFile[] | null {
  const lines = text.trim().split('\n');
  if (lines.shift()?.trim() !== '*** Begin Patch' || lines.pop()?.trim() !== '*** End Patch') return null;
  const files: DiffFile[] = [];
  for (const line of lines) {
    const file = files.at(-1);
    const [, verb, path] = SECTION.exec(line) ?? [];
    const [, to] = /^\*\*\* Move to: (.+)$/.exec(line) ?? [];
    if (verb !== undefined && path !== undefined) {
      const change = CHANGES[verb as keyof typeof CHANGES];
      files.push({ path, from: null, change, additions: 0, deletions: 0, hunks: [] });
    } else if (file === undefined) return null;
    else if (to !== undefined) Object.assign(file, { path: to, from: file.path, change: 'renamed' });
    else if (line.startsWith('@@')) file.hunks.push({ header: line.replace(/^@@ ?/, ''), lines: [] });
    else if (line !== '*** End of File' && !add(file, line)) return null;
  }
  return files.length > 0 ? files : null;
}

function add(file: DiffFile, line: string): boolean {
  const kind = KINDS[line.slice(0, 1)];
  if (kind === undefined) return false;
  const begun: DiffHunk = file.hunks.at(-1) ?? { header: '', lines: [] };
  if (file.hunks.length === 0) file.hunks.push(begun);
  begun.lines.push({ kind, text: line.slice(1), old: null, new: null });
  if (kind === 'add') file.additions += 1;
  if (kind === 'del') file.deletions += 1;
  return true;
}
