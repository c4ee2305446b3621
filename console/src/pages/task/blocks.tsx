// The parts of a conversation that are no steps.
import { useState } from 'react';
import type { ReviewComment } from '../../api/client.ts';
import { downloadFile } from '../../api/queries.ts';
import { useWithdraw } from '../../api/task-actions.ts';
import { useCan, useContext } from '../../shell/can.ts';
import { t } from '../../texts/index.ts';
import { Code, exactly } from '../../ui/code.tsx';
import { clockTime, count, fullTime } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { Markdown } from '../../ui/markdown.tsx';
import { Button, cx, toast, toastError } from '../../ui/ui.tsx';
import { useFold } from './folds.ts';
import { type Block, type Call, fieldsOf, type FilePart, type SourcePart, textOf } from './steps.ts';
import css from './conversation.module.css';

const LONG = { characters: 900, lines: 14 };

export function UserMessage({ block, taskId }: { block: Extract<Block, { kind: 'user' }>; taskId: string }) {
  const { message, text, files, review } = block;
  const [open, setOpen] = useState(false);
  const long = text.length > LONG.characters || text.split('\n').length > LONG.lines;
  const name = message.createdBy?.name ?? t.task.somebody;
  const queued = message.status === 'queued';
  return (
    <article className={css.user} data-queued={queued} aria-label={t.task.messageOf(name)}>
      <header>
        <span className={css.avatar} aria-hidden>
          {name.slice(0, 1).toUpperCase()}
        </span>
        <strong className="ellipsis">{name}</strong>
        <time dateTime={message.createdAt} title={fullTime(message.createdAt)}>
          {clockTime(message.createdAt)}
        </time>
        {queued && (
          <span className={css.queued}>
            <Icon name="Clock" size={12} /> {t.task.waitsToBeRead}
          </span>
        )}
        {queued && <Withdraw taskId={taskId} messageId={message.id} by={message.createdBy?.id} />}
      </header>
      {text !== '' && (
        <div className={cx(css.words, long && !open && css.cut)}>
          <Markdown text={text} />
        </div>
      )}
      {long && (
        <button type="button" className={css.whole} aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? t.task.showLess : t.task.showWhole}
        </button>
      )}
      {review.length > 0 && (
        <ul className={css.review} aria-label={t.task.review.title}>
          {review.map((comment, index) => (
            <li key={index}>
              <Reviewed comment={comment} />
            </li>
          ))}
        </ul>
      )}
      {files.length > 0 && (
        <ul className={css.files}>
          {files.map((part) => (
            <li key={part.id}>
              <SharedFile part={part} />
            </li>
          ))}
        </ul>
      )}
    </article>
  );
}

const QUOTED = 6;

/** A comment on lines of the changes, with as much of them as one needs to know which they are. */
function Reviewed({ comment }: { comment: ReviewComment }) {
  const { path, side, line, endLine = line, quote, text } = comment;
  const lines = quote.split('\n');
  const left = lines.length - QUOTED;
  return (
    <>
      <header>
        <code className="ellipsis" title={path}>
          {exactly(path)}
        </code>
        <span>{t.task.review.on(line, endLine, side)}</span>
      </header>
      {quote !== '' && (
        <pre>
          {exactly(lines.slice(0, QUOTED).join('\n'))}
          {left > 0 && <em>{`\n${t.task.review.more(left)}`}</em>}
        </pre>
      )}
      <p>{exactly(text)}</p>
    </>
  );
}

/** The service lets the author, the owner of the task, and owners and admins take it back; it says so to others. */
function Withdraw({ taskId, messageId, by }: { taskId: string; messageId: string; by: string | undefined }) {
  const { user, workspace } = useContext();
  const writes = useCan()('tasks:write');
  const withdraw = useWithdraw(taskId);
  if (!writes || (by !== user.id && workspace.role === 'member')) return null;
  const onClick = () => withdraw.mutate(messageId, { onSuccess: () => toast(t.task.withdrawn), onError: toastError });
  return (
    <Button small look="ghost" icon="X" disabled={withdraw.isPending} onClick={onClick}>
      {t.task.withdraw}
    </Button>
  );
}

export function SharedFile({ part }: { part: FilePart }) {
  return (
    <Button
      small
      icon="Paperclip"
      disabled={!useCan()('files:read')}
      title={t.task.files.downloadOf(exactly(part.name))}
      onClick={() => downloadFile(part)}
    >
      <span className="ellipsis">{exactly(part.name)}</span>
    </Button>
  );
}

