import { useMutation, useQuery } from '@tanstack/react-query';
import type { Task } from '../../../api/client.ts';
import { environmentQuery } from '../../../api/environment-queries.ts';
import { allowHost, listedAs } from '../../../api/network-queries.ts';
import { t } from '../../../texts/index.ts';
import { Button, toast, toastError } from '../../../ui/ui.tsx';
import { useEnvironmentHindrance } from '../../settings/environments/rights.ts';
import css from './network.module.css';

/** Puts a host that the task was refused to those of its environment: tasks that begin then may reach it. Nothing where that is not the session's to do. */
export function AllowHost({
  environment,
  host,
  port,
}: {
  environment: Task['environment'];
  host: string;
  port: number;
}) {
  const hindrance = useEnvironmentHindrance();
  if (environment === null || hindrance !== null) return null;
  return <Allow slug={environment.slug} listed={listedAs(host, port)} />;
}

function Allow({ slug, listed }: { slug: string; listed: string }) {
  const texts = t.network;
  const { data: environment } = useQuery(environmentQuery(slug));
  const allow = useMutation({
    mutationFn: () => allowHost(slug, listed),
    onSuccess: (version) =>
      toast(version === null ? texts.already(listed, slug) : texts.allowed(listed, slug, version)),
    onError: toastError,
  });
  if (environment?.allowHosts.includes(listed) === true)
    return <span className={css.sub}>{texts.isAllowed(slug)}</span>;
  return (
    <Button
      small
      icon="Plus"
      aria-label={texts.allowName(listed, slug)}
      disabled={allow.isPending}
      onClick={() => allow.mutate()}
    >
      {allow.isPending ? texts.allowing : texts.allow}
    </Button>
  );
}
