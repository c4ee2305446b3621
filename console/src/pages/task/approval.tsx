// Nothing is approved that was not in sight: all of the call is shown, control characters and such that turn text as well, and a
// call that is longer than its box is read to its end first.
import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';
import type { Interaction, Reply } from '../../api/client.ts';
import { t } from '../../texts/index.ts';
import { Code, exactly, languageOf } from '../../ui/code.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Markdown } from '../../ui/markdown.tsx';
import { Button, CopyButton, cx, ui } from '../../ui/ui.tsx';
import { useDraft } from './drafts.ts';
import { useSettled, useWriting } from './press.ts';
import { fieldsOf } from './steps.ts';
import { usual } from './usual.ts';
import css from './dock.module.css';

export interface FormProps {
  ask: Interaction;
  taskId: string;
  busy: boolean;
  send: (reply: Reply, done?: { onSuccess: () => void }) => void;
  /** Called with whether somebody writes. */
  onWriting: (writes: boolean) => void;
  /** Of what is settled already: the form is left for what was written. */
  close: (() => void) | undefined;
}

export function Approval({ ask, taskId, busy, send, onWriting, close }: FormProps) {
  const [reason, setReason] = useDraft(`${taskId}.${ask.id}`);
  const [remember, setRemember] = useState(false);
  const [denying, setDenying] = useState(reason !== '');
  const { box, seen } = useSeen();
  const [button, settled] = useSettled(denying);
  const usable = settled && !busy;
  const ready = seen && usable;
  const approve = () => ready && send({ decision: 'approve', ...(remember && { remember: 'task' as const }) });
  const deny = () => {
    if (!usable || close !== undefined) return;
    const why = reason.trim();
    send({ decision: 'deny', ...(why !== '' && { reason: why }) }, { onSuccess: () => setReason('') });
  };
  const onward = () => {
    const element = box.current;
    element?.focus();
    element?.scrollBy({ top: element.clientHeight * 0.85 });
  };
  const tool = ask.toolCall?.name;
  return (
    <>
      <WhatWouldBeDone ask={ask} box={box} />
      {!seen && !denying && (
        <button type="button" className={css.more} onClick={onward}>
          <Icon name="ArrowDown" size={13} /> {t.task.approval.readOn}
        </button>
      )}
      {denying && (
        <Reason
          value={reason}
          onWriting={busy ? null : onWriting}
          onChange={setReason}
          deny={deny}
          back={() => setDenying(false)}
        />
      )}
      {close ? (
        <Over text={reason} close={() => (setReason(''), close())} />
      ) : (
        <footer>
          {!denying && tool !== undefined && usual(tool, {}).name !== USE_SECRET && (
            <label className={css.remember}>
              <input
                type="checkbox"
                checked={remember}
                disabled={!usable}
                onChange={(event) => setRemember(event.target.checked)}
              />
              <span>
                {t.task.approval.remember} <code>{tool}</code> {t.task.approval.inThisTask}
              </span>
            </label>
          )}
          <span className="grow" />
          {denying ? (
            <>
              <Button look="ghost" onClick={() => setDenying(false)}>
                {t.task.approval.back}
              </Button>
              <Button ref={button} look="danger" disabled={!usable} onClick={deny}>
                {reason.trim() === '' ? t.task.approval.denyPlain : t.task.approval.denyWithReason}
              </Button>
            </>
          ) : (
            <>
              <Button disabled={!usable} onClick={() => setDenying(true)}>
                {t.task.approval.deny}
              </Button>
              <Button
                ref={button}
                look="primary"
                disabled={!ready}
                title={seen ? undefined : t.task.approval.readOn}
                onClick={approve}
              >
                {remember ? t.task.approval.approveAll : t.task.approval.approve}
              </Button>
            </>
          )}
        </footer>
      )}
    </>
  );
}

interface ReasonProps {
  value: string;
  onWriting: FormProps['onWriting'] | null;
  onChange: (value: string) => void;
  deny: () => void;
  back: () => void;
}