export function Source({ part }: { part: SourcePart }) {
  const title = part.title ?? (part.type === 'source_url' ? part.url : part.sourceId);
  const linked = part.type === 'source_url' && /^https?:/i.test(part.url);
  return (
    <p className={css.quiet}>
      <Icon name="Link" size={13} /> {t.task.source}{' '}
      {linked ? (
        <a href={part.url} target="_blank" rel="noreferrer noopener" title={part.url}>
          {title}
        </a>
      ) : (
        title
      )}
    </p>
  );
}

/** What happened on the way, in a line; what this console does not know can be unfolded as it is. */
export function QuietLine({ id, name, data }: { id: string; name: string; data: unknown }) {
  const [open, toggle] = useFold(`quiet-${id}`, false);
  const note = noteOf(name, data);
  if (note !== null) return <p className={css.quiet}>{note}</p>;
  return (
    <div>
      <button type="button" className={css.quiet} aria-expanded={open} data-step onClick={toggle}>
        <Icon name={open ? 'ChevronDown' : 'ChevronRight'} size={13} /> {exactly(name)}
      </button>
      {open && <Code code={JSON.stringify(data, null, 2)} language="json" label={name} />}
    </div>
  );
}

function noteOf(name: string, data: unknown): string | null {
  const fields = fieldsOf(data);
  const text = (field: string) => exactly(textOf(fields[field]));
  switch (name) {
    case 'context': {
      const [before, after] = [Number(fields.tokensBefore), Number(fields.tokensAfter)];
      if (Number.isNaN(before + after)) return null;
      return t.task.quiet.context(fields.kind === 'summary', count(before), count(after));
    }
    case 'fallback':
      return t.task.quiet.fallback(text('from'), text('to'));
    case 'repository_push':
      return text('code').startsWith('pull_request')
        ? t.task.quiet.pullRequest(text('branch'), text('message'))
        : t.task.quiet.push(text('branch'), text('message'));
    case 'repository_patch':
      return text('message');
    case 'workdir':
      return Number.isNaN(Number(fields.lostSteps)) ? null : t.task.quiet.workdir(Number(fields.lostSteps));
    case 'checks': {
      const failed = Array.isArray(fields.failed)
        ? fields.failed.map((one) => exactly(textOf(fieldsOf(one).name)))
        : [];
      return failed.length === 0 ? null : t.checks.goesOn(failed.join(', '), Number(fields.repairsLeft));
    }
    case 'commands': {
      const ended = Array.isArray(fields.commands) ? fields.commands.map(fieldsOf) : [];
      const how = ended.map(({ commandId, status, exitCode }) => t.commands.ended(exactly(textOf(commandId)), status, exitCode)); // prettier-ignore
      return how.length === 0 ? null : t.commands.over(how.join(', '));
    }
    case 'custom':
      return fields.kind === 'engine_restarted'
        ? t.engines.restarted(exactly(textOf(fieldsOf(fields.data).engine)))
        : null;
    case 'output_errors':
      return t.task.quiet.output(text('errors'));
    default:
      return null;
  }
}

interface Given {
  content: string | null;
  options: { id: string; label: string }[];
  files: { id: string; name: string }[];
}

function givenOf({ result }: Call): Given | null {
  if (result?.status !== 'success') return null;
  const { content, options, files } = fieldsOf(result.output);
  const list = <T,>(value: unknown) => (Array.isArray(value) ? (value as T[]) : []);
  return { content: typeof content === 'string' ? content : null, options: list(options), files: list(files) };
}

/** A question stays in the history with what was answered. */
export function Asked({ call }: { call: Call }) {
  const given = givenOf(call);
  return (
    <section className={cx(css.asked, 'box')} aria-label={t.task.questionOfAgent}>
      <header>
        <Icon name="Message" size={15} /> {t.task.asked}
      </header>
      <Markdown text={textOf(call.input.question)} />
      {given && (
        <div className={css.answer}>
          <span className={css.arrow} role="img" aria-label={t.task.answer}>
            ↳
          </span>
          <div className="grow">
            {given.options.map(({ id, label }) => (
              <strong key={id}>{label}</strong>
            ))}
            {given.content && <Markdown text={given.content} />}
            {given.files.map(({ id, name }) => (
              <span key={id} className={css.answerFile}>
                <Icon name="Paperclip" size={13} /> {exactly(name)}
              </span>
            ))}
          </div>
        </div>
      )}
      {call.result?.status === 'error' && <p className={css.unanswered}>{call.result.error}</p>}
    </section>
  );
}
