import { useQuery } from '@tanstack/react-query';
import { type ReactNode, Suspense, useState } from 'react';
import { Link } from 'wouter';
import { childrenOf, useParent } from '../../api/child-queries.ts';
import type { StoredFile, Task } from '../../api/client.ts';
import { downloadFile, mcpServersQuery, modelsQuery, projectsQuery, webQuery } from '../../api/queries.ts';
import { useCan } from '../../shell/can.ts';
import { program } from '../../shell/program.ts';
import { remember, remembered } from '../../shell/url.ts';
import { t } from '../../texts/index.ts';
import { Ago } from '../../ui/ago.tsx';
import { Children } from '../../ui/children.tsx';
import { exactly } from '../../ui/code.tsx';
import { bytes } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { PullRequest } from '../../ui/pull-request.tsx';
import { Button, copy, Skeleton } from '../../ui/ui.tsx';
import { hrefOf as agentOf } from '../agents/places.ts';
import { hrefOf } from '../settings/environments/places.ts';
import { hrefOf as skillHref } from '../settings/skills/places.ts';
import { Fact } from './fact.tsx';
import { Plan } from './plan.tsx';
import { Spent } from './spent.tsx';
import type { PlanItem } from './steps.ts';
import css from './task.module.css';

const Uses = program(() => import('./network/uses.tsx'));

interface DetailsProps {
  task: Task;
  plan: PlanItem[] | null;
  /** The last one. */
  turn: number;
  files: StoredFile[];
  close: () => void;
}

const FILES = 6;

export function Details({ task, plan, turn, files, close }: DetailsProps) {
  const done = plan?.filter(({ status }) => status === 'done').length ?? 0;
  return (
    <aside
      className={css.details}
      aria-label={t.task.details.title}
      tabIndex={0}
      onKeyDown={(event) => event.key === 'Escape' && close()}
    >
      <Button
        className={css.closePanel}
        small
        look="ghost"
        icon="X"
        aria-label={t.task.details.close}
        onClick={close}
      />
      {plan && plan.length > 0 && (
        <section>
          <h2>
            {t.task.plan.title} <span className="num">{t.task.plan.of(done, plan.length)}</span>
          </h2>
          <Plan items={plan} />
        </section>
      )}
      {files.length > 0 && (
        <section>
          <h2>
            {t.task.tabs.files} <span className="num">{files.length}</span>
          </h2>
          <div className={css.fileList}>
            {files.slice(0, FILES).map((file) => (
              <button
                key={file.id}
                type="button"
                title={t.task.files.downloadOf(file.name)}
                onClick={() => downloadFile(file)}
              >
                <Icon name={file.origin === 'attachment' ? 'Paperclip' : 'FileText'} size={14} />
                <span className="ellipsis">{exactly(file.name)}</span>
                <span className="num">{bytes(file.size)}</span>
              </button>
            ))}
          </div>
        </section>
      )}
      {childrenOf(task) > 0 && (
        <section>
          <h2>
            {t.children.title} <span className="num">{childrenOf(task)}</span>
          </h2>
          <Children taskId={task.id} />
        </section>
      )}
      <Facts task={task} />
      {task.repository && <Repository task={task} />}
      {task.network && <Network task={task} network={task.network} />}
      <Spent task={task} turn={turn} />
    </aside>
  );
}

function Facts({ task }: { task: Task }) {
  const can = useCan();
  const { data: models } = useQuery(modelsQuery);
  const { data: projects } = useQuery({ ...projectsQuery, enabled: can('projects:read') && task.projectId !== null });
  const { data: web } = useQuery(webQuery);
  const parent = useParent(task);
  const { details } = t.task;
  const listed = models?.find(({ id }) => id === task.model);
  const model = listed?.name ?? task.model;
  const project = projects?.find(({ id }) => id === task.projectId)?.name ?? tail(task.projectId ?? '');
  const { automationId } = task.source;
  return (
    <section>
      <h2>{details.task}</h2>
      <dl className={css.facts}>
        <Fact name={details.model}>{task.effort === null ? model : details.modelEffort(model, task.effort)}</Fact>
        {listed?.engine != null && <Fact name={t.engines.label}>{listed.engine}</Fact>}
        <Fact name={details.approvals}>{details.approvalsOf[task.approvals]}</Fact>
        {web != null && <Fact name={t.web.label}>{t.web.reads[`${task.web}`]}</Fact>}
        {task.projectId && (
          <Fact name={details.project}>
            <Link href={`/tasks?project=${task.projectId}`}>{project}</Link>
          </Fact>
        )}
        {task.agent && <Agent of={task.agent} />}
        {task.environment && <Environment of={task.environment} />}
        {task.skills.length > 0 && <Skills of={task.skills} />}
        {task.mcpServers.length > 0 && <McpServers of={task.mcpServers} />}
        {task.tags.length > 0 && (
          <Fact name={details.tags}>
            <span className={css.tags}>
              {task.tags.map((tag) => (
                <Link key={tag} href={`/tasks?tag=${encodeURIComponent(tag)}`}>
                  {tag}
                </Link>
              ))}
            </span>
          </Fact>
        )}
        <Fact name={details.by}>{task.createdBy.name}</Fact>
        {automationId && (
          <Fact name={details.startedBy}>
            <Link href={`/automations/${automationId}`}>{details.automation}</Link>
          </Fact>
        )}
        {parent && (
          <Fact name={t.children.parent}>
            <Link href={`/tasks/${parent.id}`}>{parent.title ?? t.children.parentTask}</Link>
          </Fact>
        )}
        {task.forkedFrom && (
          <Fact name={details.forkedFrom}>
            <Link href={`/tasks/${task.forkedFrom.taskId}`}>{details.turnOf(task.forkedFrom.turn)}</Link>
          </Fact>
        )}
        <Fact name={details.created}>
          <Ago at={task.createdAt} />
        </Fact>
        {task.finishedAt && (
          <Fact name={details.finished}>
            <Ago at={task.finishedAt} />
          </Fact>
        )}
        {task.archived && <Fact name={details.archived}>{details.yes}</Fact>}
        <Fact name={details.id}>
          <button type="button" title={t.common.copy} onClick={() => void copy(task.id)}>
            <code>{tail(task.id)}</code>
          </button>
        </Fact>
        {Object.entries(task.metadata).map(([name, value]) => (
          <Fact key={name} name={name}>
            {value}
          </Fact>
        ))}
      </dl>
    </section>
  );
}

