// The sandboxes of a service that runs as another user than the test; the test asks for them by messages (sandboxes.ts).
import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import type { ConfigFile } from '../../src/platform/config/config-file.js';
import type { RunOptions } from '../../src/engine/sandbox/sandbox.js';
import { type DriverName, type Opened, SandboxBench } from './sandboxes.js';

export interface Asked {
  id: number;
  call: keyof typeof calls;
  words: unknown[];
}
export type Said = { id: number; value: unknown } | { id: number; error: string };

Logger.overrideLogger(['error', 'fatal']);
const [, , driver, config = '{}'] = process.argv;
const bench = new SandboxBench(driver as DriverName, JSON.parse(config) as ConfigFile['sandbox']);
const opened = new Map<string, Opened>();
const session = (taskId: string) => {
  const one = opened.get(taskId);
  if (one === undefined) throw new Error(`no task ${taskId}`);
  return one.session;
};

const calls = {
  path: () => bench.dataDir.path,
  check: () => bench.sandbox.check(),
  open: async () => {
    const one = await bench.open();
    opened.set(one.taskId, one);
    return { taskId: one.taskId, workdir: one.workdir };
  },
  run: (taskId: string, command: string, options: RunOptions) => session(taskId).run(command, options),
  writeFile: (taskId: string, path: string, text: string) => session(taskId).writeFile(path, text),
  closeTask: (taskId: string) => session(taskId).close(),
  close: () => bench.close(),
};

process.on('message', ({ id, call, words }: Asked) => {
  const told = (said: Said) => process.send?.(said);
  Promise.resolve()
    .then(() => (calls[call] as (...given: unknown[]) => unknown)(...words))
    .then(
      (value) => told({ id, value }),
      (error: unknown) => told({ id, error: String(error) }),
    );
});
process.on('disconnect', () => process.exit());
