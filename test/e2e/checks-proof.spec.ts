import { createHash } from 'node:crypto';
import { ProofError, verifyProof } from '@millwright/sdk';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { ModelServer } from '../harness/model-server.js';
import { RepositoryFolder } from '../harness/repositories.js';
import { call, createTask, finished, readTask, script } from '../harness/tasks.js';
import { until } from '../harness/until.js';

const sha256 = (text: string | Buffer) => createHash('sha256').update(text).digest('hex');

interface Statement {
  subject: { name: string; digest: Record<string, string> }[];
  predicate: {
    result: string;
    passedTests: string[];
    failedTests: string[];
    millwright: { task: string; turn: number; workspace: string; checks: { phase: string; name: string; round: number; status: string; outputSha256: string; protectedChanged: string[] }[] };
  };
} // prettier-ignore

describe('The proof of what checks said (reference §26)', () => {
  const repositories = new RepositoryFolder();
  let model: ModelServer;
  let owner: Member;
  const service = useService(async () => {
    model = await ModelServer.start();
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.url }, config: { repositoryFiles: [repositories.path] } });
  });
  beforeAll(async () => {
    owner = await makeMember(service, { role: 'owner' });
  });
  afterAll(async () => {
    await model.stop();
    repositories.remove();
  });

  const work = async (command: string, body: Record<string, unknown>) => {
    const { id } = await createTask(owner.client, { content: script(call('bash', { command }), { text: 'Done.' }), maxRepairs: 0, ...body }); // prettier-ignore
    return finished(owner.client, id);
  };
  const proofOf = async (id: string) => {
    const { status, body } = await owner.client.get<Parameters<typeof verifyProof>[0]>(`/v1/tasks/${id}/proof`);
    expect(status).toBe(200);
    return body;
  };
  const fileOf = async (id: string, name: string) => {
    const { body } = await owner.client.get<{ files: { name: string; downloadUrl: string }[] }>(`/v1/tasks/${id}/files`); // prettier-ignore
    const url = body.files.find((file) => file.name === name)?.downloadUrl ?? '';
    const answer = await fetch(url, { headers: { Authorization: `Bearer ${owner.key.secret}` } });
    return Buffer.from(await answer.arrayBuffer());
  };

  it('of a repository names commit and patch, verifies with the keys of the service, and with no other patch', async () => {
    const url = `file://${repositories.make('proven', { 'a.txt': 'one\n', 'test.sh': 'grep -q two a.txt\n' })}`;
    const checks = [{ name: 'test', command: 'sh test.sh', protect: ['test.sh'] }, { name: 'lint', command: 'false', required: false }]; // prettier-ignore
    const task = await work('cd repo && echo two >a.txt && echo true >test.sh', { repository: { url }, checks });
    expect(task.status).toBe('completed');
    const proof = await proofOf(task.id);
    const patch = await fileOf(task.id, 'changes.patch');
    const { statement } = (await verifyProof(proof, { patch, origin: service.url })) as unknown as { statement: Statement }; // prettier-ignore
    const { commit } = (task as unknown as { repository: { commit: string } }).repository;
    expect(statement.subject).toEqual([
      { name: 'changes.patch', digest: { sha256: sha256(patch) } },
      { name: `git:${commit}`, digest: { gitCommit: commit } },
    ]);
    const { predicate } = statement;
    expect(predicate).toMatchObject({ result: 'PASSED', passedTests: ['test'], failedTests: ['lint'] });
    expect(predicate.millwright).toMatchObject({ task: task.id, turn: 1, workspace: owner.workspace.slug });
    // Two run at once: which of them ends first is open.
    const seen = [...predicate.millwright.checks].sort((a, b) =>
      `${a.phase}${a.name}`.localeCompare(`${b.phase}${b.name}`),
    );
    expect(seen).toMatchObject([
      { phase: 'after', name: 'lint', status: 'failed' },
      {
        phase: 'after',
        name: 'test',
        round: 0,
        status: 'passed',
        outputSha256: sha256(''),
        protectedChanged: ['test.sh'],
      },
      { phase: 'before', name: 'lint', status: 'failed' },
      { phase: 'before', name: 'test', status: 'failed' },
    ]);
    await expect(verifyProof(proof, { patch: Buffer.from('another'), origin: service.url })).rejects.toThrow(
      ProofError,
    );
    expect(JSON.parse((await fileOf(task.id, 'proof.json')).toString())).toEqual(proof);
  });

  it('names the patch that was checked, and no file that the agent has given its name', async () => {
    const url = `file://${repositories.make('forged', { 'a.txt': 'one\n' })}`;
    const publish = call('publish', { path: 'forged', name: 'changes.patch' });
    const proven = async (command: string) => {
      const content = script(call('bash', { command }), publish, { text: 'Done.' });
      const { id } = await createTask(owner.client, { content, repository: { url }, checks: [{ name: 'one', command: 'true' }] }); // prettier-ignore
      expect((await finished(owner.client, id)).status).toBe('completed');
      const { body } = await owner.client.get<{ files: { name: string; size: number }[] }>(`/v1/tasks/${id}/files`);
      const { statement } = (await verifyProof(await proofOf(id), { origin: service.url })) as unknown as { statement: Statement }; // prettier-ignore
      const of = statement.subject.filter(({ name }) => name === 'changes.patch').map(({ digest }) => digest['sha256']);
      return [body.files.filter(({ name }) => name === 'changes.patch').length, of];
    };
    expect(await proven('echo forged >forged')).toEqual([1, []]);
    const [files, of] = await proven('echo forged >forged; echo two >repo/a.txt');
    expect([files, of]).toEqual([2, [expect.not.stringContaining(sha256('forged\n'))]]);
  });

  it('without a repository names the files that were checked; one that failed says so', async () => {
    const task = await work('mkdir -p b; echo one >a; echo two >b/run; chmod +x b/run; ln -s a link; echo x >"ü"', { checks: [{ name: 'never', command: 'echo no; false' }] }); // prettier-ignore
    expect(task.statusReason).toMatchObject({ code: 'checks_failed' });
    const { statement } = (await verifyProof(await proofOf(task.id), { origin: service.url })) as unknown as { statement: Statement }; // prettier-ignore
    const lines = [`100644 ${sha256('one\n')} a`, `100755 ${sha256('two\n')} b/run`, `120000 ${sha256('a')} link`, `100644 ${sha256('x\n')} ü`]; // prettier-ignore
    expect(statement.subject).toEqual([{ name: 'workdir', digest: { sha256: sha256(lines.map((line) => `${line}\0`).join('')) } }]); // prettier-ignore
    expect(statement.predicate).toMatchObject({ result: 'FAILED', failedTests: ['never'], passedTests: [] });
  });

  it('says how each check ran, also when the checks of the task are changed while it runs', async () => {
    const check = { name: 'one', command: 'sleep 2', protect: ['attachments/**'] };
    const { id } = await createTask(owner.client, { content: 'Do it.', checks: [check] });
    const state = async () => ((await readTask(owner.client, id)) as unknown as { checks: { status: string } }).checks;
    await until('the check to run', async () => (await state()).status === 'running');
    await owner.client.patch(`/v1/tasks/${id}`, { checks: [{ name: 'one', command: 'true' }] });
    expect((await finished(owner.client, id)).status).toBe('completed');
    const { statement } = await verifyProof(await proofOf(id), { origin: service.url });
    expect(JSON.stringify(statement)).toContain('"annotations":{"required":true,"protect":["attachments/**"],"network":false}'); // prettier-ignore
  });

  it('names the files of a closed folder too, for a check sees them', async () => {
    const task = await work('mkdir closed; echo one >closed/a; chmod 000 closed', { checks: [{ name: 'seen', command: 'cat closed/a' }] }); // prettier-ignore
    expect(task.status).toBe('completed');
    const { statement } = (await verifyProof(await proofOf(task.id), { origin: service.url })) as unknown as { statement: Statement }; // prettier-ignore
    expect(statement.subject).toEqual([{ name: 'workdir', digest: { sha256: sha256(`100644 ${sha256('one\n')} closed/a\0`) } }]); // prettier-ignore
  });

  it('there is none of a task without checks', async () => {
    const { id } = await work('true', {});
    expect((await owner.client.get(`/v1/tasks/${id}/proof`)).status).toBe(404);
  });
});
