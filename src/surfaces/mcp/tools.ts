// The tools: each is one operation of the API, by its own route (reference §29).
import type { JsonSchema } from '../../platform/http/documented.js';

export interface Tool {
  title: string;
  description: string;
  /** The method and the path of its route, as declared. */
  operation: string;
  hints: Hints;
  /** Those of the operation's own fields, of its body or of its query, that it takes. Ids of the path come first by themselves. */
  fields?: readonly string[];
  /** Fields that are needed, where the operation does not say so. */
  needs?: readonly string[];
  /** Fields that are not the operation's, with their schemas. */
  own?: Record<string, JsonSchema>;
}

interface Hints {
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint?: boolean;
}

/** Bytes of a file in one answer. */
export const MOST_READ = 48 * 1024;
/** Bytes of a file that is uploaded: in base64 it fits in a body. */
export const MOST_UPLOAD = 700 * 1024;
/** Seconds. Usual clients give up after 60. */
export const LONGEST_WAIT = 50;

const READ: Hints = { readOnlyHint: true, openWorldHint: false };
const OPEN: Hints = { destructiveHint: false, openWorldHint: true };
const PAGE = ['limit', 'cursor'];

const waitSeconds = {
  type: 'integer',
  minimum: 0,
  maximum: LONGEST_WAIT,
  description: 'Seconds to wait until the turn ends or asks',
};
const idempotencyKey = {
  type: 'string',
  description: 'Give one when you may call again: nothing is made twice',
};
const uploadIds = { type: 'array', items: { type: 'string' }, description: 'Ids of upload_file' };

export const TOOLS: Record<string, Tool> = {
  create_task: {
    title: 'Create a task',
    description: 'Hands work to an AI engineer with a shell and files of its own. Follow it with get_task.',
    operation: 'POST /v1/tasks',
    hints: OPEN,
    fields: [
      'content',
      'title',
      'projectId',
      'repository',
      'model',
      'effort',
      'approvals',
      'budget',
      'tags',
      'metadata',
      'outputSchema',
      'mcpServers',
    ],
    needs: ['content'],
    own: { uploadIds, idempotencyKey, waitSeconds },
  },
  get_task: {
    title: 'Read a task',
    description: 'Its status, its question (pendingInteraction), its result.',
    operation: 'GET /v1/tasks/:taskId',
    hints: READ,
    own: { waitSeconds },
  },
  list_tasks: {
    title: 'List tasks',
    description: 'Newest first.',
    operation: 'GET /v1/tasks',
    hints: READ,
    fields: ['status', 'projectId', 'tag', 'q', ...PAGE],
  },
  list_messages: {
    title: 'Read the messages of a task',
    description: 'What was said and done.',
    operation: 'GET /v1/tasks/:taskId/messages',
    hints: READ,
    fields: ['order', 'after', ...PAGE],
  },
  send_message: {
    title: 'Send a message to a task',
    description:
      'A task that has ended goes on with it. A running one reads it in a turn of its own (queue), before its next step (steer) or at once (interrupt).',
    operation: 'POST /v1/tasks/:taskId/messages',
    hints: OPEN,
    fields: ['content', 'mode'],
    needs: ['content'],
    own: { uploadIds, idempotencyKey, waitSeconds },
  },
  answer_task: {
    title: 'Answer the question of a task',
    description:
      "Of a task that is awaiting_input. An approval is a person's decision: ask your user. Without content, optionIds and decision the user is asked, where the client can.",
    operation: 'POST /v1/tasks/:taskId/interaction',
    hints: { destructiveHint: true, openWorldHint: true },
    fields: ['interactionId', 'content', 'optionIds', 'decision', 'reason', 'remember'],
    own: { idempotencyKey, waitSeconds },
  },
  cancel_task: {
    title: 'Cancel a task',
    description: 'At once.',
    operation: 'POST /v1/tasks/:taskId/cancel',
    hints: { destructiveHint: true, idempotentHint: true, openWorldHint: false },
  },
  list_files: {
    title: 'List the files of a task',
    description: 'Attachments and results. Read one with read_file.',
    operation: 'GET /v1/tasks/:taskId/files',
    hints: READ,
    fields: PAGE,
  },
  list_projects: {
    title: 'List projects',
    description: 'Newest first.',
    operation: 'GET /v1/projects',
    hints: READ,
    fields: PAGE,
  },
  list_models: { title: 'List models', description: 'For create_task.', operation: 'GET /v1/models', hints: READ },
  read_file: {
    title: 'Read a file',
    description: 'Text as text, a small image as an image, else base64. nextOffset: where it goes on.',
    operation: 'GET /v1/files/:fileId/content',
    hints: READ,
    own: {
      offset: { type: 'integer', minimum: 0, description: 'The first byte' },
      length: { type: 'integer', minimum: 1, maximum: MOST_READ, description: 'Bytes' },
    },
  },
  upload_file: {
    title: 'Upload a file',
    description: 'For the uploadIds of a task or message, within 24 hours. One of text and base64.',
    operation: 'POST /v1/uploads',
    hints: { destructiveHint: false, openWorldHint: false },
    needs: ['name'],
    own: {
      name: { type: 'string' },
      text: { type: 'string' },
      base64: { type: 'string', maxLength: Math.ceil(MOST_UPLOAD / 3) * 4 },
    },
  },
  list_automations: {
    title: 'List automations',
    description: 'What makes tasks by a schedule or by events.',
    operation: 'GET /v1/automations',
    hints: READ,
    fields: PAGE,
  },
  run_automation: {
    title: 'Run an automation once',
    description: 'Now. The answer may name the task that it made.',
    operation: 'POST /v1/automations/:automationId/run',
    hints: OPEN,
    own: { idempotencyKey },
  },
};
