import { useQuery } from '@tanstack/react-query';
import { skillZipQuery } from '../../../api/skill-queries.ts';
import { t } from '../../../texts/index.ts';
import { Code } from '../../../ui/code.tsx';
import { bytes } from '../../../ui/format.ts';
import { NothingYet } from '../../../ui/nothing.tsx';
import { records, Section } from '../../../ui/records.tsx';
import { Warning } from '../../../ui/ui.tsx';
import { filesIn, type ZippedFile } from './unzip.ts';

/** Bytes of a file that is shown as text. */
const SHOWN = 256 * 1024;

/** The files of a version, each unfolded on demand. */
export function Contents({ id, version }: { id: string; version: number }) {
  const texts = t.skills;
  const { data: zip, error, refetch } = useQuery(skillZipQuery(id, version));
  return (
    <Section title={texts.contents}>
      {zip === undefined ? <NothingYet error={error} refetch={refetch} h={80} /> : <Files zip={zip} />}
    </Section>
  );
}

function Files({ zip }: { zip: Uint8Array<ArrayBuffer> }) {
  let files: ZippedFile[];
  try {
    files = filesIn(zip);
  } catch {
    return <Warning>{t.skills.unread}</Warning>;
  }
  return files.map((file) => (
    <details key={file.path} className={records.more} open={/^([^/]+\/)?SKILL\.md$/.test(file.path)}>
      <summary>
        <code>{file.path}</code> {bytes(file.size)}
      </summary>
      <Text of={file} />
    </details>
  ));
}

function Text({ of: { path, size, read } }: { of: ZippedFile }) {
  const { data } = useQuery({
    queryKey: ['skills', 'file', path, size, read],
    queryFn: async () => textIn(await read()),
    enabled: size <= SHOWN,
    gcTime: 0,
  });
  if (size > SHOWN || data === null) return <p>{t.skills.unread}</p>;
  return data === undefined ? null : <Code code={data} language={path.split('.').at(-1) ?? ''} label={path} />;
}

/** Null for what is no text. */
function textIn(content: Uint8Array<ArrayBuffer>): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    return null;
  }
}
