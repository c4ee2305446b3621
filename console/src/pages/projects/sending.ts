// Files on their way to a project.
import { useEffect, useRef, useState } from 'react';
import { queryClient } from '../../api/queries.ts';
import { upload } from '../../api/upload.ts';
import { t } from '../../texts/index.ts';
import { toast } from '../../ui/ui.tsx';

export interface Sending {
  key: string;
  name: string;
  share: number;
  /** Why it did not arrive; null while it is on its way. */
  error: unknown;
}

let keys = 0;

/** Each of them goes at once; what did not arrive can be sent again. What is on its way is stopped when the page is left. */
export function useSending(projectId: string) {
  const [list, setList] = useState<Sending[]>([]);
  const ways = useRef(new Map<string, { file: File; stop: AbortController }>());
  useEffect(() => {
    const { current } = ways;
    return () => current.forEach(({ stop }) => stop.abort());
  }, []);

  const change = (key: string, values: Partial<Sending>) =>
    setList((old) => old.map((one) => (one.key === key ? { ...one, ...values } : one)));
  const forget = (key: string) => {
    ways.current.delete(key);
    setList((old) => old.filter((one) => one.key !== key));
  };
  const send = async (key: string, file: File) => {
    const stop = new AbortController();
    ways.current.set(key, { file, stop });
    change(key, { share: 0, error: null });
    try {
      await upload(file, (share) => change(key, { share }), stop.signal, `/v1/projects/${projectId}/files`);
      forget(key);
      toast(t.projects.files.added(1));
      void queryClient.invalidateQueries({ queryKey: ['project-files'] });
      void queryClient.invalidateQueries({ queryKey: ['billing'] });
    } catch (error) {
      if (!stop.signal.aborted) change(key, { error });
    }
  };

  return {
    list,
    add: (files: Iterable<File>) => {
      for (const file of files) {
        const key = String(++keys);
        setList((old) => [...old, { key, name: file.name, share: 0, error: null }]);
        void send(key, file);
      }
    },
    again: (key: string) => {
      const way = ways.current.get(key);
      if (way !== undefined) void send(key, way.file);
    },
    dismiss: (key: string) => {
      ways.current.get(key)?.stop.abort();
      forget(key);
    },
  };
}
