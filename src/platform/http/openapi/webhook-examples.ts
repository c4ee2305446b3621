// Examples of the document: a webhook and what it is told.
const WEBHOOK = '01a2047b-5c10-7e21-9b0d-6a1f3c2b7d40';
const TASK = '01a2047b-2baf-772d-b7a8-6b80d6175e36';

export const WEBHOOK_BODIES = {
  CreateWebhook: {
    url: 'https://hooks.acme.example/millwright',
    types: ['task.completed', 'task.failed', 'task.awaiting_input'],
    description: 'Tells the chat.',
  },
  ChangeWebhook: { types: ['task.*'], status: 'enabled' },
  RotateWebhookSecret: { overlapSeconds: 3600 },
  RecoverWebhook: { since: '2026-11-22T00:00:00Z', types: ['task.completed'] },
};

const DELIVERY = {
  id: '01a2047b-5d44-7b12-8c3e-2f90a1d5e6b7',
  webhookId: WEBHOOK,
  eventId: `${TASK}-9`,
  eventType: 'task.completed',
  taskId: TASK,
  status: 'delivered',
  attempts: 1,
  nextAttemptAt: null,
  lastAttempt: { at: '2026-11-22T18:18:34.210Z', durationMs: 41, status: 200, error: null },
  redelivery: false,
  createdAt: '2026-11-22T18:18:34.201Z',
};

export const WEBHOOK_ANSWERS = {
  Webhook: {
    id: WEBHOOK,
    ...WEBHOOK_BODIES.CreateWebhook,
    projectId: null,
    status: 'enabled',
    disabledReason: null,
    secretPrefix: 'whsec_q83vEj',
    previousSecretUntil: null,
    failingSince: null,
    lastSuccessAt: '2026-11-22T18:18:34.255Z',
    createdBy: { id: '01a2044f-edf1-74c6-aed0-13019ae7eb6f', name: 'Ann' },
    createdAt: '2026-11-22T18:18:30.701Z',
    updatedAt: '2026-11-22T18:18:30.701Z',
  },
  WebhookDelivery: DELIVERY,
  WholeWebhookDelivery: {
    ...DELIVERY,
    body: `{"id" : "${TASK}-9", "type" : "task.completed", "timestamp" : "2026-11-22T18:18:34.201Z", "data" : {"seq": 9, "taskId": "${TASK}", "status": "completed", "statusReason": null, "projectId": null, "metadata": {"ticket": "MILL-7"}}}`,
    attemptLog: [{ ...DELIVERY.lastAttempt, response: 'ok' }],
  },
};
