// One comment below its lines: as it is written, and as it stands.
import { useState } from 'react';
import { t } from '../../../texts/index.ts';
import { exactly } from '../../../ui/code.tsx';
import { Button, cx, ui } from '../../../ui/ui.tsx';
import { MOST, type Placed } from './comments.ts';
import css from './review.module.css';

interface FormProps {
  comment: Placed;
  /** Whether it is one already. */
  known: boolean;
  /** Each time that something is typed: it is kept. */
  onWrite: (text: string) => void;
  onDone: () => void;
  onCancel: () => void;
}

export function CommentForm({ comment, known, onWrite, onDone, onCancel }: FormProps) {
  const { line, endLine, side } = comment;
  const [text, setText] = useState(comment.text);
  const on = t.task.review.on(line, endLine, side);
  const done = () => text.trim() !== '' && onDone();
  return (
    <form
      className={cx(ui.letter, css.form)}
      onSubmit={(event) => (event.preventDefault(), done())}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onCancel();
        if ((event.ctrlKey || event.metaKey) && event.key === 'Enter') done();
      }}
    >
      <textarea
        className={ui.area}
        autoFocus
        rows={2}
        maxLength={MOST.text}
        value={text}
        aria-label={`${t.task.review.commentOn(line, endLine, side)}`}
        placeholder={t.task.review.hint}
        onChange={({ target }) => (setText(target.value), onWrite(target.value))}
      />
      <footer>
        <span className={css.on}>
          {on}
          {!known && <small>{t.task.review.another}</small>}
        </span>
        <Button small look="ghost" onClick={onCancel}>
          {t.common.cancel}
        </Button>
        <Button small look="primary" type="submit" disabled={text.trim() === ''}>
          {known ? t.task.review.save : t.task.review.add}
        </Button>
      </footer>
    </form>
  );
}

interface CardProps {
  comment: Placed;
  /** Where it does not stand below its lines. */
  named?: boolean;
  onEdit: () => void;
  onRemove: () => void;
}

export function CommentCard({ comment, named = false, onEdit, onRemove }: CardProps) {
  const { path, side, line, endLine, outdated, text } = comment;
  const where = t.task.review.on(line, endLine, side);
  return (
    <div className={css.card}>
      <header>
        {named && (
          <code className="ellipsis" title={path}>
            {exactly(path)}
          </code>
        )}
        <span className={css.on}>{where}</span>
        {outdated && (
          <span className={css.outdated} title={t.task.review.outdatedText}>
            {t.task.review.outdated}
          </span>
        )}
        <span className="grow" />
        <Button
          small
          look="ghost"
          icon="Pencil"
          aria-label={`${t.task.review.edit}: ${where}`}
          title={t.task.review.edit}
          onClick={onEdit}
        />
        <Button
          small
          look="ghost"
          icon="Trash"
          aria-label={`${t.task.review.remove}: ${where}`}
          title={t.task.review.remove}
          onClick={onRemove}
        />
      </header>
      <p>{exactly(text)}</p>
    </div>
  );
}
