// The text of a file, which is read when it is shown.
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { textQuery } from '../../api/queries.ts';
import { t } from '../../texts/index.ts';
import { Code } from '../../ui/code.tsx';
import { Diff, usePatch } from '../../ui/diff.tsx';
import type { DiffFile } from '../../ui/patch.ts';
import { Failure, Skeleton, Warning } from '../../ui/ui.tsx';

/** `most`: of a longer text only so many bytes are read, and that is said above it. */
export function FileText({
  fileId,
  most,
  h = 120,
  children,
}: {
  fileId: string;
  most?: number;
  h?: number;
  children: (text: string, cut: boolean) => ReactNode;
}) {
  const { data, error, isPending, refetch } = useQuery(textQuery(fileId, most));
  if (isPending) return <Skeleton w="100%" h={h} />;
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <>
      {data.cut && <Warning>{t.task.files.cut}</Warning>}
      {children(data.text, data.cut)}
    </>
  );
}

/** A patch that cannot be understood is still a text. */
export function PatchText({ text, children }: { text: string; children: (files: DiffFile[]) => ReactNode }) {
  const files = usePatch(text);
  return files === null ? <Code code={text} language="diff" label={t.task.labels.patch} /> : children(files);
}

export const Patch = ({ text, id }: { text: string; id: string }) => (
  <PatchText text={text}>{(files) => <Diff files={files} layout="unified" idPrefix={id} />}</PatchText>
);

export const PatchPreview = ({ fileId }: { fileId: string }) => (
  <FileText fileId={fileId}>{(text) => <Patch text={text} id={fileId} />}</FileText>
);
