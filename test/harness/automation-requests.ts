import { ConnectionsService } from '../../src/resources/integrations/connections.service.js';
import type { TestApp } from './app.js';
import type { Client, Member } from './client.js';

/** What tests read of an automation. */
export interface AutomationBody {
  id: string;
  name: string;
  kind: string;
  status: string;
  pausedReason: { code: string; message: string } | null;
  projectId: string | null;
  cron: string | null;
  timezone: string | null;
  runAt: string | null;
  triggerEvent: string | null;
  filter: string | null;
  overlap: string;
  nextRunAt: string | null;
  upcomingRunsAt: string[];
  lastRunAt: string | null;
  lastRunStatus: string | null;
  lastTaskId: string | null;
  consecutiveFailures: number;
  owner: { id: string; name: string };
  createdAt: string;
  updatedAt: string;
}

export interface RunBody {
  id: string;
  automationId: string;
  trigger: { type: string; scheduledAt: string | null; event: string | null };
  status: string;
  reason: { code: string; message: string } | null;
  taskId: string | null;
  createdAt: string;
}

export const AUTOMATIONS = '/v1/automations';
export const DAILY = { name: 'Sweep', content: 'Sweep the mill.', cron: '30 9 * * *' };

/** An instant so many seconds from now. */
export const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1000).toISOString();

/** Creates an automation; what is not given is as in {@link DAILY}. */
export async function createAutomation(
  { client }: Pick<Member, 'client'>,
  given: object = {},
): Promise<AutomationBody> {
  const { status, body, text } = await client.post<{ automation: AutomationBody }>(AUTOMATIONS, { ...DAILY, ...given });
  if (status !== 201) throw new Error(`Creating an automation answered ${status}: ${text}`);
  return body.automation;
}

export async function readAutomation(client: Client, id: string): Promise<AutomationBody> {
  return (await client.get<{ automation: AutomationBody }>(`${AUTOMATIONS}/${id}`)).body.automation;
}

/** Connects an integration for the whole workspace, or for one user. Resolves with the id of the connection. */
export async function connectIntegration(
  { app }: TestApp,
  workspaceId: string,
  slug = 'github',
  userId: string | null = null,
): Promise<string> {
  return (await app.get(ConnectionsService, { strict: false }).connect({ workspaceId, userId, slug })).id;
}
