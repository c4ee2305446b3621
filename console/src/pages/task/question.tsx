import { type KeyboardEvent, type SyntheticEvent, useId, useRef, useState } from 'react';
import type { Interaction } from '../../api/client.ts';
import { useCan } from '../../shell/can.ts';
import { useShortcuts } from '../../shell/shortcuts.tsx';
import { t } from '../../texts/index.ts';
import { AttachButton, AttachmentList, useAttachments, useDrop } from '../../ui/attachments.tsx';
import { fullTime } from '../../ui/format.ts';
import { Markdown } from '../../ui/markdown.tsx';
import { Button, cx, Kbd, ui } from '../../ui/ui.tsx';
import { type FormProps, Over } from './approval.tsx';
import { useDraft } from './drafts.ts';
import { useSettled, useWriting } from './press.ts';
import css from './dock.module.css';

export const AskedText = ({ ask }: { ask: Interaction }) => (
  <div className={css.scroll} tabIndex={0} role="group" aria-label={t.task.questionOfAgent}>
    <div className={css.text}>
      <Markdown text={ask.question} />
    </div>
    {ask.options?.map(({ id, label, description }) => (
      <div key={id} className={css.option}>
        <span className="grow">
          <strong>{label}</strong>
          {description && <small>{description}</small>}
        </span>
      </div>
    ))}
  </div>
);

/** A question, or a choice: options, words of one's own, files, as the agent allows. */
export function Question({ ask, taskId, busy, send, onWriting, close }: FormProps) {
  const name = useId();
  const form = useRef<HTMLFormElement>(null);
  const [chosen, setChosen] = useState<string[]>([]);
  const [content, setContent] = useDraft(`${taskId}.${ask.id}`);
  const attachments = useAttachments();
  const takesFiles = useCan()('files:write') && ask.type === 'question';
  const drop = useDrop(attachments, takesFiles);
  const options = ask.options ?? [];
  const free = ask.type === 'question' || ask.allowText;
  const files = attachments.kept.map(({ uploadId }) => ({ uploadId }));
  const words = free && content.trim() !== '';
  const said = chosen.length > 0 || words || files.length > 0;
  const [button, settled] = useSettled(ask.id);
  const ready = said && settled && !busy && close === undefined && !attachments.busy && !attachments.failed;
  const box = useWriting(busy ? null : onWriting, content !== '');

  const pick = (id: string) => {
    if (!ask.multiple) setChosen([id]);
    else setChosen((old) => (old.includes(id) ? old.filter((one) => one !== id) : [...old, id]));
  };
  /** The focus goes to what was chosen: Ctrl-Enter then sends the form, whatever had the focus before. */
  const pickByKey = (id: string, index: number) => {
    pick(id);
    form.current?.querySelectorAll<HTMLInputElement>('fieldset input')[index]?.focus();
  };
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (!ready) return;
    const reply = {
      ...(chosen.length > 0 && { optionIds: chosen }),
      ...(words && { content }),
      ...(files.length > 0 && { attachments: files }),
    };
    send(reply, { onSuccess: () => setContent('') });
  };
  useShortcuts({
    ...Object.fromEntries(options.slice(0, 9).map(({ id }, index) => [`${index + 1}`, () => pickByKey(id, index)])),
    r: () => form.current?.querySelector('textarea')?.focus(),
  });
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== 'Enter') return;
    if (event.ctrlKey || event.metaKey) submit(event);
    // Alone, it would send the form from an option: a digit and Enter are part of ordinary words.
    else if (event.target instanceof HTMLInputElement) event.preventDefault();
  };

  return (
    <form ref={form} onSubmit={submit} onKeyDown={onKey} {...drop.handlers}>
      <div
        className={cx(css.scroll, drop.over && css.over)}
        tabIndex={0}
        role="group"
        aria-label={t.task.questionOfAgent}
      >
        <div className={css.text}>
          <Markdown text={ask.question} />
        </div>
        {options.length > 0 && (
          <fieldset className={css.options} disabled={close !== undefined}>
            <legend className="sr">{ask.multiple ? t.task.question.several : t.task.question.one}</legend>
            {options.map(({ id, label, description }, index) => (
              <label key={id} className={css.option} data-chosen={chosen.includes(id)}>
                <input
                  type={ask.multiple ? 'checkbox' : 'radio'}
                  name={name}
                  checked={chosen.includes(id)}
                  onChange={() => pick(id)}
                />
                <span className="grow">
                  <strong>{label}</strong>
                  {description && <small>{description}</small>}
                </span>
                {index < 9 && <Kbd>{index + 1}</Kbd>}
              </label>
            ))}
          </fieldset>
        )}
        {free && (
          <textarea
            {...box}
            className={cx(ui.area, css.free)}
            rows={2}
            value={content}
            onChange={(event) => setContent(event.target.value)}
            placeholder={options.length > 0 ? t.task.question.orWords : t.task.question.words}
            aria-label={t.task.question.inWords}
          />
        )}
        <AttachmentList {...attachments} />
      </div>
      {close ? (
        <Over text={content} close={() => (setContent(''), close())} />
      ) : (
        <footer>
          {takesFiles && <AttachButton {...attachments} />}
          <span className={css.expires} title={fullTime(ask.expiresAt)}>
            {t.task.question.until(ask.expiresAt)}
          </span>
          <span className="grow" />
          <Button ref={button} type="submit" look="primary" disabled={!ready} keys="Ctrl ↵">
            {busy ? t.task.sending : t.task.question.send}
          </Button>
        </footer>
      )}
    </form>
  );
}
