import { useQuery } from '@tanstack/react-query';
import { textQuery } from '../../api/queries.ts';
import { t } from '../../texts/index.ts';
import { Code } from '../../ui/code.tsx';
import { Diff, usePatch } from '../../ui/diff.tsx';
import { Failure, Skeleton, Warning } from '../../ui/ui.tsx';

export function PatchPreview({ fileId }: { fileId: string }) {
  const { data, error, isPending, refetch } = useQuery(textQuery(fileId));
  const files = usePatch(data?.text);
  if (isPending) return <Skeleton w="100%" h={120} />;
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <>
      {data.cut && <Warning>{t.task.files.cut}</Warning>}
      {/* A patch that cannot be understood is still a text. */}
      {files === null ? (
        <Code code={data.text} language="diff" label={t.task.labels.patch} />
      ) : (
        <Diff files={files} layout="unified" idPrefix={fileId} />
      )}
    </>
  );
}
