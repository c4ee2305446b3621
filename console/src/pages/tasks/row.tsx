import { memo, useState } from 'react';
import { Link } from 'wouter';
import { childrenOf } from '../../api/child-queries.ts';
import { checksOf } from '../../api/check-queries.ts';
import { type Task, waitingOf } from '../../api/client.ts';
import { queryClient, taskQuery } from '../../api/queries.ts';
import { t } from '../../texts/index.ts';
import { Ago } from '../../ui/ago.tsx';
import { Children } from '../../ui/children.tsx';
import { count, money } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { PullRequest } from '../../ui/pull-request.tsx';
import { cx, Skeleton, StatusDot } from '../../ui/ui.tsx';
import css from './tasks.module.css';

interface RowProps {
  task: Task;
  project: string | undefined;
  /** Whether the time is that of the last change. */
  byChange: boolean;
  selected: boolean;
  /** Null where nothing can be done with a selection. */
  onSelect: ((task: Task, range: boolean) => void) | null;
  onFocus: (task: Task) => void;
  onTag: (tag: string) => void;
}

/** The link covers the whole row; what can be clicked besides lies above it. */
export const Row = memo(function Row({ task, project, byChange, selected, onSelect, onFocus, onTag }: RowProps) {
  const { id, title, status, usage, changes, tags, createdBy, pullRequest } = task;
  const where = whereOf(task);
  const below = childrenOf(task);
  const [open, setOpen] = useState(false);
  const waiting = waitingOf(task);
  const hint = waiting === null ? hintOf(task) : `${t.task.waitsFor[waiting.code] ?? waiting.message}, ${t.task.since}`;
  const row = (
    <li className={cx(css.row, selected && css.selected)}>
      {onSelect && (
        <label className={css.check}>
          <input
            type="checkbox"
            tabIndex={-1}
            checked={selected}
            aria-label={t.tasks.select(title)}
            onChange={(event) => onSelect(task, event.nativeEvent instanceof MouseEvent && event.nativeEvent.shiftKey)}
          />
        </label>
      )}
      <span className={css.state} title={t.common.status[status]}>
        <StatusDot status={status} />
      </span>
      <div className={css.about}>
        <Link
          href={`/tasks/${id}`}
          className={cx(css.title, 'ellipsis')}
          data-row={id}
          onFocus={() => onFocus(task)}
          onMouseEnter={() => queryClient.setQueryData(taskQuery(id).queryKey, (known) => known ?? task)}
        >
          <span className="sr">{t.common.status[status]}: </span>
          {title}
        </Link>
        {hint !== '' && (
          <span className={cx(css.hint, 'ellipsis')} data-status={status} title={hint}>
            {hint}
            {waiting && (
              <>
                {' '}
                <Ago at={waiting.since} />
              </>
            )}
          </span>
        )}
        {where !== '' && (
          <span className={cx(css.where, 'ellipsis')}>
            {where}
            {usage.cost !== null && ` · ${money(Number(usage.cost.amount))}`}
          </span>
        )}
      </div>
      <div className={css.facts}>
        {tags.slice(0, 3).map((tag) => (
          <button
            key={tag}
            type="button"
            className={css.chip}
            onClick={() => onTag(tag)}
            title={`${t.tasks.tag}: ${tag}`}
          >
            <span className="ellipsis">{tag}</span>
          </button>
        ))}
        {tags.length > 3 && (
          <span className={css.meta} title={tags.slice(3).join(', ')}>
            +{tags.length - 3}
          </span>
        )}
        {where !== '' && (
          <span className={cx(css.chip, css.whereChip)} title={`${t.tasks.repository}: ${where}`}>
            <Icon name="Branch" size={12} />
            <span className="ellipsis">{where}</span>
          </span>
        )}
        {below > 0 && (
          <button type="button" className={css.chip} aria-expanded={open} onClick={() => setOpen(!open)}>
            {t.children.count(below)}
          </button>
        )}
        {task.archived && <span className={css.chip}>{t.tasks.isArchived}</span>}
        {project !== undefined && (
          <span className={css.chip} title={`${t.tasks.project}: ${project}`}>
            <Icon name="Folder" size={12} />
            <span className="ellipsis">{project}</span>
          </span>
        )}
        {task.source.type === 'automation' && (
          <span className={css.automation} title={t.tasks.byAutomation}>
            <Icon name="Calendar" size={14} title={t.tasks.byAutomation} />
          </span>
        )}
        {pullRequest && <PullRequest {...pullRequest} />}
        <Checks task={task} />
        {changes !== null && (
          <span
            className={cx(css.changes, 'num')}
            title={t.tasks.changes(changes.files, changes.additions, changes.deletions)}
          >
            <span aria-hidden className={css.plus}>
              +{count(changes.additions)}
            </span>
            <span aria-hidden className={css.minus}>
              −{count(changes.deletions)}
            </span>
            <span className="sr">{t.tasks.changes(changes.files, changes.additions, changes.deletions)}</span>
          </span>
        )}
        {usage.cost !== null && (
          <span className={cx(css.cost, 'num')} title={t.tasks.cost}>
            {money(Number(usage.cost.amount))}
          </span>
        )}
        <span className={css.person} title={t.tasks.by(createdBy.name)}>
          <span aria-hidden>{createdBy.name.slice(0, 1).toUpperCase()}</span>
          <span className="sr">{t.tasks.by(createdBy.name)}</span>
        </span>
        <span className={css.time}>
          <Ago at={byChange ? task.updatedAt : task.createdAt} />
        </span>
      </div>
    </li>
  );
  if (!open) return row;
  return (
    <>
      {row}
      <li className={css.below}>
        <Children taskId={id} />
      </li>
    </>
  );
});

