import type { WebhookDelivery } from '@millwright/sdk';
import { client } from './account.js';
import { type Line, UsageError, type Verb } from './line.js';
import { plain } from './terminal.js';

/** The verbs below `webhooks`. */
export const PARTS: Record<string, Verb | undefined> = {
  list: {
    words: [],
    options: {},
    async run(line) {
      for await (const one of client().webhooks.list()) {
        print(line, one, `${one.id}  ${one.status}  ${one.types.join(',')}  ${one.url}`);
      }
      return 0;
    },
  },
  create: {
    words: ['URL'],
    options: { types: 'text' },
    async run(line) {
      const types = line.text('types');
      if (types === undefined) throw new UsageError('--types is missing, such as --types task.completed,task.failed');
      const made = await client().webhooks.create({ url: line.word(0), types: types.split(',') as ['*'] });
      print(line, made, `${made.webhook.id}\nSecret, shown this once: ${made.secret}`);
      return 0;
    },
  },
  test: {
    words: ['WEBHOOK'],
    options: {},
    run: async (line) => printDelivery(line, await client().webhooks.test(line.word(0))),
  },
  deliveries: {
    words: ['WEBHOOK'],
    options: {},
    async run(line) {
      for await (const one of client().webhooks.deliveries(line.word(0))) printDelivery(line, one);
      return 0;
    },
  },
  redeliver: {
    words: ['WEBHOOK', 'DELIVERY'],
    options: {},
    run: async (line) => printDelivery(line, await client().webhooks.redeliver(line.word(0), line.word(1))),
  },
};

function printDelivery(line: Line, one: WebhookDelivery): number {
  print(line, one, `${one.id}  ${one.status}  ${one.eventType}  ${one.createdAt}`);
  return 0;
}

function print(line: Line, value: unknown, words: string): void {
  console.log(line.json ? JSON.stringify(value) : plain(words));
}
