import { findProgram } from '../../src/engine/sandbox/host.js';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { type Answer, ModelServer, type Script, stepOf } from '../harness/model-server.js';
import { call, createTask, finished, readResults } from '../harness/tasks.js';

/** What the service runs commands with has no others. */
const missing = (...programs: string[]) => programs.filter((name) => findProgram(name) === null);
/** Tests of programs of the system, left out where one is not installed, and it says so. */
function describeWith(programs: string[], tests: () => void): void {
  const none = missing(...programs);
  if (none.length > 0) process.stderr.write(`${programs.join(', ')} in a terminal: left out, no ${none.join(', ')}.\n`);
  (none.length === 0 ? describe : describe.skip)(programs.join(', '), tests);
}
const ENDED = /exited/;
const VIM = ['vim', 'vim.tiny', 'vi'].find((name) => findProgram(name) !== null) ?? 'vim';

describe('Programs that want a terminal (reference §27.2)', () => {
  let model: ModelServer;
  let owner: Member;
  const service = useService(async () => {
    model = await ModelServer.start();
    return bootWorker({
      env: { OPENAI_COMPATIBLE_URL: model.url },
      config: { transparency: { data: true, tool_activity: true } },
    });
  });
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
  });
  afterAll(() => model.stop());

  interface Said {
    status?: string;
    exitCode?: number | null;
    output?: string;
    stdout?: string;
  }
  /** What is called, what must have been said before the next step, and what before this one: else it is left out. */
  type Step = [call: Answer, said?: RegExp, only?: RegExp];
  /** Has an agent type, which reads on until what is to be said has been. Answers the results of all calls. */
  const types = async (...steps: Step[]): Promise<Said[]> => {
    const scripted: Script = (request) => {
      const results = request.messages.filter(({ role }) => role === 'tool');
      // Replayed from the beginning: what is asked for depends on the conversation alone.
      let at = 0;
      let text = '';
      let reads = 0;
      for (const { content } of results) {
        const said = contentOf(content);
        text += said;
        if (steps[at]?.[1]?.test(text) !== false || ENDED.test(said)) {
          at += steps[at + 1]?.[2]?.test(text) === false ? 2 : 1;
          text = '';
          reads = 0;
        } else reads++;
      }
      if (at >= steps.length || stepOf(request) > 60) return { text: 'Done.' };
      // A program may need long on a busy machine. Each read waits longer: who reads the same in the same way again and again is stopped.
      if (reads > 0) return call('bash_output', { id: 'b1', waitSeconds: 0.5 * 1.5 ** reads });
      return steps[at]?.[0] ?? { text: 'Done.' };
    };
    model.script = scripted;
    const { id } = await createTask(owner.client, { content: 'Type.' });
    const task = await finished(owner.client, id);
    // With what was said, for whoever reads why it failed.
    const results = await readResults(owner.client, id);
    expect({ ...task, results }).toMatchObject({
      status: 'completed',
      results: results.map(() => ({ status: 'success' })),
    });
    return results.map(({ output }) => output as Said);
  };
  const contentOf = (content: unknown) => (typeof content === 'string' ? content : JSON.stringify(content));
  const type = (text: string, ...keys: string[]) =>
    call('bash_input', { id: 'b1', text, ...(keys.length > 0 && { keys }), waitSeconds: 20 });
  const open = (command: string) => call('bash', { command, terminal: true });
  const bash = (command: string) => call('bash', { command });
  const all = (said: Said[]) => said.map(({ output = '' }) => output).join('');
  const end = (said: Said[]) => said.findLast(({ status }) => status !== undefined);

  describeWith([VIM], () => {
    it('opens a file, is typed in, and writes it', async () => {
      const said = await types(
        [bash(`printf 'first\\nlast\\n' > poem.txt`)],
        [open(`${VIM} poem.txt`), /last/],
        [type('obetween'), /between/],
        [type('', 'esc')],
        [type('ggOa title', 'esc')],
        [type(':wq', 'enter'), ENDED],
        [bash('cat poem.txt')],
      );
      expect(end(said)).toMatchObject({ status: 'exited', exitCode: 0 });
      expect(said.at(-1)).toMatchObject({ exitCode: 0, stdout: 'a title\nfirst\nbetween\nlast\n' });
    });
  });

  describeWith(['python3'], () => {
    it('answers at its prompt, takes a block, is interrupted, and ends', async () => {
      const said = await types(
        [open('python3 -q'), />>> /],
        [type('6 * 7', 'enter'), /42/],
        [type('for n in range(3):\r    print("n is", n)\r', 'enter'), /n is 2/],
        [type('import time; time.sleep(600)', 'enter')],
        [type('', 'ctrl-c'), /KeyboardInterrupt/],
        [type('input("who? ")', 'enter'), /who\? /],
        [type('Ann', 'enter'), /'Ann'/],
        [type('exit(3)', 'enter'), ENDED],
      );
      expect(all(said)).toMatch(/42[\s\S]*n is 0\r?\nn is 1\r?\nn is 2[\s\S]*KeyboardInterrupt[\s\S]*'Ann'/);
      expect(end(said)).toMatchObject({ status: 'exited', exitCode: 3 });
    });
  });

  describeWith(['node'], () => {
    it('stops at a line in its debugger, says what a variable is, and goes on to the end', async () => {
      const program = `const six = 6;\\nconst answer = six * 7;\\ndebugger;\\nconsole.log('the answer is', answer);\\n`;
      const said = await types(
        [bash(`printf "${program}" > program.js`)],
        [open('node inspect program.js'), /debug> /],
        [type('cont', 'enter'), /debugger;[\s\S]*debug> /],
        [type('exec answer', 'enter'), /42/],
        [type('cont', 'enter'), /the answer is 42/],
        [type('.exit', 'enter'), ENDED],
      );
      expect(all(said)).toMatch(/break in [\s\S]*42[\s\S]*the answer is 42/);
      expect(end(said)).toMatchObject({ status: 'exited', exitCode: 0 });
    });
  });

  describeWith(['npm'], () => {
    it('asks its questions, and writes what was answered', async () => {
      const said = await types(
        [bash('mkdir app')],
        [open('cd app && npm init'), /package name: /],
        [type('pearls', 'enter'), /version: /],
        [type('', 'enter'), /description: /],
        [type('A string of them', 'enter'), /entry point: /],
        [type('', 'enter'), /test command: /],
        [type('', 'enter'), /git repository: /],
        [type('', 'enter'), /keywords: /],
        [type('', 'enter'), /author: /],
        [type('Ann', 'enter'), /license: /],
        [type('', 'enter'), /Is this OK\?|type: /],
        // Newer ones ask that too.
        [type('', 'enter'), /Is this OK\?/, /type: /],
        [type('yes', 'enter'), ENDED],
        [bash('cat app/package.json')],
      );
      expect(end(said)).toMatchObject({ status: 'exited', exitCode: 0 });
      expect(JSON.parse(said.at(-1)?.stdout ?? '')).toMatchObject({
        name: 'pearls',
        version: '1.0.0',
        description: 'A string of them',
        author: 'Ann',
      });
    });
  });
});
