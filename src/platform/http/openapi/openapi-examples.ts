// Examples of the document: one task of the model `runbook`, as it was sent and as it was answered. A test sends the bodies
// to a service, and holds every answer against its schema.
import { ApiError } from '../api-error.js';
import { WEBHOOK_ANSWERS, WEBHOOK_BODIES } from './webhook-examples.js';

const TIMES = { createdAt: '2026-11-22T18:18:30.701Z', updatedAt: '2026-11-22T18:18:34.200Z' };
const OWNER = { id: '01a2044f-edf1-74c6-aed0-13019ae7eb6f', name: 'Ann' };
const TASK = '01a2047b-2baf-772d-b7a8-6b80d6175e36';
const FILE = '01a2047b-3944-7480-837c-abd6f8cc49ca';
const QUESTION = '01a2047b-2c80-75ad-9ed7-6f78a5559010';

export const RUNBOOK = `\`\`\`ask
Which order?

- sort: A to Z
- tac: the other way round
\`\`\`

\`\`\`bash
printf 'b\\na\\n' | $ANSWER > sorted.txt
\`\`\`

\`\`\`publish path=sorted.txt
\`\`\`
`;

const BODIES = {
  CreateTask: {
    title: 'Sort two lines',
    content: RUNBOOK,
    budget: { maxSteps: 20, maxDurationSeconds: 600 },
    metadata: { ticket: 'MILL-7' },
    tags: ['sorting'],
  },
  ChangeTask: { title: 'Sort two lines, then count them', effort: 'low' },
  SendMessage: { content: '```bash\nwc -l sorted.txt\n```\n', mode: 'queue' },
  Answer: { interactionId: QUESTION, optionIds: ['sort'] },
  CreateProject: { name: 'Mill', description: 'Everything about the mill.', visibility: 'workspace', tags: ['grain'] },
  ChangeProject: { description: null },
  CreateAutomation: { name: 'Sweep the mill', content: RUNBOOK, cron: '30 9 * * 1-5', timezone: 'Europe/Berlin' },
  ChangeAutomation: { timezone: 'UTC', overlap: 'queue' },
  CreateKey: { name: 'build server', scopes: ['tasks:read', 'tasks:write'], expiresAt: '2099-12-31T00:00:00Z' },
  RotateKey: { overlapSeconds: 3600 },
};

const AUTOMATION = {
  id: '01a2047b-3e02-70d1-8f3c-5d1a9a7c4b10',
  ...BODIES.CreateAutomation,
  kind: 'recurring',
  status: 'active',
  pausedReason: null,
  projectId: null,
  model: null,
  effort: null,
  approvals: 'none',
  budget: null,
  runAt: null,
  triggerEvent: null,
  filter: null,
  overlap: 'skip',
  nextRunAt: '2026-11-23T08:30:00.000Z',
  upcomingRunsAt: ['23', '24', '25', '26', '27'].map((day) => `2026-11-${day}T08:30:00.000Z`),
  lastRunAt: null,
  lastRunStatus: null,
  lastTaskId: null,
  consecutiveFailures: 0,
  owner: OWNER,
  ...TIMES,
};