const tail = (id: string) => `…${id.slice(-12)}`;

function Repository({ task }: { task: Task }) {
  const { repository, changes, pullRequest } = task;
  const { details } = t.task;
  if (repository === null) return null;
  const { push } = repository;
  return (
    <section>
      <h2>{details.repository}</h2>
      <dl className={css.facts}>
        <Fact name={details.address}>
          <Outside href={repository.url}>{repository.url.replace(/^https?:\/\//, '')}</Outside>
        </Fact>
        {repository.ref && <Fact name={details.ref}>{repository.ref}</Fact>}
        {repository.commit && (
          <Fact name={details.commit} title={repository.commit}>
            <code>{repository.commit.slice(0, 10)}</code>
          </Fact>
        )}
        {push && (
          <Fact name={details.branch}>
            <Outside href={push.url}>{push.branch}</Outside>
          </Fact>
        )}
        {pullRequest && (
          <Fact name={details.pullRequest}>
            <PullRequest named {...pullRequest} />
          </Fact>
        )}
        {changes && (
          <Fact name={details.changes}>
            <span className="num">{details.changed(changes.files, changes.additions, changes.deletions)}</span>
          </Fact>
        )}
      </dl>
    </section>
  );
}

/** The version that it works as. */
function Agent({ of: { slug, version } }: { of: NonNullable<Task['agent']> }) {
  const words = t.agentField.at(slug, version);
  const reads = useCan()('projects:read');
  return <Fact name={t.agentField.label}>{reads ? <Link href={agentOf(slug, version)}>{words}</Link> : words}</Fact>;
}

/** The version that it works in. */
function Environment({ of: { slug, version } }: { of: NonNullable<Task['environment']> }) {
  const texts = t.environmentField;
  const words = texts.at(slug, version);
  const reads = useCan()('projects:read');
  return <Fact name={texts.label}>{reads ? <Link href={hrefOf(slug, version)}>{words}</Link> : words}</Fact>;
}

/** By name, with what is known of each. */
function McpServers({ of }: { of: string[] }) {
  const { data = [] } = useQuery(mcpServersQuery);
  const words = of.map((name) => {
    const status = data.find((one) => one.name === name)?.status;
    return status === undefined || status === 'ready' ? name : `${name} (${t.mcp.states[status]})`;
  });
  return <Fact name={t.mcp.label}>{words.join(', ')}</Fact>;
}

/** Those that it was made with. */
function Skills({ of }: { of: Task['skills'] }) {
  const texts = t.skillField;
  const reads = useCan()('projects:read');
  return (
    <Fact name={texts.label}>
      {of.map(({ name, version }) => (
        <span key={name}>
          {reads ? (
            <Link href={skillHref(name, version)}>{texts.at(name, version)}</Link>
          ) : (
            texts.at(name, version)
          )}{' '}
        </span>
      ))}
    </Fact>
  );
}

function Network({ task, network: { hosts, refused } }: { task: Task; network: NonNullable<Task['network']> }) {
  const { details } = t.task;
  const [open, setOpen] = useState(remembered('network', '') !== '');
  const toggle = (unfolded: boolean) => {
    setOpen(unfolded);
    remember('network', unfolded ? 'open' : '');
  };
  return (
    <section>
      <h2>{details.network}</h2>
      <dl className={css.facts}>
        <Fact name={details.mayReach}>{hosts.join(', ')}</Fact>
        {refused.length > 0 && (
          <Fact name={details.refusedHosts} title={details.refusedNote}>
            {refused.join(', ')}
          </Fact>
        )}
      </dl>
      <details className={css.fold} open={open} onToggle={(event) => toggle(event.currentTarget.open)}>
        <summary>{details.used}</summary>
        <Suspense fallback={<Skeleton w="100%" h={32} />}>{open && <Uses task={task} />}</Suspense>
      </details>
    </section>
  );
}

/** A link only when it leads to a page. */
function Outside({ href, children }: { href: string | null; children: ReactNode }) {
  if (href === null || !/^https?:/i.test(href)) return children;
  return (
    <a href={href} target="_blank" rel="noreferrer noopener" className={css.outside}>
      {children}
    </a>
  );
}
