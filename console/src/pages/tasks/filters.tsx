import { useQuery } from '@tanstack/react-query';
import { type ReactNode, type RefObject, useEffect, useId, useRef, useState } from 'react';
import { automationsQuery, projectsQuery, type TaskFilter } from '../../api/queries.ts';
import { useCan } from '../../shell/can.ts';
import { t } from '../../texts/index.ts';
import { Icon } from '../../ui/icon.tsx';
import { cx, intoView, Kbd, StatusDot, ui } from '../../ui/ui.tsx';
import css from './filters.module.css';
import { type Change, STATUSES } from './use-filter.ts';

/** So long after the last key the service is asked, in milliseconds. */
const TYPED_MS = 250;

interface Props {
  filter: TaskFilter;
  change: Change;
  searchBox: RefObject<HTMLInputElement | null>;
  /** Tags that stand on tasks that are shown. */
  tags: readonly string[];
}

export function Filters({ filter, change, searchBox, tags }: Props) {
  const { status } = filter;
  const toggle = (one: (typeof STATUSES)[number]) =>
    change({ status: String(status.includes(one) ? status.filter((other) => other !== one) : [...status, one]) });
  return (
    <>
      <div className={css.filters}>
        <div className={cx(ui.tabs, css.statuses)} role="group" aria-label={t.tasks.status}>
          <button
            type="button"
            className={ui.tab}
            aria-pressed={status.length === 0}
            onClick={() => change({ status: '' })}
          >
            {t.tasks.all}
          </button>
          {STATUSES.map((one) => (
            <button
              key={one}
              ref={status.includes(one) ? intoView : undefined}
              type="button"
              className={ui.tab}
              aria-pressed={status.includes(one)}
              onClick={() => toggle(one)}
            >
              <StatusDot status={one} size={13} />
              {t.common.status[one]}
            </button>
          ))}
        </div>
        <div className={css.right}>
          <More filter={filter} change={change} tags={tags} />
          <Search q={filter.q ?? ''} change={change} box={searchBox} />
        </div>
      </div>
      <Active filter={filter} change={change} />
    </>
  );
}

/** What is typed is asked for when the typing pauses. */
function Search({ q, change, box }: { q: string; change: Change; box: Props['searchBox'] }) {
  const [text, setText] = useState(q);
  const asked = useRef(q);
  useEffect(() => {
    // By a link, the back button or a button that clears.
    if (q !== asked.current) setText(q);
    asked.current = q;
  }, [q]);
  useEffect(() => {
    const words = text.trim();
    if (words === asked.current) return;
    const timer = setTimeout(() => {
      asked.current = words;
      change({ q: words }, { replace: true });
    }, TYPED_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <label className={css.search}>
      <Icon name="Search" size={14} />
      <input
        ref={box}
        type="search"
        className={ui.input}
        value={text}
        maxLength={200}
        placeholder={t.tasks.search}
        aria-label={t.tasks.search}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          setText('');
          event.currentTarget.blur();
        }}
      />
      {text === '' && <Kbd>/</Kbd>}
    </label>
  );
}

function More({ filter, change, tags }: Pick<Props, 'filter' | 'change' | 'tags'>) {
  const details = useRef<HTMLDetailsElement>(null);
  const { projects, automations } = useNames();
  const [open, setOpen] = useState(false);
  useEffect(() => {
    if (!open) return;
    const close = ({ target }: Event) => {
      if (details.current?.contains(target as Node) === false) details.current.open = false;
    };
    addEventListener('pointerdown', close);
    return () => removeEventListener('pointerdown', close);
  }, [open]);
  return (
    <details
      ref={details}
      className={css.more}
      onToggle={(event) => setOpen(event.currentTarget.open)}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || details.current === null) return;
        details.current.open = false;
        details.current.querySelector('summary')?.focus();
      }}
    >
      <summary aria-label={t.tasks.filter} title={t.tasks.filter}>
        <Icon name="Settings" size={14} />
        {t.tasks.filterShort}
      </summary>
      <div className={css.panel} role="group" aria-label={t.tasks.filter}>
        {projects !== undefined && (
          <Choice
            label={t.tasks.project}
            value={filter.projectId ?? ''}
            options={[['', t.tasks.anyProject], ...projects]}
            onChange={(project) => change({ project })}
          />
        )}
        {automations !== undefined && (
          <Choice
            label={t.tasks.automation}
            value={filter.automationId ?? ''}
            options={[['', t.tasks.anyAutomation], ...automations]}
            onChange={(automation) => change({ automation })}
          />
        )}
        <TagChoice key={filter.tag} tag={filter.tag ?? ''} tags={tags} change={change} />
        <Choice
          label={t.tasks.archived}
          value={filter.archived}
          options={Object.entries(t.tasks.archivedIs).sort(([a], [b]) => order(a) - order(b))}
          onChange={(archived) => change({ archived: archived === 'false' ? '' : archived })}
        />
        <Choice
          label={t.tasks.sort}
          value={filter.sort}
          options={Object.entries(t.tasks.sortIs)}
          onChange={(sort) => change({ sort: sort === 'createdAt' ? '' : sort })}
        />
      </div>
    </details>
  );
}
const order = (archived: string) => ['false', 'true', 'all'].indexOf(archived);