const ANSWERS = {
  Id: TASK,
  Timestamp: TIMES.createdAt,
  Person: OWNER,
  Deleted: { deleted: true, id: TASK },
  AuthContext: {
    user: { ...OWNER, email: 'ann@acme.example' },
    workspace: { id: '01a2044f-edf1-74c6-aed0-0db2bcb02798', name: 'Acme', slug: 'acme', role: 'member' },
    scopes: ['tasks:read', 'tasks:write'],
    credentialType: 'personal_api_key',
    credential: {
      id: '01a2047b-29b2-77d9-bdad-50bcf08c4009',
      name: 'laptop',
      prefix: 'mw_pk_yCQTaU',
      createdAt: '2026-11-22T18:18:30.195Z',
      expiresAt: null,
    },
  },
  AuditEntry: {
    id: '01a2047b-2bb0-7211-a1c0-5f8f0e9b6a52',
    at: TIMES.createdAt,
    actor: OWNER,
    keyId: '01a2047b-29b2-77d9-bdad-50bcf08c4009',
    address: '192.0.2.7',
    action: 'task.create',
    target: { type: 'task', id: TASK },
    outcome: 'done',
    code: null,
    requestId: '01a2047b-2ba8-7f15-8f0f-1c2d6a3a9b3e',
    count: 1,
  },
  Key: {
    id: '01a2047b-4a10-7c3e-8d2b-3f1f6b0a5c77',
    name: BODIES.CreateKey.name,
    prefix: 'mw_pk_hT3kWz',
    scopes: BODIES.CreateKey.scopes,
    createdAt: '2026-11-22T18:20:11.402Z',
    expiresAt: '2099-12-31T00:00:00.000Z',
    lastUsedAt: null,
    current: false,
  },
  Member: { ...OWNER, role: 'member', kind: 'person' },
  Model: {
    id: 'runbook',
    name: 'Runbook',
    description: 'Not an AI. It carries out the fenced blocks of the task’s Markdown in order and shows each result.',
    default: true,
    efforts: ['low', 'medium', 'high'],
    defaultEffort: 'medium',
    input: ['text'],
    contextWindow: null,
    status: 'available',
  },
  Project: {
    id: '01a2047b-2a5a-72ee-b4c7-579b44bf2fce',
    ...BODIES.CreateProject,
    owner: OWNER,
    createdAt: '2026-11-22T18:18:30.356Z',
    updatedAt: '2026-11-22T18:18:30.356Z',
  },
  Upload: {
    id: '01a2047b-2b2f-71b6-93df-54922585c41e',
    name: 'names.txt',
    mediaType: 'text/plain',
    size: 4,
    expiresAt: '2026-11-23T18:18:30.576Z',
  },
  File: {
    id: FILE,
    name: 'sorted.txt',
    mediaType: 'text/plain',
    size: 4,
    sha256: '911169ddaaf146aff539f58c26c489af3b892dff0fe283c1c264c65ae5aa59a2',
    origin: 'task',
    taskId: TASK,
    projectId: null,
    createdBy: OWNER,
    downloadUrl: `http://127.0.0.1:3000/v1/files/${FILE}/content`,
    createdAt: '2026-11-22T18:18:34.192Z',
  },
  Task: {
    id: TASK,
    title: BODIES.CreateTask.title,
    status: 'awaiting_input',
    statusReason: null,
    waitingFor: null,
    projectId: null,
    pendingInteraction: {
      id: QUESTION,
      type: 'choice',
      question: 'Which order?',
      options: [
        { id: 'sort', label: 'A to Z', description: null },
        { id: 'tac', label: 'the other way round', description: null },
      ],
      multiple: false,
      allowText: false,
      toolCall: null,
      createdAt: '2026-11-22T18:18:30.913Z',
      expiresAt: '2026-11-29T18:18:30.913Z',
    },
    model: 'runbook',
    effort: 'medium',
    approvals: 'none',
    budget: { maxSteps: 20, maxTokens: null, maxDurationSeconds: 600, maxCost: null },
    source: { type: 'api', automationId: null, automationRunId: null },
    result: null,
    usage: {
      inputTokens: 0,
      outputTokens: 0,
      cachedInputTokens: 0,
      reasoningTokens: 0,
      steps: 1,
      toolCalls: 1,
      durationMs: 98,
      cost: null,
    },
    outputSchema: null,
    repository: null,
    changes: null,
    pullRequest: null,
    metadata: BODIES.CreateTask.metadata,
    tags: BODIES.CreateTask.tags,
    archived: false,
    createdBy: OWNER,
    messageCount: 2,
    ...TIMES,
    startedAt: '2026-11-22T18:18:30.804Z',
    finishedAt: null,
  },
  Automation: AUTOMATION,
  AutomationRehearsal: {
    automation: { ...AUTOMATION, id: null },
    upcomingRunsAt: AUTOMATION.upcomingRunsAt,
    wouldRun: null,
  },
  AutomationRun: {
    id: '01a2047b-3f10-7c0e-9a55-0c5b2b8f2a11',
    automationId: AUTOMATION.id,
    trigger: { type: 'schedule', scheduledAt: '2026-11-23T08:30:00.000Z', event: null },
    status: 'started',
    reason: null,
    taskId: TASK,
    createdAt: '2026-11-23T08:30:00.041Z',
  },
  BillingSummary: {
    plan: { id: 'free', name: 'Free' },
    subscription: { status: 'none', cancelAtPeriodEnd: false },
    renewal: { renewsAt: null, endsAt: null },
    usage: [{ window: 'month', remainingPercent: 87, resetsAt: '2026-12-01T00:00:00.000Z' }],
    topUp: { balance: '12.50', currency: 'USD' },
    storage: { usedBytes: 1_048_576, limitBytes: 1_073_741_824 },
  },
  UsageRow: {
    key: '2026-11-22',
    name: '2026-11-22',
    tasks: 13,
    steps: 41,
    inputTokens: 120_000,
    outputTokens: 9_000,
    cachedInputTokens: 80_000,
    reasoningTokens: 2_000,
    cost: { amount: '0.0252', currency: 'USD' },
  },
  Message: {
    id: '01a2047b-38a9-75e0-b679-b02c71e73dae',
    role: 'assistant',
    createdAt: '2026-11-22T18:18:34.026Z',
    status: 'complete',
    turn: 1,
    readAt: null,
    createdBy: null,
    parts: [
      { type: 'text', text: 'Block 1 (ask, line 1): The answer: sort\n\nNext, block 2 (bash, line 8).' },
      {
        type: 'tool_call',
        toolCallId: 'call_01a2047b-38a9-75e0-b679-af19f1f2d6a2',
        name: 'bash',
        input: { env: { ANSWER: 'sort' }, command: "printf 'b\\na\\n' | $ANSWER > sorted.txt\n" },
      },
      {
        type: 'tool_result',
        toolCallId: 'call_01a2047b-38a9-75e0-b679-af19f1f2d6a2',
        name: 'bash',
        status: 'success',
        output: { stderr: '', stdout: '', exitCode: 0, truncated: false },
      },
    ],
  },
};

