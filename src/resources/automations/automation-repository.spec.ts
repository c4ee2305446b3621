import { asStored, forTask } from './automation-repository.js';

const TASK = '019aa3b5-7d1e-7f00-8a2b-3c4d5e6f7081';
const OCCASION = { taskId: TASK, now: new Date('2026-01-31T23:59:59.999Z') };
const url = 'https://git.example/acme/api';

describe('the repository of one run (reference §12)', () => {
  it.each([
    ['sweeps/next', 'sweeps/next'],
    ['sweeps/{taskId}', `sweeps/${TASK}`],
    ['{date}/{date}-{taskId}', `2026-01-31/2026-01-31-${TASK}`],
  ])('the branch %s is %s', (branch, expected) => {
    expect(forTask(asStored({ url, push: { branch } }), OCCASION)).toEqual({ url, push: { branch: expected } });
  });

  it.each([
    ['x/{run}', 'has {run}, which is no placeholder: {taskId} and {date} are.'],
    ['x/{constructor}', 'has {constructor}, which is no placeholder'],
    ['x/{{date}}', 'has {, which is no placeholder'],
    ['x/date}', 'has }, which is no placeholder'],
    ['x'.repeat(240) + '{taskId}', 'is the name of a branch no more when its placeholders are filled in: at most 255'],
  ])('the branch %s is refused', (branch, message) => {
    const run = () => forTask(asStored({ url, push: { branch } }), OCCASION);
    expect(run).toThrow(`repository.push.branch ${message}`);
  });

  it('what was left out stays out', () => {
    const given = { url, ref: 'v1', push: { branch: 'x', pullRequest: { base: 'next' } } };
    const stored = asStored(given);
    expect(stored.push?.pullRequest).toEqual({ title: null, base: 'next', draft: false });
    expect(forTask(stored, OCCASION)).toEqual({
      ...{ url, ref: 'v1' },
      push: { branch: 'x', pullRequest: { base: 'next', draft: false } },
    });
    expect(asStored({ url })).toEqual({ url, ref: null, push: null });
    expect(forTask(asStored({ url }), OCCASION)).toEqual({ url });
  });
});
