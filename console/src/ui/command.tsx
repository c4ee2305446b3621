// A line for the terminal of an operator.
import { t } from '../texts/index.ts';
import css from './command.module.css';
import { Button, copy } from './ui.tsx';

export const Command = ({ line }: { line: string }) => (
  <div className={css.command}>
    <code>{line}</code>
    <Button small look="ghost" icon="Copy" aria-label={t.common.copyCommand} onClick={() => void copy(line)} />
  </div>
);