/** What came of its checks: a small mark, and words for those who do not see it. */
function Checks({ task }: { task: Task }) {
  const { status, passed, failed } = checksOf(task);
  const texts = t.checks;
  if (status !== 'passed' && status !== 'failed' && status !== 'error') return null;
  const words = status === 'error' ? texts.error : status === 'passed' ? texts.passed(passed, failed) : texts.failed(failed, passed); // prettier-ignore
  return (
    <span className={css.checks} data-status={status} title={texts.ofTask(words)}>
      <Icon name={MARKS[status]} size={14} title={texts.ofTask(words)} />
    </span>
  );
}
const MARKS = { passed: 'Check', failed: 'X', error: 'Alert' } as const;

/** The repository by its short name, and the branch: what is pushed to, else what it was made from. */
function whereOf({ repository }: Task): string {
  if (repository === null) return '';
  const name = repository.url
    .replace(/\/+$|\.git$/g, '')
    .split('/')
    .slice(-2)
    .join('/');
  const branch = repository.push?.branch ?? repository.ref;
  return branch === null ? name : `${name} · ${branch}`;
}

/** What is asked, why it failed, or what came of it: its first line, without the marks of Markdown. */
function hintOf({ status, statusReason, pendingInteraction, result }: Task): string {
  if (pendingInteraction !== null) return firstLine(pendingInteraction.question);
  if (status === 'completed') return firstLine(result?.text ?? '');
  const hasReason = status === 'failed' || (status === 'queued' && statusReason !== null);
  return hasReason ? firstLine(statusReason?.message ?? '') : '';
}
const firstLine = (text: string) =>
  (text.split('\n').find((line) => line.trim() !== '') ?? '')
    .replaceAll(/[*`_#]/g, '')
    .trim()
    .slice(0, 300);

const WIDTHS = [34, 48, 27, 41, 30, 52, 38, 25, 44];
export const LoadingRows = () => (
  <div aria-busy aria-label={t.common.loading} role="status">
    {WIDTHS.map((width) => (
      <div key={width} className={css.row}>
        <Skeleton w={15} h={15} />
        <Skeleton w={`${width}%`} />
        <span className="grow" />
        <Skeleton w={34} />
      </div>
    ))}
  </div>
);
