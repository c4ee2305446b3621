import { useQuery } from '@tanstack/react-query';
import { api, type Project } from '../../api/client.ts';
import { projectFilesQuery } from '../../api/project-queries.ts';
import { useCan } from '../../shell/can.ts';
import { t } from '../../texts/index.ts';
import { FileButton, useFileDrop } from '../../ui/attachments.tsx';
import { form } from '../../ui/form.tsx';
import { NothingYet } from '../../ui/nothing.tsx';
import { Button, cx, saidBy } from '../../ui/ui.tsx';
import { FileList } from './file-list.tsx';
import own from './projects.module.css';
import { type Sending, useSending } from './sending.ts';

export function ProjectFiles({ project: { id } }: { project: Project }) {
  const can = useCan();
  const sends = can('projects:write', 'files:write');
  const { list, add, again, dismiss } = useSending(id);
  const drop = useFileDrop(({ files }) => add([...files]), sends);
  return (
    <section className={cx(own.block, drop.over && own.over)} {...drop.handlers}>
      <header>
        <h2>{t.projects.files.title}</h2>
        <span className="grow" />
        {sends && (
          <FileButton icon="Paperclip" add={add}>
            {t.projects.files.add}
          </FileButton>
        )}
      </header>
      <p className={form.hint}>{t.projects.files.about}</p>
      {list.map((sending) => (
        <Progress key={sending.key} sending={sending} again={again} dismiss={dismiss} />
      ))}
      {can('files:read') ? (
        <Files projectId={id} sends={sends} />
      ) : (
        <p className={form.hint}>{t.projects.files.refused}</p>
      )}
    </section>
  );
}

function Files({ projectId, sends }: { projectId: string; sends: boolean }) {
  const { data: files, error, refetch } = useQuery(projectFilesQuery(projectId));
  if (files === undefined) return <NothingYet error={error} refetch={refetch} h={50} />;
  if (files.length === 0) {
    return (
      <p className={own.nothing}>
        {t.projects.files.empty} {sends ? t.projects.files.drop : t.projects.files.readOnly}
      </p>
    );
  }
  return <FileList files={files} may={sends} remove={(file) => api.projects.removeFile(projectId, file.id)} />;
}

function Progress({
  sending: { key, name, share, error },
  again,
  dismiss,
}: {
  sending: Sending;
  again: (key: string) => void;
  dismiss: (key: string) => void;
}) {
  const percent = Math.round(share * 100);
  return (
    <div className={own.sending}>
      <span className="grow">
        <span className={own.fileName}>{name}</span>
        {error === null ? (
          <progress className={own.progress} max={100} value={percent} aria-label={t.projects.files.uploading(name)} />
        ) : (
          <span className={form.bad} role="alert">
            {saidBy(error)}
          </span>
        )}
      </span>
      {error !== null && (
        <Button
          small
          look="ghost"
          icon="Refresh"
          aria-label={t.projects.files.again(name)}
          onClick={() => again(key)}
        />
      )}
      <Button
        small
        look="ghost"
        icon="X"
        aria-label={error === null ? t.projects.files.stop(name) : t.projects.files.dismiss(name)}
        onClick={() => dismiss(key)}
      />
    </div>
  );
}
