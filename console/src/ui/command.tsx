// A line for the terminal of an operator.
import { t } from '../texts/index.ts';
import css from './command.module.css';
import { CopyButton } from './ui.tsx';

export const Command = ({ line }: { line: string }) => (
  <div className={css.command}>
    <code>{line}</code>
    <CopyButton aria-label={t.common.copyCommand} text={line} />
  </div>
);
