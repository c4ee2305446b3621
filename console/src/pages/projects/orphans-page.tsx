import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { orphansQuery } from '../../api/project-queries.ts';
import { useCan } from '../../shell/can.ts';
import { Page } from '../../shell/shell.tsx';
import { t } from '../../texts/index.ts';
import { form } from '../../ui/form.tsx';
import { NothingYet, Refused } from '../../ui/nothing.tsx';
import { Crumb } from '../../ui/records.tsx';
import { Empty } from '../../ui/ui.tsx';
import { FileList } from './file-list.tsx';
import own from './projects.module.css';

/** What deleted projects have left. */
export function OrphansPage() {
  const can = useCan();
  return (
    <Page title={t.projects.orphans.title}>
      <Crumb to="/projects">{t.projects.title}</Crumb>
      {can('files:read') ? <Files /> : <Refused scope="files:read" />}
    </Page>
  );
}

function Files() {
  const can = useCan();
  const { data: files, error, refetch } = useQuery(orphansQuery);
  if (files === undefined) return <NothingYet error={error} refetch={refetch} h={90} />;
  if (files.length === 0) {
    return (
      <Empty icon="FileText" title={t.projects.orphans.empty.title}>
        {t.projects.orphans.empty.text}
      </Empty>
    );
  }
  return (
    <section className={own.block}>
      <p className={form.hint}>{t.projects.orphans.about}</p>
      <FileList files={files} may={can('files:write')} remove={(file) => api.files.delete(file.id)} />
    </section>
  );
}
