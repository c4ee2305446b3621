import { z } from 'zod';
import { named } from '../../platform/http/schema.js';
import { CHANNELS } from './notice-settings.entity.js';

const channels = z.array(z.enum(CHANNELS));
const pushSchema = named(
  'PushState',
  z.strictObject({
    publicKey: z.string().describe('`applicationServerKey` of `PushManager.subscribe`: a point of P-256 in base64url.'),
    subscriptions: z.int().min(0).describe('How many browsers of yours take notices of this workspace; at most 10.'),
  }),
);
export type PushState = z.output<typeof pushSchema>;

/** `{needsYou, finished, failed, hookUrl, quiet, detail, push, email}` */
export const noticesSchema = named(
  'Notices',
  z.strictObject({
    needsYou: channels.describe('Where it is told that a task asks something.'),
    finished: channels,
    failed: channels,
    hookUrl: z.string().nullable().describe('Shown to its owner alone.'),
    quiet: z.strictObject({ from: z.string(), to: z.string(), timezone: z.string() }).nullable(),
    detail: z.boolean().describe('Whether the question of the task is sent too.'),
    push: pushSchema,
    email: z
      .string()
      .nullable()
      .describe('Where e-mail goes to; null where the service sends none, or you have no address.'),
  }),
);
export type NoticesView = z.output<typeof noticesSchema>;

/** `{push}` */
export const pushAnswer = named('PushResponse', z.strictObject({ push: pushSchema }));

/** `{queued}` */
export const testAnswer = named(
  'NoticeTestResponse',
  z.strictObject({ queued: z.int().min(1).describe('To how many addresses it is sent: browsers, or one.') }),
);
