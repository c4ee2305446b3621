import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { processesWith } from '../harness/processes.js';

const run = promisify(execFile);
const FIXTURE = fileURLToPath(new URL('../harness/boot-app-module.mjs', import.meta.url));

/** A process of its own that boots AppModule in the Nest testing module as a foreign suite would. */
const boot = (times: number) => {
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], NODE_ENV: 'test' };
  return run(process.execPath, [FIXTURE, String(times)], { env }).then(
    ({ stdout }) => JSON.parse(stdout) as { statuses: number[]; folders: string[]; left: string[] },
  );
};

describe('AppModule in the Nest testing module (reference §16)', () => {
  it('boots with no environment at all, in parallel processes too, and close() leaves nothing running', async () => {
    const results = await Promise.all([boot(1), boot(2)]);
    expect(results.map(({ statuses }) => statuses)).toEqual([[200], [200, 200]]);
    // The process ended by itself: no timer, socket or child kept it alive.
    for (const { folders, left } of results) {
      expect(left).toEqual([]);
      for (const folder of folders) expect(processesWith(folder)).toEqual([]);
    }
  });
});
