// The sandboxes of a service that runs as another user than the test; the test asks for them by messages (sandboxes.ts).
import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import type { ConfigFile } from '../../src/platform/config/config-file.js';
import type { RunOptions, TaskSecret } from '../../src/engine/sandbox/sandbox.js';
import { type Names, namesOn } from './names.js';
import { changeable, type DriverName, type Opened, SandboxBench } from './sandboxes.js';

export interface Asked {
  id: number;
  call: keyof typeof calls;
  words: unknown[];
}
export type Said = { id: number; value: unknown } | { id: number; error: string };

Logger.overrideLogger(['error', 'fatal']);
const [, , driver, config = '{}'] = process.argv;
const bench = new SandboxBench(driver as DriverName, JSON.parse(config) as ConfigFile['sandbox']);
const opened = new Map<string, Opened & { change: (all: readonly TaskSecret[]) => void }>();
const one = (taskId: string) => {
  const found = opened.get(taskId);
  if (found === undefined) throw new Error(`no task ${taskId}`);
  return found;
};

const calls = {
  path: () => bench.dataDir.path,
  check: () => bench.sandbox.check(),
  names: (names: Names) => void (bench.proxy.egress = namesOn(names)),
  // Secrets come by a message: the arguments of a process are seen by all.
  open: async (secrets: TaskSecret[]) => {
    const { given, change } = changeable(secrets);
    const made = await bench.open(undefined, true, secrets.length === 0 ? undefined : given);
    opened.set(made.taskId, { ...made, change });
    return { taskId: made.taskId, workdir: made.workdir };
  },
  run: (taskId: string, command: string, options: RunOptions) => one(taskId).session.run(command, options),
  writeFile: (taskId: string, path: string, text: string) => one(taskId).session.writeFile(path, text),
  change: (taskId: string, secrets: TaskSecret[]) => one(taskId).change(secrets),
  closeTask: (taskId: string) => one(taskId).session.close(),
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
