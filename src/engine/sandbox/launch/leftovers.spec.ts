import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { endAll, type Found } from './leftovers.js';

const nothing: Found = { pids: [], ended: [], unsure: false };

/** Answers one after the other, and the last one again and again. */
const finding = (...answers: Found[]) => {
  let calls = 0;
  const find = () => Promise.resolve(answers[Math.min(calls++, answers.length - 1)] ?? nothing);
  return { find, calls: () => calls };
};

describe('What a command leaves running', () => {
  it('is looked for again when a process has ended meanwhile, which may have made another', async () => {
    const child = spawn('sleep', ['60'], { stdio: 'ignore' });
    const over = once(child, 'exit');
    const { find } = finding({ ...nothing, ended: [1_000_001] }, { ...nothing, pids: [child.pid ?? 0] }, nothing);
    expect(await endAll(find)).toBe(true);
    expect(await over).toEqual([null, 'SIGKILL']);
  });

  it('is ended although a process that nobody asks for keeps its number', async () => {
    const { find, calls } = finding({ ...nothing, ended: [1_000_001] });
    expect(await endAll(find)).toBe(true);
    expect(calls()).toBe(2);
  });

  it('is not ended while one may have been missed each time', async () => {
    expect(await endAll(finding({ ...nothing, unsure: true }).find)).toBe(false);
  });
});
