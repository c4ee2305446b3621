import type { TestApp } from './app.js';
import type { Member } from './client.js';

export interface Act {
  action: string;
  type: string | null;
  id: string | null;
  outcome: string;
}

/** What a member did in its workspace, by the audit log, the oldest first. */
export function acts({ db }: TestApp, { workspace, user }: Member): Promise<Act[]> {
  return db.query<Act>(
    `SELECT action, target_type AS type, target_id AS id, outcome FROM audit_log
     WHERE workspace_id = $1 AND actor_id = $2 ORDER BY at, id`,
    [workspace.id, user.id],
  );
}

/** How the audit log names the writes of the endpoint table. */
export const ACTIONS: Record<string, string> = {
  'POST /v1/keys': 'key.create',
  'DELETE /v1/keys/{keyId}': 'key.delete',
  'POST /v1/keys/{keyId}/rotate': 'key.rotate',
  'POST /v1/members': 'member.add',
  'PATCH /v1/members/{memberId}': 'member.change',
  'DELETE /v1/members/{memberId}': 'member.remove',
  'POST /v1/members/{memberId}/invitation': 'member.invite',
  'POST /v1/service-accounts': 'service-account.create',
  'DELETE /v1/service-accounts/{serviceAccountId}': 'service-account.delete',
  'POST /v1/service-accounts/{serviceAccountId}/keys': 'key.create',
  'DELETE /v1/service-accounts/{serviceAccountId}/keys/{keyId}': 'key.delete',
  'POST /v1/integrations/{integrationSlug}/connections': 'integration.connect',
  'POST /v1/integrations/{integrationSlug}/connections/{connectionId}/rotate': 'integration.rotate',
  'POST /v1/integrations/{integrationSlug}/connections/{connectionId}/test': 'integration.test',
  'DELETE /v1/integrations/{integrationSlug}/connections/{connectionId}': 'integration.disconnect',
  'PUT /v1/notices': 'notices.update',
  'POST /v1/notices/push': 'notices.subscribe',
  'DELETE /v1/notices/push': 'notices.unsubscribe',
  'POST /v1/notices/test': 'notices.test',
  'POST /v1/projects': 'project.create',
  'PATCH /v1/projects/{projectId}': 'project.update',
  'DELETE /v1/projects/{projectId}': 'project.delete',
  'POST /v1/projects/{projectId}/files': 'file.create',
  'DELETE /v1/projects/{projectId}/files/{fileId}': 'file.delete',
  'POST /v1/tasks': 'task.create',
  'PATCH /v1/tasks/{taskId}': 'task.update',
  'DELETE /v1/tasks/{taskId}': 'task.delete',
  'POST /v1/tasks/{taskId}/cancel': 'task.cancel',
  'POST /v1/tasks/{taskId}/fork': 'task.fork',
  'POST /v1/tasks/{taskId}/checks': 'task.check',
  'POST /v1/tasks/{taskId}/commands/{commandId}/stop': 'task.stop_command',
  'POST /v1/tasks/{taskId}/pause': 'task.pause',
  'POST /v1/tasks/{taskId}/resume': 'task.resume',
  'POST /v1/tasks/{taskId}/interaction': 'task.answer',
  'POST /v1/tasks/{taskId}/messages': 'message.create',
  'DELETE /v1/tasks/{taskId}/messages/{messageId}': 'message.delete',
  'DELETE /v1/files/{fileId}': 'file.delete',
  'POST /v1/uploads': 'upload.create',
  'POST /v1/automations': 'automation.create',
  'PATCH /v1/automations/{automationId}': 'automation.update',
  'DELETE /v1/automations/{automationId}': 'automation.delete',
  'POST /v1/automations/{automationId}/pause': 'automation.pause',
  'POST /v1/automations/{automationId}/resume': 'automation.resume',
  'POST /v1/automations/{automationId}/run': 'automation.run',
  'POST /v1/repository-connections': 'repository-connection.create',
  'PATCH /v1/repository-connections/{repositoryConnectionId}': 'repository-connection.update',
  'DELETE /v1/repository-connections/{repositoryConnectionId}': 'repository-connection.delete',
  'POST /v1/repository-connections/{repositoryConnectionId}/test': 'repository-connection.test',
  'POST /v1/secrets': 'secret.create',
  'PATCH /v1/secrets/{secretId}': 'secret.update',
  'DELETE /v1/secrets/{secretId}': 'secret.delete',
  'POST /v1/agents': 'agent.create',
  'PATCH /v1/agents/{slug}': 'agent.update',
  'POST /v1/agents/{slug}/evaluate': 'agent.evaluate',
  'POST /v1/environments': 'environment.create',
  'PATCH /v1/environments/{slug}': 'environment.update',
  'DELETE /v1/environments/{slug}': 'environment.delete',
  'POST /v1/environments/{slug}/build': 'environment.build',
  'POST /v1/skills': 'skill.create',
  'PATCH /v1/skills/{skillId}': 'skill.update',
  'DELETE /v1/skills/{skillId}': 'skill.delete',
  'POST /v1/webhooks': 'webhook.create',
  'PATCH /v1/webhooks/{webhookId}': 'webhook.update',
  'DELETE /v1/webhooks/{webhookId}': 'webhook.delete',
  'POST /v1/webhooks/{webhookId}/secret': 'webhook.secret',
  'POST /v1/webhooks/{webhookId}/test': 'webhook.test',
  'POST /v1/webhooks/{webhookId}/recover': 'webhook.recover',
  'POST /v1/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver': 'delivery.redeliver',
};
