import { t } from '../../texts/index.ts';
import { count } from '../../ui/format.ts';
import { Terminal } from '../../ui/terminal.tsx';
import { usePrinted } from './live.ts';
import css from './tool.module.css';

/** So much of the end is drawn while it grows, in characters. */
const TAIL = 30_000;

/** What a call or a check prints while it runs. */
export function LiveOutput({ printer, label }: { printer: string; label: string }) {
  const printed = usePrinted(printer);
  if (printed === undefined) return <p className={css.wait}>{t.task.steps.noOutputYet}</p>;
  const { stdout, stderr } = printed;
  const left = printed.left + Math.max(0, stdout.length - TAIL) + Math.max(0, stderr.length - TAIL);
  return (
    <>
      {left > 0 && <p className={css.wait}>{t.task.steps.leftOut(count(left))}</p>}
      <Terminal live stdout={endOf(stdout)} stderr={endOf(stderr)} label={t.task.labels.liveOutputOf(label)} />
    </>
  );
}

/** From the beginning of a line on. */
const endOf = (text: string): string =>
  text.length <= TAIL ? text : text.slice(-TAIL).replace(/^[^\n]{0,2000}\n/, '');
