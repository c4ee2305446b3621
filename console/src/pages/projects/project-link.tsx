import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { projectsQuery } from '../../api/queries.ts';
import { useCan } from '../../shell/can.ts';

/** By its name, where the session may read that. */
export function ProjectLink({ projectId }: { projectId: string }) {
  const can = useCan();
  const { data = [] } = useQuery({ ...projectsQuery, enabled: can('projects:read') });
  const name = data.find(({ id }) => id === projectId)?.name ?? projectId;
  return can('projects:read') ? <Link href={`/projects/${projectId}`}>{name}</Link> : name;
}
