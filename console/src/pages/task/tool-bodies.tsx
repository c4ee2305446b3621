// What unfolds below the line of a call.
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { downloadFile } from '../../api/queries.ts';
import { useCan } from '../../shell/can.ts';
import { t } from '../../texts/index.ts';
import { Code, exactly, languageOf } from '../../ui/code.tsx';
import { Terminal } from '../../ui/terminal.tsx';
import { Button } from '../../ui/ui.tsx';
import { LiveOutput } from './live-output.tsx';
import { PatchPreview } from './file-text.tsx';
import { type Call, fieldsOf, type Outcome, textOf } from './steps.ts';
import css from './tool.module.css';

interface CommandProps {
  call: Call;
  outcome: Outcome;
  label: string;
  failure: ReactNode;
}

export function CommandBody({ call: { id, input, result }, outcome, label, failure }: CommandProps) {
  const { command: given, ...rest } = input;
  const command = textOf(given).trim();
  const { stdout, output, stderr, truncated } = fieldsOf(result?.status === 'success' ? result.output : null);
  return (
    <>
      {command !== '' && (
        <div className={css.command}>
          <Code plain code={exactly(command)} language="bash" label={t.task.labels.command} />
        </div>
      )}
      {Object.keys(rest).length > 0 && <p className={css.rest}>{exactly(saidIn(rest))}</p>}
      {failure}
      {result?.status === 'success' && (
        <Terminal
          stdout={textOf(stdout ?? output)}
          stderr={textOf(stderr)}
          truncated={truncated === true}
          label={t.task.labels.outputOf(label)}
        />
      )}
      {outcome === 'running' && <LiveOutput printer={id} label={label} />}
    </>
  );
}

/** All else that is asked for, as `timeoutSeconds: 600`. */
const saidIn = (input: Record<string, unknown>): string =>
  Object.entries(input)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
    .join(', ');

/** `read` numbers the lines of what it shows. */
export function ReadFile({ path, text }: { path: string; text: string }) {
  const numbered = /^ *1\t/.test(text) && !/\n(?! *\d+\t|\[)/.test(text);
  const code = numbered ? text.replace(/^ *\d+\t/gm, '') : text;
  return (
    <Code
      numbered={numbered}
      code={code}
      language={numbered ? languageOf(path) : null}
      label={t.task.labels.contentOf(path)}
    />
  );
}

export function Published({ id, name, patch }: { id: string; name: string; patch: boolean }) {
  if (!useCan()('files:read')) return <p className={css.wait}>{t.common.refused.text('files:read')}</p>;
  return (
    <div className={css.published}>
      {patch && <PatchPreview fileId={id} />}
      <Button small icon="Download" onClick={() => downloadFile({ id, name })}>
        {t.task.files.downloadOf(exactly(name))}
      </Button>
    </div>
  );
}

interface HandedTask {
  id: string;
  title: string;
  status: string;
  text: string;
}

/** What a call asks for, or what has become of it. */
export const tasksOf = (tasks: unknown): HandedTask[] =>
  (Array.isArray(tasks) ? tasks : []).map((one) => {
    const { id, title, status, text, content } = fieldsOf(one);
    return { id: textOf(id), title: textOf(title), status: textOf(status), text: textOf(text ?? content) };
  });

/** Characters of what each of them has said last. */
const SAID = 300;

export function HandedOut({ tasks }: { tasks: HandedTask[] }) {
  return (
    <ul className={css.handed}>
      {tasks.map(({ id, title, status, text }, at) => (
        <li key={at}>
          {id === '' || status === 'gone' ? (
            <strong>{exactly(title)}</strong>
          ) : (
            <Link href={`/tasks/${id}`}>{exactly(title)}</Link>
          )}
          {status !== '' && <span className={css.quiet}> {t.children.statusOf(status)}</span>}
          {text !== '' && <p>{exactly(text.length > SAID ? `${text.slice(0, SAID)} …` : text)}</p>}
        </li>
      ))}
    </ul>
  );
}
