// How each tool's call is shown: one line, and what unfolds below it.
import { diffLines } from 'diff/lib/diff/line.js';
import type { ReactNode } from 'react';
import { t } from '../../texts/index.ts';
import { Code, exactly, languageOf } from '../../ui/code.tsx';
import { Diff, Stat } from '../../ui/diff.tsx';
import { bytes } from '../../ui/format.ts';
import type { IconName } from '../../ui/icon.tsx';
import { type DiffFile, type DiffLine, readPatch } from '../../ui/patch.ts';
import { cx } from '../../ui/ui.tsx';
import { readEnvelope } from './patch-envelope.ts';
import { Plan } from './plan.tsx';
import { CommandBody, HandedOut, Published, ReadFile, tasksOf } from './tool-bodies.tsx';
import { type Call, fieldsOf, type Outcome, planItems, textOf } from './steps.ts';
import css from './tool.module.css';

export interface View {
  icon: IconName;
  verb: string;
  object: ReactNode;
  side?: ReactNode;
  /** Whether it is unfolded by itself; without it, what failed is. */
  open?: boolean;
  body: (() => ReactNode) | null;
}

const asText = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value, null, 2);

const short = (path: string) => path.replace(/^\/workdir\//, '');
const Path = ({ path }: { path: string }) => <code className={css.path}>{exactly(short(path))}</code>;
const Quiet = ({ children }: { children: ReactNode }) => <span className={css.quiet}>{children}</span>;

type Verbs = { did: string; does: string; wants: string; wanted: string };
const verbOf = ({ did, does, wants, wanted }: Verbs, outcome: Outcome): string =>
  outcome === 'running'
    ? does
    : outcome === 'waiting' || outcome === 'open'
      ? wants
      : outcome === 'denied'
        ? wanted
        : did;

export function viewOf(call: Call, outcome: Outcome): View {
  const { input, result } = call;
  const output = result?.status === 'success' ? result.output : undefined;
  const error = result?.status === 'error' ? <p className={css.error}>{result.error}</p> : null;
  const { verbs } = t.task;
  const path = textOf(input.path);
  const found = () =>
    error ?? (output !== undefined && <Code code={asText(output)} language={null} label={t.task.labels.found} />);
  switch (call.name) {
    case 'bash': {
      const line = inOneLine(textOf(input.command));
      const goesOn = textOf(fieldsOf(output).id);
      return {
        icon: 'Terminal',
        verb: verbOf(verbs.bash, outcome),
        object: <code className={css.path}>{line}</code>,
        side: goesOn !== '' && <Quiet>{t.reading.goesOn(goesOn)}</Quiet>,
        open: outcome === 'running' || outcome === 'failed',
        body: () => <CommandBody call={call} outcome={outcome} label={line} failure={error} />,
      };
    }
    case 'write_stdin': {
      const typed = textOf(input.command);
      const session = String(input.session_id);
      const label = t.engines.session(session);
      return {
        icon: 'Terminal',
        verb: verbOf(typed === '' ? t.engines.waiting : t.engines.typing, outcome),
        object:
          typed === '' ? (
            <Quiet>{label}</Quiet>
          ) : (
            <>
              <code className={css.path}>{inOneLine(typed)}</code> <Quiet>{t.engines.inSession(session)}</Quiet>
            </>
          ),
        body: () => <CommandBody call={call} outcome={outcome} label={label} failure={error} />,
      };
    }
    case 'edit': {
      const file = editAsDiff(short(path), textOf(input.oldText), textOf(input.newText), textOf(fieldsOf(output).diff));
      return {
        icon: 'FilePen',
        verb: verbOf(verbs.edit, outcome),
        object: <Path path={path} />,
        side: <Stat {...file} />,
        body: () => error ?? <Diff files={[file]} layout="unified" idPrefix={call.id} />,
      };
    }
    case 'apply_patch': {
      const patch = textOf(input.patch);
      const files = readEnvelope(patch);
      const changed = listOf(fieldsOf(output).files).map((one) => one.replace(/^\w /, ''));
      const sum = (of: 'additions' | 'deletions') => (files ?? []).reduce((all, file) => all + file[of], 0);
      return {
        icon: 'FilePen',
        verb: verbOf(verbs.edit, outcome),
        object: (
          <Quiet>
            {exactly(t.task.steps.patch(changed.length > 0 ? changed : (files ?? []).map((file) => short(file.path))))}
          </Quiet>
        ),
        side: files !== null && <Stat additions={sum('additions')} deletions={sum('deletions')} />,
        body: () => (
          <>
            {error}
            {files === null ? (
              <Code code={patch} language="diff" label={t.task.labels.patch} />
            ) : (
              <Diff files={files} layout="unified" idPrefix={call.id} />
            )}
          </>
        ),
      };
    }
    case 'write': {
      const content = textOf(input.content);
      return {
        icon: 'FilePlus',
        verb: verbOf(verbs.write, outcome),
        object: <Path path={path} />,
        side: <Quiet>{t.task.steps.lines(content.replace(/\n$/, '').split('\n').length)}</Quiet>,
        body: () =>
          error ?? <Code numbered code={content} language={languageOf(path)} label={t.task.labels.contentOf(path)} />,
      };
    }
    case 'read':
      return {
        icon: 'FileText',
        verb: verbOf(verbs.read, outcome),
        object: <Path path={path} />,
        body: () => error ?? (output !== undefined && <ReadFile path={path} text={asText(output)} />),
      };
    case 'glob':
    case 'grep':
      return {
        icon: call.name === 'glob' ? 'FolderSearch' : 'Search',
        verb: verbOf(verbs[call.name], outcome),
        object: (
          <>
            <code className={css.path}>{exactly(textOf(input.pattern))}</code>
            {path !== '' && path !== '.' && <Quiet> {t.task.steps.in(short(path))}</Quiet>}
          </>
        ),
        body: found,
      };
    case 'todo': {
      const items = planItems(input.items);
      const done = items.filter(({ status }) => status === 'done').length;
      const now = items.find(({ status }) => status === 'in_progress')?.text;
      return {
        icon: 'List',
        verb: t.task.verbs.planned,
        object: <Quiet>{now ?? (done === items.length ? t.task.plan.allDone : t.task.plan.items(items.length))}</Quiet>,
        side: <span className={cx(css.quiet, 'num')}>{t.task.plan.short(done, items.length)}</span>,
        body: () => <Plan items={items} />,
      };
    }
    case 'todo_item': {
      const id = textOf(input.taskId);
      const text = textOf(input.text) || t.engines.item(id);
      const items = planItems([{ status: 'pending', ...input, text }]);
      const [item] = items;
      return {
        icon: 'List',
        verb: t.task.verbs.planned,
        object: <Quiet>{exactly(text)}</Quiet>,
        side: id !== '' && <Quiet>{t.task.plan.status[item?.status ?? 'pending'] ?? item?.status}</Quiet>,
        body: () => error ?? <Plan items={items} />,
      };
    }
    case 'delegate': {
      const made = tasksOf(fieldsOf(output).tasks ?? input.tasks);
      return {
        icon: 'Branch',
        verb: verbOf(t.children.verbs, outcome),
        object: <Quiet>{t.children.count(made.length)}</Quiet>,
        open: outcome === 'ok' || outcome === 'failed',
        body: () => error ?? <HandedOut tasks={made} />,
      };
    }
    case 'publish': {
      const file = fieldsOf(output);
      const name = textOf(file.name) || textOf(input.name) || path;
      const id = textOf(file.id);
      const isPatch = /\.(patch|diff)$/i.test(name);
      return {
        icon: isPatch ? 'Diff' : 'Share',
        verb: verbOf(verbs.publish, outcome),
        object: <Path path={name} />,
        side: typeof file.size === 'number' && <Quiet>{bytes(file.size)}</Quiet>,
        open: true,
        body: error !== null ? () => error : id === '' ? null : () => <Published id={id} name={name} patch={isPatch} />,
      };
    }
    default: {
      const tool = ofServer(call);
      return {
        icon: 'Wrench',
        verb: tool?.name ?? call.name,
        object:
          tool !== null ? (
            <Quiet>{t.mcp.of(tool.server)}</Quiet>
          ) : (
            <Quiet>{textOf(Object.values(input).find((value) => typeof value === 'string'))}</Quiet>
          ),
        body: () => (
          <>
            <Input of={input} />
            {error ??
              (output !== undefined && <Code code={asText(output)} language="json" label={t.task.labels.output} />)}
          </>
        ),
      };
    }
  }
}

/** A call that its model wrote as plain text is shown as that. */
function Input({ of }: { of: Record<string, unknown> }) {
  const { input, ...rest } = of;
  const isPlain = typeof input === 'string' && Object.keys(rest).length === 0;
  const code = isPlain ? exactly(input) : JSON.stringify(of, null, 2);
  return <Code code={code} language={isPlain ? null : 'json'} label={t.task.labels.input} />;
}

/** A call of a tool of an MCP server, by itself or by `mcp_call`; null for another one. */
function ofServer({ name, input }: Call): { server: string; name: string } | null {
  const [, server = '', tool] = /^mcp__([\w-]+?)__(.+)$/.exec(name === 'mcp_call' ? textOf(input.tool) : name) ?? [];
  return tool === undefined ? null : { server, name: tool };
}

/** So much of a command is in its line, in characters; it ends where the line does. */
const IN_LINE = 400;

/** A command in one line, all of its own lines one after the other, without those that say nothing. */
function inOneLine(command: string): string {
  const lines = command.trim().split('\n');
  const telling = lines.filter((line) => line.trim() !== '' && !/^\s*(#|set -)/.test(line));
  return exactly((telling.length > 0 ? telling : lines).join(' ⏎ ').slice(0, IN_LINE));
}

const listOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];

/** The change that a call of `edit` makes, as a patch of one file: the hunks that the service tells, with the numbers of their lines; before there are any, the two texts. */
function editAsDiff(path: string, before: string, after: string, hunks = ''): DiffFile {
  const told = hunks.startsWith('@@') && !hunks.includes('\n[…') ? patchOf(path, hunks) : undefined;
  return told ?? asDiff(path, before, after);
}

function patchOf(path: string, hunks: string): DiffFile | undefined {
  try {
    const file = readPatch(`--- a/file\n+++ b/file\n${hunks}\n`)[0];
    return file && { ...file, path };
  } catch {
    return undefined;
  }
}

/** Of the texts alone it is not known where they stand in the file. */
function asDiff(path: string, before: string, after: string): DiffFile {
  const whole = (text: string) => (text === '' || text.endsWith('\n') ? text : `${text}\n`);
  const lines = diffLines(whole(before), whole(after)).flatMap(({ added, removed, value }): DiffLine[] => {
    const kind = added ? 'add' : removed ? 'del' : 'same';
    const texts = value.replace(/\n$/, '').split('\n');
    return texts.map((text) => ({ kind, text, old: null, new: null }));
  });
  const tally = (kind: DiffLine['kind']) => lines.filter((line) => line.kind === kind).length;
  const hunk = { header: '', lines };
  return { path, from: null, change: 'modified', additions: tally('add'), deletions: tally('del'), hunks: [hunk] };
}
