// How a file is shown. Apart from its text: patches alone need no Markdown.
import type { StoredFile } from '../../api/client.ts';
import { Code, languageOf } from '../../ui/code.tsx';
import { Markdown } from '../../ui/markdown.tsx';
import { Patch } from './file-text.tsx';

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
