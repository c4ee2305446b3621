import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import { Link, Route, Switch, useLocation } from 'wouter';
import type { Project } from '../../api/client.ts';
import { projectsQuery } from '../../api/queries.ts';
import { useCan } from '../../shell/can.ts';
import { Page, RefusedPage } from '../../shell/shell.tsx';
import { useParam } from '../../shell/url.ts';
import { t } from '../../texts/index.ts';
import { form } from '../../ui/form.tsx';
import { Button, Empty, Failure, Skeleton, ui } from '../../ui/ui.tsx';
import { OrphansPage } from './orphans-page.tsx';
import { ProjectForm } from './project-form.tsx';
import { ProjectFacts, ProjectPage } from './project-page.tsx';
import own from './projects.module.css';

export default function ProjectsPage() {
  const can = useCan();
  if (!can('projects:read')) return <RefusedPage title={t.projects.title} scope="projects:read" />;
  return (
    <Switch>
      <Route path="/projects" component={List} />
      <Route path="/projects/deleted" component={OrphansPage} />
      <Route path="/projects/:projectId">
        {({ projectId }) => <ProjectPage key={projectId} projectId={projectId} />}
      </Route>
    </Switch>
  );
}

/** From this many on, they can be searched. */
const MANY = 8;

function List() {
  const can = useCan();
  const [, navigate] = useLocation();
  const [making, setMaking] = useState(false);
  const [words, setWords] = useParam('q', '');
  const deferred = useDeferredValue(words);
  const { data: projects, error, refetch } = useQuery(projectsQuery);
  const create = can('projects:write') && (
    <Button look="primary" icon="Plus" onClick={() => setMaking(true)}>
      {t.projects.create}
    </Button>
  );
  return (
    <>
      <Page title={t.projects.title} beside={projects !== undefined && projects.length > 0 && create}>
        {error !== null && projects === undefined && <Failure error={error} retry={() => void refetch()} />}
        {projects === undefined && error === null && <Loading />}
        {projects?.length === 0 && (
          <Empty icon="Folder" title={t.projects.empty.title} actions={create}>
            {create ? t.projects.empty.text : `${t.projects.empty.text} ${t.projects.readOnly}`}
          </Empty>
        )}
        {projects !== undefined && projects.length > 0 && (
          <div className={own.list}>
            {projects.length >= MANY && (
              <input
                className={ui.input}
                type="search"
                aria-label={t.projects.search}
                placeholder={t.projects.search}
                value={words}
                onChange={(event) => setWords(event.target.value)}
              />
            )}
            <Rows projects={found(projects, deferred)} />
            {!create && <p className={form.hint}>{t.projects.readOnly}</p>}
          </div>
        )}
        {can('files:read') && (
          <Link href="/projects/deleted" className={own.quiet}>
            {t.projects.orphans.title}
          </Link>
        )}
      </Page>
      <ProjectForm
        open={making}
        onClose={() => setMaking(false)}
        onSaved={({ id }) => {
          setMaking(false);
          navigate(`/projects/${id}`);
        }}
      />
    </>
  );
}

function found(projects: Project[], words: string): Project[] {
  const asked = words.toLowerCase().split(/\s+/).filter(Boolean);
  return projects.filter(({ name, description, tags, owner }) => {
    const text = [name, description ?? '', owner.name, ...tags].join('\n').toLowerCase();
    return asked.every((word) => text.includes(word));
  });
}

function Rows({ projects }: { projects: Project[] }) {
  if (projects.length === 0) return <p className={form.hint}>{t.projects.none}</p>;
  return (
    <ul className={own.rows}>
      {projects.map((project) => (
        <li key={project.id}>
          <Link href={`/projects/${project.id}`} className={own.row}>
            <span className={own.name}>
              <strong className="ellipsis">{project.name}</strong>
              <span className={own.badge} data-shared={project.visibility === 'workspace'}>
                {t.projects.visible[project.visibility]}
              </span>
            </span>
            {project.description !== null && <span className={own.about}>{project.description}</span>}
            <span className={own.facts}>
              <ProjectFacts project={project} />
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

const Loading = () => (
  <>
    <Skeleton w="100%" h={62} />
    <Skeleton w="100%" h={62} />
    <Skeleton w="100%" h={62} />
  </>
);
