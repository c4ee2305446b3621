import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { api, type StoredFile } from '../../api/client.ts';
import { download } from '../../api/queries.ts';
import { useParam } from '../../shell/url.ts';
import { t } from '../../texts/index.ts';
import { Ago } from '../../ui/ago.tsx';
import { exactly } from '../../ui/code.tsx';
import { DownloadButton } from '../../ui/download.tsx';
import { bytes } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { Button, cx, Empty, Failure, Skeleton } from '../../ui/ui.tsx';
import { kindOf, TextOf } from './file-kinds.tsx';
import { FileText } from './file-text.tsx';
import { Reading } from './reading.tsx';
import css from './task.module.css';

export default function Files({
  taskId,
  list,
  error,
}: {
  taskId: string;
  list: StoredFile[] | undefined;
  error: unknown;
}) {
  const [view, setView] = useParam('view', '');
  if (list === undefined) return <Reading error={error} />;
  if (list.length === 0) {
    return (
      <Empty icon="FileText" title={t.task.files.none}>
        {t.task.files.noneText}
      </Empty>
    );
  }
  const viewed = list.find(({ id }) => id === view);
  const zip = () => download(`/v1/tasks/${encodeURIComponent(taskId)}/files/archive`, `${taskId}.zip`);
  return (
    <div className={css.scroll} tabIndex={0} role="region" aria-label={t.task.tabs.files}>
      <div className={css.wide}>
        <div className={css.changeHead}>
          <strong>{t.task.files.count(list.length)}</strong>
          <span className={css.dim}>{bytes(list.reduce((sum, { size }) => sum + size, 0))}</span>
          <span className="grow" />
          <Button small icon="Download" onClick={zip}>
            {t.task.files.zip}
          </Button>
        </div>
        <ul className={cx(css.table, 'box')}>
          {list.map((file) => (
            <FileRow key={file.id} file={file} viewed={view === file.id} view={setView} />
          ))}
        </ul>
        {viewed && kindOf(viewed) && <Viewer key={viewed.id} file={viewed} close={() => setView('')} />}
      </div>
    </div>
  );
}

function FileRow({ file, viewed, view }: { file: StoredFile; viewed: boolean; view: (id: string) => void }) {
  const attached = file.origin === 'attachment';
  const kind = kindOf(file);
  return (
    <li>
      <Icon name={kind === 'patch' ? 'Diff' : attached ? 'Paperclip' : 'FileText'} size={15} />
      <span className={css.fileName}>
        <strong className="ellipsis" title={file.name}>
          {exactly(file.name)}
        </strong>
        <small className="ellipsis">
          {attached ? t.task.files.attachedBy(file.createdBy.name) : t.task.files.byAgent} · {bytes(file.size)} ·{' '}
          <Ago at={file.createdAt} />
        </small>
      </span>
      {kind && (
        <Button
          small
          look="ghost"
          icon="Eye"
          aria-pressed={viewed}
          aria-label={t.task.files.viewOf(file.name)}
          onClick={() => view(viewed ? '' : file.id)}
        />
      )}
      <DownloadButton look="ghost" aria-label={t.task.files.downloadOf(file.name)} file={file} />
    </li>
  );
}

function Viewer({ file, close }: { file: StoredFile; close: () => void }) {
  const kind = kindOf(file);
  return (
    <section className={cx(css.viewer, 'box')} aria-label={file.name}>
      <header>
        <span className="ellipsis">{exactly(file.name)}</span>
        <span className="grow" />
        <Button small look="ghost" icon="X" aria-label={t.common.close} onClick={close} />
      </header>
      <div>
        {kind === 'image' ? (
          <Picture file={file} />
        ) : (
          <FileText fileId={file.id}>
            {(text) => <TextOf kind={kind ?? 'text'} name={file.name} text={text} id={file.id} />}
          </FileText>
        )}
      </div>
    </section>
  );
}

function Picture({ file: { id, name, mediaType } }: { file: StoredFile }) {
  const { data, error } = useQuery({
    queryKey: ['picture', id],
    queryFn: async ({ signal }) => (await api.files.content(id, { signal })).blob(),
    staleTime: Infinity,
  });
  if (error !== null) return <Failure error={error} />;
  return data === undefined ? <Skeleton w={320} h={200} /> : <Shown name={name} mediaType={mediaType} bytes={data} />;
}

/** The service sends files as what is to be saved; a picture is shown from the page's own memory. */
export function Shown({ name, mediaType, bytes: data }: { name: string; mediaType: string; bytes: Blob }) {
  const [url, setUrl] = useState('');
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([data], { type: mediaType }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [data, mediaType]);
  return url === '' ? null : <img src={url} alt={name} />;
}
