import type { MachineRow } from './machines.sql.js';

/** What operators see of a machine. */
export interface MachineView {
  id: string;
  hosts: string[];
  versions: string[];
  status: 'working' | 'draining' | 'gone';
  running: number;
  places: number;
  seenAt: string;
}

export function machineView({ id, hosts, versions, running, places, seenAt, ...row }: MachineRow): MachineView {
  const status = !row.working ? 'gone' : row.draining ? 'draining' : 'working';
  return { id, hosts, versions, status, running, places, seenAt: seenAt.toISOString() };
}
