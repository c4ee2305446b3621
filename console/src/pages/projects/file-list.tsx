import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { StoredFile } from '../../api/client.ts';
import { queryClient } from '../../api/queries.ts';
import { useOwns } from '../../shell/can.ts';
import { t } from '../../texts/index.ts';
import { Ago } from '../../ui/ago.tsx';
import { DownloadButton } from '../../ui/download.tsx';
import { Confirm } from '../../ui/form.tsx';
import { bytes } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { Button, toast } from '../../ui/ui.tsx';
import own from './projects.module.css';

export function FileList({
  files,
  may,
  remove,
}: {
  files: StoredFile[];
  /** Whether the session may remove files at all. */
  may: boolean;
  remove: (file: StoredFile) => Promise<unknown>;
}) {
  const owns = useOwns();
  const [asked, setAsked] = useState<StoredFile | null>(null);
  const removal = useMutation({
    mutationFn: remove,
    onSuccess: (_, { name }) => {
      toast(t.projects.files.removed(name));
      setAsked(null);
      void queryClient.invalidateQueries({ queryKey: ['project-files'] });
      void queryClient.invalidateQueries({ queryKey: ['billing'] });
    },
  });
  return (
    <>
      <ul className={own.rows}>
        {files.map((file) => (
          <li key={file.id} className={own.file}>
            <Icon name="FileText" size={15} />
            <span className="grow">
              <span className={own.fileName}>{file.name}</span>
              <small>
                {bytes(file.size)} · {t.projects.by(file.createdBy.name)} · <Ago at={file.createdAt} />
              </small>
            </span>
            <DownloadButton look="ghost" aria-label={t.projects.files.download(file.name)} file={file} />
            {may && owns(file.createdBy) && (
              <Button
                small
                look="ghost"
                icon="Trash"
                aria-label={t.projects.files.remove(file.name)}
                onClick={() => {
                  removal.reset();
                  setAsked(file);
                }}
              />
            )}
          </li>
        ))}
      </ul>
      <Confirm
        open={asked !== null}
        onClose={() => setAsked(null)}
        title={t.projects.files.removeTitle}
        action={t.projects.files.removeAction}
        does={{ ...removal, mutate: () => asked && removal.mutate(asked) }}
      >
        <p>{t.projects.files.removeText(asked?.name ?? '')}</p>
      </Confirm>
    </>
  );
}
