import { Logger } from '@nestjs/common';
import { jest } from '@jest/globals';
import { Heartbeat } from '../../src/engine/sandbox/heartbeat.js';
import { SandboxSelector } from '../../src/engine/sandbox/sandbox-selector.js';
import { SandboxError } from '../../src/engine/sandbox/sandbox.js';
import { bash, useBuilds } from '../harness/build-stand.js';
import { buildBecomes, ENVIRONMENTS } from '../harness/builds.js';
import type { ErrorBody } from '../harness/client.js';

describe('On a service whose last task has ended long ago (reference §25)', () => {
  const stand = useBuilds(() => Promise.resolve(undefined));

  it('a build is made, and a command is tried in it', async () => {
    const slug = await stand.make({ setup: ['echo one >file'] });
    await stand.work(slug, bash('cat file'));
    // As after ten minutes, the lease of this service.
    const ofRuns = stand.service.app.get(Heartbeat, { strict: false });
    ofRuns['confirmedAt'] -= 600_000;
    expect(ofRuns.firstSilenceSeconds).toBeLessThan(0.01);
    const { client } = stand.owner;
    expect((await client.post(`${ENVIRONMENTS}/${slug}/build`)).status).toBe(202);
    const build = await buildBecomes(client, slug, 'ready');
    expect(build.error).toBeNull();
    const { status, body } = await client.post(`${ENVIRONMENTS}/${slug}/test`, { command: 'cat file' });
    expect([status, body]).toEqual([200, { exitCode: 0, stdout: 'one\n', stderr: '' }]);
    expect(ofRuns.firstSilenceSeconds).toBeLessThan(0.01);
    // Runs have theirs again.
    expect((await stand.work(slug, bash('ls'))).status).toBe('completed');
  });
});

describe('On a service whose sandbox does not work any more (reference §25)', () => {
  const stand = useBuilds(() => Promise.resolve(undefined));
  afterEach(() => jest.restoreAllMocks());

  it('the log has the cause of a build that failed, and of a command that could not be tried', async () => {
    const slug = await stand.make({ setup: ['true'] });
    const { client } = stand.owner;
    await client.post(`${ENVIRONMENTS}/${slug}/build`);
    await buildBecomes(client, slug, 'ready');
    const cause = new SandboxError('The sandbox did not start: no such namespace');
    const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    jest.spyOn(stand.service.app.get(SandboxSelector, { strict: false }).current, 'open').mockRejectedValue(cause);
    await client.post(`${ENVIRONMENTS}/${slug}/build`);
    const { error } = await buildBecomes(client, slug, 'failed');
    expect(error).toBe('The sandbox of this service does not work at the moment; its log says why.');
    const tried = await client.post<ErrorBody>(`${ENVIRONMENTS}/${slug}/test`, { command: 'true' });
    expect([tried.status, tried.body.error.message]).toEqual([503, error]);
    expect(warn.mock.calls.map(([said]) => said as object)).toEqual([
      expect.objectContaining({ msg: expect.stringMatching(/^Build .* failed: The sandbox/), err: cause }),
      expect.objectContaining({ msg: expect.stringMatching(/^Trial .* failed/), err: cause }),
    ]);
  });
});
