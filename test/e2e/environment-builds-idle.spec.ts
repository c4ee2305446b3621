import { Heartbeat } from '../../src/engine/sandbox/heartbeat.js';
import { bash, useBuilds } from '../harness/build-stand.js';
import { buildBecomes, ENVIRONMENTS } from '../harness/builds.js';

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