/** Names by id; not at all for a key that may not read them. */
export function useNames() {
  const can = useCan();
  const { data: projects } = useQuery({ ...projectsQuery, enabled: can('projects:read') });
  const { data: automations } = useQuery({ ...automationsQuery, enabled: can('automations:read') });
  const pairs = (list: { id: string; name: string }[] | undefined) =>
    list === undefined || list.length === 0 ? undefined : list.map(({ id, name }): [string, string] => [id, name]);
  return { projects: pairs(projects), automations: pairs(automations) };
}

function Choice({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: string;
  options: [string, string][];
  onChange: (value: string) => void;
}) {
  const known = options.some(([one]) => one === value);
  return (
    <label className={css.choice}>
      <span>{label}</span>
      <select className={ui.select} value={value} onChange={(event) => onChange(event.target.value)}>
        {!known && <option value={value}>{t.tasks.unknown}</option>}
        {options.map(([one, name]) => (
          <option key={one} value={one}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

function TagChoice({ tag, tags, change }: { tag: string; tags: readonly string[]; change: Change }) {
  const id = useId();
  const [text, setText] = useState(tag);
  const apply = (value: string) => value.trim() !== tag && change({ tag: value.trim() });
  return (
    <label className={css.choice}>
      <span>{t.tasks.tag}</span>
      <input
        className={ui.input}
        list={id}
        value={text}
        maxLength={64}
        placeholder={t.tasks.tagHint}
        onChange={({ target: { value }, nativeEvent }) => {
          setText(value);
          // One of the list was chosen; what is typed may go on.
          const { inputType = '' } = nativeEvent as InputEvent;
          if (!inputType.startsWith('insertText') && tags.includes(value)) apply(value);
        }}
        onBlur={() => apply(text)}
        onKeyDown={(event) => event.key === 'Enter' && apply(text)}
      />
      <datalist id={id}>
        {tags.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
    </label>
  );
}

/** What the panel narrows by, said outside of it, each with a button that takes it away. */
function Active({ filter, change }: Pick<Props, 'filter' | 'change'>) {
  const { projects = [], automations = [] } = useNames();
  const { projectId, automationId, tag, archived, sort } = filter;
  const nameIn = (pairs: [string, string][], id: string) => pairs.find(([one]) => one === id)?.[1] ?? t.tasks.unknown;
  const all: (false | [string, string, () => void])[] = [
    !!projectId && [t.tasks.project, nameIn(projects, projectId), () => change({ project: '' })],
    !!automationId && [t.tasks.automation, nameIn(automations, automationId), () => change({ automation: '' })],
    !!tag && [t.tasks.tag, tag, () => change({ tag: '' })],
    archived !== 'false' && [t.tasks.archived, t.tasks.archivedIs[archived], () => change({ archived: '' })],
    sort !== 'createdAt' && [t.tasks.sort, t.tasks.sortIs[sort], () => change({ sort: '' })],
  ];
  const active = all.filter((one) => one !== false);
  if (active.length === 0) return null;
  return (
    <ul className={css.active}>
      {active.map(([what, value, remove]) => (
        <Chip key={what} what={what} onRemove={remove}>
          {value}
        </Chip>
      ))}
    </ul>
  );
}

const Chip = ({ what, children, onRemove }: { what: string; children: ReactNode; onRemove: () => void }) => (
  <li>
    <span className={css.what}>{what}</span>
    <span className="ellipsis">{children}</span>
    <button type="button" aria-label={t.tasks.without(what)} onClick={onRemove}>
      <Icon name="X" size={12} />
    </button>
  </li>
);
