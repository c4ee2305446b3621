// The text of a file, which is read when it is shown.
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { StoredFile } from '../../api/client.ts';
import { textQuery } from '../../api/queries.ts';
import { t } from '../../texts/index.ts';
import { Code, languageOf } from '../../ui/code.tsx';
import { Diff, usePatch } from '../../ui/diff.tsx';
import { Markdown } from '../../ui/markdown.tsx';
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

const Patch = ({ text, id }: { text: string; id: string }) => (
  <PatchText text={text}>{(files) => <Diff files={files} layout="unified" idPrefix={id} />}</PatchText>
);

export const PatchPreview = ({ fileId }: { fileId: string }) => (
  <FileText fileId={fileId}>{(text) => <Patch text={text} id={fileId} />}</FileText>
);

/** Bytes up to which a text is shown whole. */
export const VIEW_MOST = 1_000_000;

/** How a file is shown; null when it can only be downloaded. */
export function kindOf({
  name,
  mediaType,
  size,
}: Pick<StoredFile, 'name' | 'mediaType' | 'size'>): 'patch' | 'markdown' | 'image' | 'text' | null {
  if (/^image\/(png|jpeg|gif|webp|avif)$/.test(mediaType)) return 'image';
  if (size > VIEW_MOST) return null;
  if (/\.(patch|diff)$/i.test(name)) return 'patch';
  if (/\.(md|markdown)$/i.test(name)) return 'markdown';
  const text = mediaType.startsWith('text/') || /json|xml|yaml|javascript|x-sh/.test(mediaType);
  return text || languageOf(name) !== null || /\.(txt|log|csv)$/i.test(name) ? 'text' : null;
}

/** A text by its kind. `id` is for the parts of the page that it makes. */
export function TextOf({ kind, name, text, id }: { kind: string; name: string; text: string; id: string }) {
  if (kind === 'patch') return <Patch text={text} id={id} />;
  if (kind === 'markdown') return <Markdown text={text} />;
  return <Code numbered max code={text} language={languageOf(name)} label={name} />;
}
