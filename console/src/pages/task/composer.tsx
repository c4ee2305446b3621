import { type FormEvent, type RefObject, useEffect, useMemo, useRef, useState } from 'react';
import { type Interaction, isFinal, type SendMessage, type Task } from '../../api/client.ts';
import { useSend } from '../../api/task-actions.ts';
import { useCan } from '../../shell/can.ts';
import { useShortcuts } from '../../shell/shortcuts.tsx';
import { t } from '../../texts/index.ts';
import { AttachButton, AttachmentList, type KeptUpload, useAttachments, useDrop } from '../../ui/attachments.tsx';
import { Button, cx, Failure, Kbd, Segmented, ui } from '../../ui/ui.tsx';
import { useDraft } from './drafts.ts';
import { pressed, useSettled, useWriting } from './press.ts';
import css from './dock.module.css';

type Mode = NonNullable<SendMessage['mode']>;
const MODES = (['queue', 'steer', 'interrupt'] as const).map((value) => ({ value, ...t.task.modes[value] }));

interface Props {
  task: Task;
  /** What a message settles. */
  ask: Interaction | null;
  /** It stays on the page, with what is written and uploaded. */
  hidden: boolean;
  /** Called with whether somebody writes. */
  onWriting: (writes: boolean) => void;
}

/**
 * Where one writes to the agent. The service takes a message at any time; while the agent runs, one says when it is read. While it
 * asks something a message settles that, which the button says: then a click on it sends, and no key in the box.
 */
export function Composer({ task, ask, hidden, onWriting }: Props) {
  const [content, setContent] = useDraft(task.id);
  const [mode, setMode] = useState<Mode>('steer');
  const area = useRef<HTMLTextAreaElement>(null);
  const attachments = useKeptAttachments(task.id);
  const takesFiles = useCan()('files:write');
  const drop = useDrop(attachments, takesFiles);
  // One writes on while it is sent.
  const send = useSend(task.id, (sent) => {
    if (content.startsWith(sent.content ?? '')) setContent(content.slice(sent.content?.length ?? 0));
    attachments.forget((sent.attachments ?? []).map(({ uploadId }) => uploadId));
  });
  const running = task.status === 'running';
  const files = attachments.kept.map(({ uploadId }) => ({ uploadId }));
  const said = content.trim() !== '' || files.length > 0;
  const [button, settled] = useSettled(ask?.id);
  const ready = said && (settled || ask === null) && !send.isPending && !attachments.busy && !attachments.failed;
  const box = useWriting(onWriting, content !== '' || attachments.list.length > 0);

  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (!ready) return;
    const body = {
      ...(content.trim() !== '' && { content }),
      ...(files.length > 0 && { attachments: files }),
      ...(running && { mode }),
    };
    send.mutate(body);
  };
  useShortcuts({ r: () => area.current?.focus() }, !hidden);
  useGrowing(area, content);

  return (
    <form
      className={cx(ui.letter, css.composer, drop.over && css.over)}
      hidden={hidden}
      onSubmit={submit}
      onKeyDown={pressed}
      {...drop.handlers}
    >
      <textarea
        ref={area}
        {...box}
        className={cx(ui.area, css.message)}
        rows={1}
        value={content}
        onChange={(event) => setContent(event.target.value)}
        placeholder={isFinal(task.status) ? t.task.composer.goOn : t.task.composer.write}
        aria-label={t.task.composer.label}
        onKeyDown={(event) => {
          if ((event.ctrlKey || event.metaKey) && event.key === 'Enter' && ask === null) submit();
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
      <AttachmentList {...attachments} />
      {send.isError && <Failure error={send.error} retry={() => submit()} />}
      <footer>
        {takesFiles && <AttachButton {...attachments} />}
        {running && <Segmented label={t.task.modes.label} value={mode} onChange={setMode} options={MODES} />}
        <span className="grow" />
        {ask === null ? (
          <>
            <span className={css.keys}>
              <Kbd>Ctrl</Kbd> <Kbd>↵</Kbd>
            </span>
            <Button
              type="submit"
              small
              look="primary"
              icon="ArrowUp"
              aria-label={t.task.composer.send}
              disabled={!ready}
            />
          </>
        ) : (
          <Button ref={button} type="submit" small disabled={!ready}>
            {t.task.composer.settles[ask.type]}
          </Button>
        )}
      </footer>
    </form>
  );
}

/** What was uploaded stays with the draft, while the agent asks something in between too. */
function useKeptAttachments(taskId: string) {
  const [draft, setDraft] = useDraft(`${taskId}.files`);
  const attachments = useAttachments(useMemo(() => (draft === '' ? [] : (JSON.parse(draft) as KeptUpload[])), []));
  const kept = attachments.kept.length === 0 ? '' : JSON.stringify(attachments.kept);
  useEffect(() => {
    if (kept !== draft) setDraft(kept);
  }, [kept]);
  // Another tab has sent them, or taken them away.
  useEffect(() => {
    if (draft === '') attachments.forget(attachments.kept.map(({ uploadId }) => uploadId));
  }, [draft]);
  return attachments;
}

/** Browsers without `field-sizing` let it grow by hand. */
function useGrowing(area: RefObject<HTMLTextAreaElement | null>, content: string) {
  useEffect(() => {
    const box = area.current;
    if (box === null || CSS.supports('field-sizing', 'content')) return;
    box.style.height = 'auto';
    box.style.height = `${box.scrollHeight}px`;
  }, [area, content]);
}