function Reason({ value, onWriting, onChange, deny, back }: ReasonProps) {
  return (
    <textarea
      {...useWriting(onWriting, value !== '')}
      className={cx(ui.area, css.reason)}
      value={value}
      onChange={(event) => onChange(event.target.value)}
      placeholder={t.task.approval.reasonHint}
      aria-label={t.task.approval.reason}
      maxLength={4000}
      autoFocus
      onKeyDown={(event) => {
        if ((event.ctrlKey || event.metaKey) && event.key === 'Enter') deny();
        if (event.key === 'Escape') back();
      }}
    />
  );
}

/** Below what somebody wrote to an interaction that is settled by now. */
export const Over = ({ text, close }: { text: string; close: () => void }) => (
  <footer>
    <span className={cx(css.since, 'grow')} role="status">
      {t.task.over.text}
    </span>
    {text !== '' && (
      <CopyButton look="plain" text={text}>
        {t.task.over.copy}
      </CopyButton>
    )}
    <Button small onClick={close}>
      {t.task.over.close}
    </Button>
  </footer>
);

/** Whether the end of a box has been in sight. */
function useSeen() {
  const box = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    const element = box.current;
    if (element === null || seen) return;
    const measure = () => {
      const { scrollTop, clientHeight, scrollHeight } = element;
      if (clientHeight > 0 && scrollTop + clientHeight >= scrollHeight - 2) setSeen(true);
    };
    // After the first drawing: what has no height yet has no end either.
    const frame = requestAnimationFrame(measure);
    element.addEventListener('scroll', measure, { passive: true });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => {
      cancelAnimationFrame(frame);
      element.removeEventListener('scroll', measure);
      observer.disconnect();
    };
  }, [seen]);
  return { box, seen };
}

interface WhatProps {
  ask: Interaction;
  box?: RefObject<HTMLDivElement | null>;
}

/** Everything of the call, in one box that scrolls: nothing in it scrolls by itself, or to the side. */
export function WhatWouldBeDone({ ask, box }: WhatProps) {
  return (
    <div className={css.scroll} ref={box} tabIndex={0} role="region" aria-label={t.task.approval.what} data-approval>
      {callOf(ask)}
    </div>
  );
}

/** The yes to this tool is for one secret, and lasts for the task by itself. Its hosts stand in the question alone. */
const USE_SECRET = 'use_secret';

function callOf({ toolCall, question }: Interaction): ReactNode {
  if (toolCall === null || toolCall.input === null) {
    return (
      <div className={css.text}>
        <Markdown text={exactly(question)} />
      </div>
    );
  }
  const { name, input } = usual(toolCall.name, fieldsOf(toolCall.input));
  if (name === USE_SECRET) return <Part text={question} language={null} label={t.task.asks.approval} />;
  const { command, path, content, oldText, newText, patch, ...rest } = input;
  const language = typeof path === 'string' ? languageOf(path) : null;
  const given = [command, path, content, oldText, newText, patch].filter((value) => value !== undefined);
  // A field that is no text would not be shown as what it is.
  if (given.length === 0 || given.some((value) => typeof value !== 'string'))
    return <Part text={JSON.stringify(toolCall.input, null, 2)} language="json" label={t.task.labels.input} />;
  return (
    <>
      {typeof path === 'string' && <p className={css.path}>{exactly(path)}</p>}
      <Part text={command} language="bash" label={t.task.labels.command} />
      <Part text={content} language={language} label={t.task.labels.content} />
      {(oldText !== undefined || newText !== undefined) && (
        <Part text={marked('-', oldText) + marked('+', newText)} language="diff" label={t.task.labels.change} />
      )}
      <Part text={patch} language="diff" label={t.task.labels.patch} />
      {Object.keys(rest).length > 0 && (
        <Part text={JSON.stringify(rest, null, 2)} language="json" label={t.task.approval.rest} titled />
      )}
    </>
  );
}

/** The lines of a text as a diff shows them. */
const marked = (sign: string, text: unknown): string =>
  typeof text !== 'string' || text === '' ? '' : `${text.replace(/\n$/, '').replace(/^/gm, sign)}\n`;

interface PartProps {
  text: unknown;
  language: string | null;
  label: string;
  titled?: boolean;
}

function Part({ text, language, label, titled }: PartProps) {
  if (text === undefined) return null;
  const shown = typeof text === 'string' ? text : JSON.stringify(text, null, 2);
  return (
    <div className={css.part}>
      {titled && <h3>{label}</h3>}
      <Code plain max code={exactly(shown)} language={language} label={label} />
    </div>
  );
}
