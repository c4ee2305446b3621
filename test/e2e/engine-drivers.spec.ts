// A whole turn of an agent program in a sandbox of each kind (reference §30).
import { SandboxSelector } from '../../src/engine/sandbox/sandbox-selector.js';
import { answerApproval, approvalOf } from '../harness/approvals.js';
import { useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { byScript, FakeModel } from '../harness/engines/fake-model.js';
import { bootWithEngines, engineOf, shell } from '../harness/engines/worker.js';
import { newMark, processesGone, processesWith, sleeps } from '../harness/processes.js';
import { describeDrivers, DRIVERS } from '../harness/sandboxes.js';
import { createTask, finishedLater, readMessages, readResults, readTask, script, texts } from '../harness/tasks.js';
import { until } from '../harness/until.js';

describeDrivers((driver) => {
  describe('An agent program in this sandbox (reference §30)', () => {
    const mark = newMark();
    let model: FakeModel;
    let ann: Member;
    const service = useService(async () => {
      model = await FakeModel.start();
      const engines = { program: engineOf({ MARK: mark }), tools: engineOf({ MCP: '1' }) };
      return bootWithEngines(model, engines, { env: { SANDBOX: driver } });
    });
    beforeAll(async () => (ann = await makeMember(service)));
    beforeEach(() => {
      model.requests.length = 0;
      model.script = byScript;
    });
    afterAll(() => model.stop());

    const begin = (content: string, more: Record<string, unknown> = {}) => {
      return createTask(ann.client, { content, model: 'program', ...more });
    };

    it('carries out its calls in the workdir, reaches its model alone, and goes on with its session at the next message', async () => {
      expect(service.app.get(SandboxSelector, { strict: false }).current).toBeInstanceOf(DRIVERS[driver]);
      const direct = `curl -s --noproxy '*' --max-time 5 ${model.origin}/v1/models || echo unreached`;
      const first = { text: 'I write.', calls: [shell('pwd; echo hello > a.txt'), shell(direct)] };
      const { id } = await begin(script(first, { text: 'Written.' }));
      expect(await finishedLater(ann.client, id)).toMatchObject({ status: 'completed', result: { text: 'Written.' } });
      await ann.client.post(`/v1/tasks/${id}/messages`, {
        content: script({ calls: [shell('cat a.txt')] }, { text: 'Read.' }),
      });
      expect(await finishedLater(ann.client, id)).toMatchObject({ status: 'completed', usage: { steps: 4 } });
      expect((await readResults(ann.client, id)).map(({ output }) => output)).toEqual([
        '/workdir\n',
        'unreached\n',
        'hello\n',
      ]);
      const messages = await readMessages(ann.client, id);
      expect(texts(messages)).toEqual(['I write.', 'Written.', 'Read.']);
      expect(JSON.stringify(messages)).not.toContain('engine_restarted');
      expect(model.others).toEqual([]);
      // Its program has ended with the run.
      await processesGone(mark, 20_000);
    });

    it('waits for a person who approves a call, and for one who is asked', async () => {
      const asked = { name: 'mcp__millwright__ask', arguments: { question: 'Which colour?' } };
      model.script = ({ messages }) => {
        const told = messages.map(({ role, text }) => (role === 'user' ? text : '')).join('\n');
        if (told.includes('Green.')) return { text: 'Green it is.' };
        return messages.at(-1)?.role === 'tool' ? { calls: [asked] } : { calls: [shell('echo once >> log; cat log')] };
      };
      const { id } = await begin('Paint it.', { model: 'tools', approvals: 'writes' });
      const approval = await approvalOf(ann.client, id);
      await answerApproval(ann.client, id, approval, { decision: 'approve' });
      const question = await until('the task to ask', async () => {
        const { pendingInteraction } = await readTask(ann.client, id);
        return pendingInteraction?.id === approval.id ? null : pendingInteraction;
      });
      expect(question).toMatchObject({ type: 'question', question: 'Which colour?' });
      await ann.client.post(`/v1/tasks/${id}/interaction`, { interactionId: question.id, content: 'Green.' });
      expect(await finishedLater(ann.client, id)).toMatchObject({ result: { text: 'Green it is.' } });
      const [once] = await readResults(ann.client, id);
      expect(once).toMatchObject({ status: 'success', output: 'once\n' });
    });

    it('is ended with all that it runs when its task is cancelled', async () => {
      const slept = newMark();
      const { id } = await begin(script({ calls: [shell(`sleep ${slept}`)] }));
      await sleeps(slept);
      expect(processesWith(slept)).not.toEqual([]);
      await ann.client.post(`/v1/tasks/${id}/cancel`);
      await processesGone(slept, 20_000);
      expect((await finishedLater(ann.client, id)).status).toBe('cancelled');
    });
  });
});