/** By the name of the component. */
export const EXAMPLES: Readonly<Record<string, unknown>> = {
  ...BODIES,
  ...ANSWERS,
  ...WEBHOOK_BODIES,
  ...WEBHOOK_ANSWERS,
};

const ERRORS: Record<number, ApiError> = {
  400: new ApiError('invalid_field', 'content must not be blank.', { param: 'content' }),
  401: new ApiError('missing_credential', "No credential was sent; send one header 'Authorization: Bearer <key>'."),
  402: new ApiError(
    'subscription_required',
    'The plan Free allows 3 active automations; pause or delete one, or take a larger plan.',
  ),
  403: new ApiError('missing_scope', 'This credential lacks the scope tasks:write.'),
  404: new ApiError('not_found', 'There is no such task.'),
  409: new ApiError('idempotency_key_reused', 'This Idempotency-Key was used with another body; take a new key.'),
  410: new ApiError('cursor_expired', "What came after this position is not kept any more: follow from 'latest'.", {
    param: 'after',
  }),
  412: new ApiError('precondition_failed', 'The file is another one: its ETag is "2cf24dba".'),
  413: new ApiError('too_large', 'The body is larger than the 1 MiB that is accepted.'),
  415: new ApiError('unsupported_media_type', 'The body must have the content type application/json, in UTF-8.'),
  416: new ApiError('range_not_satisfiable', 'The file has 4 bytes: ask for a range that begins within them.'),
  429: new ApiError(
    'rate_limit_exceeded',
    'Too many requests with this credential: "task_execution" takes 120 in 60 seconds; try again in 1 second.',
  ),
  431: new ApiError('header_too_large', 'The request line and the headers are larger than 16 KiB.'),
  500: new ApiError('internal_error', 'Something went wrong on our side.'),
  503: new ApiError('unavailable', 'The database cannot be reached or is busy. Try again.'),
};

/** The body of an error of this status; undefined for one that nothing answers yet. */
export function errorExample(status: number): object | undefined {
  return ERRORS[status]?.body('01a20453-1c29-72c2-bcc6-579d6bb421a5');
}
