import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { api, isGone, type Project } from '../../api/client.ts';
import { orphansQuery, projectFilesQuery, projectQuery, projectTasksQuery } from '../../api/project-queries.ts';
import { queryClient } from '../../api/queries.ts';
import { useCan, useOwns } from '../../shell/can.ts';
import { Page, PageHead } from '../../shell/shell.tsx';
import { t } from '../../texts/index.ts';
import { Ago } from '../../ui/ago.tsx';
import { Confirm, form } from '../../ui/form.tsx';
import { Tag } from '../../ui/tags.tsx';
import { NothingYet } from '../../ui/nothing.tsx';
import { Crumb } from '../../ui/records.tsx';
import { Button, Empty, StatusDot, toast } from '../../ui/ui.tsx';
import { ChecksFact } from '../checks/checks-fact.tsx';
import { ProjectFiles } from './project-files.tsx';
import { ProjectForm } from './project-form.tsx';
import own from './projects.module.css';

export function ProjectPage({ projectId }: { projectId: string }) {
  const can = useCan();
  const owns = useOwns();
  const [, navigate] = useLocation();
  const [dialog, setDialog] = useState<'edit' | 'remove' | null>(null);
  const { data: project, error, refetch } = useQuery(projectQuery(projectId));
  const close = () => setDialog(null);
  // Not while somebody writes in the dialog.
  if (isGone(error) && dialog !== 'edit') {
    return (
      <>
        <PageHead title={t.projects.title} />
        <Empty
          icon="Folder"
          title={t.projects.gone.title}
          actions={<Button onClick={() => navigate('/projects')}>{t.projects.gone.back}</Button>}
        >
          {t.projects.gone.text}
        </Empty>
      </>
    );
  }
  const changes = project !== undefined && can('projects:write') && owns(project.owner);
  const actions = changes && (
    <>
      <Button small icon="Pencil" onClick={() => setDialog('edit')}>
        {t.projects.edit}
      </Button>
      <Button small look="danger" icon="Trash" onClick={() => setDialog('remove')}>
        {t.projects.remove.action}
      </Button>
    </>
  );
  return (
    <>
      <Page title={project?.name ?? t.projects.title} beside={actions}>
        <Crumb to="/projects">{t.projects.title}</Crumb>
        {project === undefined ? (
          <NothingYet error={error} refetch={refetch} h={120} />
        ) : (
          <>
            <About project={project} changes={changes} />
            <ProjectFiles project={project} />
            {can('tasks:read') && <Tasks projectId={projectId} />}
          </>
        )}
      </Page>
      {project !== undefined && (
        <>
          <ProjectForm open={dialog === 'edit'} onClose={close} project={project} onSaved={close} />
          <Remove open={dialog === 'remove'} onClose={close} project={project} />
        </>
      )}
    </>
  );
}

function About({ project, changes }: { project: Project; changes: boolean }) {
  const can = useCan();
  const { description, visibility, owner } = project;
  return (
    <section className={own.head}>
      {description !== null && <p className={own.description}>{description}</p>}
      <p className={own.facts}>
        <span className={own.badge} data-shared={visibility === 'workspace'} title={t.projects.visibleHint[visibility]}>
          {t.projects.visible[visibility]}
        </span>
        <ProjectFacts project={project} />
      </p>
      {(project.checks !== null || project.maxRepairs !== null) && (
        <section aria-label={t.checksForm.defaults}>
          <h2 className={form.hint}>{t.checksForm.defaults}</h2>
          <ChecksFact of="project" {...project} />
        </section>
      )}
      {!changes && (
        <p className={form.hint}>{can('projects:write') ? t.projects.notOwner(owner.name) : t.projects.readOnly}</p>
      )}
    </section>
  );
}

/** Whose it is, when it changed last, and its tags: here and in the list. */
export const ProjectFacts = ({ project: { owner, updatedAt, tags } }: { project: Project }) => (
  <>
    {t.projects.by(owner.name)}
    <span>
      {t.projects.updated} <Ago at={updatedAt} />
    </span>
    {tags.map((tag) => (
      <Tag key={tag}>{tag}</Tag>
    ))}
  </>
);

function Tasks({ projectId }: { projectId: string }) {
  const can = useCan();
  const [, navigate] = useLocation();
  const { data: tasks, error, refetch } = useQuery(projectTasksQuery(projectId));
  return (
    <section className={own.block}>
      <header>
        <h2>{t.projects.tasks.title}</h2>
        <span className="grow" />
        {can('tasks:write') && (
          <Button small icon="Plus" onClick={() => navigate(`/new?project=${projectId}`)}>
            {t.projects.newTask}
          </Button>
        )}
      </header>
      {tasks === undefined && <NothingYet error={error} refetch={refetch} h={90} />}
      {tasks?.length === 0 && <p className={own.nothing}>{t.projects.tasks.empty}</p>}
      {tasks !== undefined && tasks.length > 0 && (
        <>
          <ul className={own.rows}>
            {tasks.map(({ id, title, status, updatedAt }) => (
              <li key={id}>
                <Link href={`/tasks/${id}`} className={own.task}>
                  <StatusDot status={status} />
                  <span className="sr">{t.common.status[status]}</span>
                  <span className="grow ellipsis">{title}</span>
                  <small>
                    <Ago at={updatedAt} />
                  </small>
                </Link>
              </li>
            ))}
          </ul>
          <Link href={`/tasks?project=${projectId}`} className={own.quiet}>
            {t.projects.tasks.all}
          </Link>
        </>
      )}
    </section>
  );
}

function Remove({ open, onClose, project }: { open: boolean; onClose: () => void; project: Project }) {
  const can = useCan();
  const [, navigate] = useLocation();
  const files = useQuery({ ...projectFilesQuery(project.id), enabled: open && can('files:read') }).data;
  const remove = useMutation({
    mutationFn: () => api.projects.delete(project.id),
    onSuccess: () => {
      toast(t.projects.remove.done(project.name));
      navigate('/projects', { replace: true });
      for (const name of ['projects', 'tasks', 'automations', 'billing'])
        void queryClient.invalidateQueries({ queryKey: [name] });
      void queryClient.invalidateQueries({ queryKey: orphansQuery.queryKey });
      // Once the page is left: it would ask for them anew.
      setTimeout(() => {
        queryClient.removeQueries({ queryKey: ['project', project.id] });
        queryClient.removeQueries({ queryKey: projectFilesQuery(project.id).queryKey });
      });
    },
  });
  return (
    <Confirm
      open={open}
      onClose={onClose}
      title={t.projects.remove.title(project.name)}
      action={t.projects.remove.confirm}
      does={remove}
    >
      <p>{t.projects.remove.text}</p>
      {files !== undefined && (
        <p>{files.length === 0 ? t.projects.remove.noFiles : t.projects.remove.files(files.length)}</p>
      )}
      <p>{t.projects.remove.automations}</p>
    </Confirm>
  );
}
