// The simulation of many workers (bench/simulate.mjs), as an operator starts it.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const RUN = fileURLToPath(new URL('../../bench/run.mjs', import.meta.url));

interface Result {
  rounds: { count: number; tasks: number; figures: Record<string, number> }[];
}

/** It starts a PostgreSQL of its own. */
function simulate(...options: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'] };
  const words = [
    RUN,
    'simulate',
    '--seconds',
    '2',
    '--think',
    '200',
    '--turns',
    '2',
    '--rate',
    '4',
    '--json',
    ...options,
  ];
  return new Promise((resolve) => {
    execFile(process.execPath, words, { env }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
  });
}

describe('The simulation of many workers', () => {
  it('measures some, and misses the one row that was taken away', async () => {
    const { code, stdout, stderr } = await simulate('--workers', '1,3', '--spoil');
    const fault = (workers: number) =>
      expect.stringMatching(
        new RegExp(`^${workers} workers: a step is not metered exactly once: 1, such as \\S+$`),
      ) as string;
    expect(stderr.trim().split('\n')).toEqual([fault(1), fault(3)]);
    expect(code).toBe(1);
    const { rounds } = JSON.parse(stdout) as Result;
    expect(rounds.map(({ count }) => count)).toEqual([1, 3]);
    for (const { tasks, figures } of rounds) {
      expect(tasks).toBeGreaterThan(0);
      expect(Object.entries(figures).filter(([, value]) => !Number.isFinite(value))).toEqual([]);
      expect(figures['connections of workers, most']).toBeGreaterThan(0);
    }
  }, 600_000);
});
