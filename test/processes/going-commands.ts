// Agents that start servers, watchers and prompts, use them, and start anew what was lost; and what must then be on record.
import type { ChatMessage, ChatRequest, Answer as ModelAnswer } from '../harness/model-server.js';
import { call, type MessageBody } from '../harness/tasks.js';

export const KINDS = ['server', 'watcher', 'prompt'] as const;
export type Kind = (typeof KINDS)[number];

export interface Order {
  kind: Kind;
  /** Of a server: each of its starts takes the next one. No other order has these. */
  port: number;
  /** Whether the agent stops its command by itself; else the end of the turn does. */
  stops: boolean;
}

/** Ports of an order: so many starts have their own. */
export const PORTS = 20;
/** Ticks of a watcher, answers of a server and of a prompt that an agent wants of one command. */
const WANTED = 4;
const SEEN_AGAIN = 'These commands of yours do not run any more';
const INTERRUPTED = 'This was interrupted';
const FAILED = [INTERRUPTED, 'There is no command', 'does not run any more'];

/**
 * What the agent does next, by its conversation alone. Each call has a number, that of its step; a command leaves it in the file `starts` when it
 * begins, and in `beats`, with the run that it belongs to, while it lives.
 */
export function nextCall({ messages }: ChatRequest): ModelAnswer {
  const order = JSON.parse(textOf(messages.find(({ role }) => role === 'user'))) as Order;
  const steps = stepsOf(messages);
  const number = steps.length;
  // Nothing of one run lives in the next: each that was lost is told of, or its call was interrupted.
  const run = messages.filter(({ role, content }) =>
    role === 'user' ? textOf({ content }).includes(SEEN_AGAIN) : textOf({ content }).includes(INTERRUPTED),
  ).length;
  const bash = (command: string, more: object = {}) =>
    call('bash', { command: `echo ${number} >> starts; ${command}`, ...more });
  const last = steps.at(-1);
  if (last?.name === 'cat' && last.ok) return { text: 'Done.' };
  const going = goingOf(steps);
  const beats = `echo "${run} ${number}" >> beats`;
  if (going === null) {
    if (order.kind === 'watcher') return bash(`i=0; while :; do i=$((i + 1)); echo "tick $i ✓"; ${beats}; sleep 0.2; done`, { background: true, yieldSeconds: 0.3 }); // prettier-ignore
    if (order.kind === 'prompt') return bash(`for k in 1 2 3 4 5 6 7 8; do read -r -p "name $k? " name; echo "$name" >> typed; ${beats}; echo "hello $name"; done`, { terminal: true, yieldSeconds: 0.3 }); // prettier-ignore
    return bash(serve(order.port + (number % PORTS), number), { background: true, yieldSeconds: 0.3 });
  }
  const { id, port, done } = going;
  if (done < WANTED) {
    if (order.kind === 'watcher') return call('bash_output', { id, waitSeconds: 0.3 });
    if (order.kind === 'prompt')
      return call('bash_input', { id, text: `<${number}>`, keys: ['enter'], waitSeconds: 5 });
    return bash(`until exec 3<>/dev/tcp/127.0.0.1/${port}; do sleep 0.1; done 2>/dev/null; ${beats}; printf 'GET /${number} HTTP/1.0\\r\\n\\r\\n' >&3; tail -n 1 <&3`); // prettier-ignore
  }
  if (order.stops && !going.stopped) return call('bash_stop', { id });
  return bash(`cat /tmp/output/${id}.log; echo END; cat starts; echo END; cat beats; echo END; cat typed; true`);
}

/** Answers each request with its own number, and with what is asked for. */
const serve = (port: number, number: number) =>
  `exec node -e 'require("http").createServer((asked, to) => to.end("served ${number} " + asked.url)).listen(${port}, "127.0.0.1", () => console.log("up"))'`;

interface Step {
  name: 'start' | 'use' | 'stop' | 'cat';
  id: string | null;
  port: number | null;
  ok: boolean;
  /** Words about earlier commands stand behind it. */
  told: boolean;
}

interface Going {
  id: string;
  port: number | null;
  /** How often it was of use. */
  done: number;
  stopped: boolean;
}

/** The command that the agent has at hand; null: it has to start one. */
function goingOf(steps: Step[]): Going | null {
  const [first, ...after] = steps.slice(steps.findLastIndex(({ name, ok }) => name === 'start' && ok));
  const uses = after.filter(({ name }) => name !== 'cat');
  // In whatever way the agent has learnt that it is gone.
  const gone = [first, ...after].some((step) => step?.told === true) || uses.some(({ ok }) => !ok);
  if (first?.id == null || gone) return null;
  const stopped = uses.some(({ name }) => name === 'stop');
  return { id: first.id, port: first.port, done: uses.length, stopped };
}

function stepsOf(messages: ChatMessage[]): Step[] {
  const steps: Step[] = [];
  for (const message of messages) {
    const [made] = message.tool_calls ?? [];
    if (made !== undefined) steps.push({ ...madeOf(made.function), id: null, ok: false, told: false });
    const step = steps.at(-1);
    const text = textOf(message);
    if (step !== undefined && message.role === 'user' && text.includes(SEEN_AGAIN)) step.told = true;
    if (step === undefined || message.role !== 'tool') continue;
    step.ok = !FAILED.some((words) => text.includes(words));
    step.id = step.name === 'start' ? (/\bb\d+\b/.exec(text)?.[0] ?? null) : null;
  }
  return steps;
}

function madeOf({ name, arguments: json }: { name: string; arguments: string }): Pick<Step, 'name' | 'port'> {
  const { command = '' } = JSON.parse(json) as { command?: string };
  const port = Number(/listen\((\d+)/.exec(command)?.[1] ?? NaN);
  if (name === 'bash_stop') return { name: 'stop', port: null };
  if (command.includes('; cat /tmp/output/')) return { name: 'cat', port: null };
  const starts = command.includes('read -r -p') || command.includes('tick') || !Number.isNaN(port);
  return { name: starts ? 'start' : 'use', port: Number.isNaN(port) ? null : port };
}

function textOf(message: Pick<ChatMessage, 'content'> | undefined): string {
  const content = message?.content;
  if (!Array.isArray(content)) return typeof content === 'string' ? content : '';
  return content.map((part: { text?: string }) => part.text ?? '').join('\n');
}

export interface CommandBody {
  id: string;
  status: string;
  output: string | null;
}

interface Made {
  number: number;
  name: string;
  input: { command?: string; text?: string; id?: string };
  status?: string | undefined;
  output: { id?: string; output?: string; stdout?: string; exitCode?: number | null };
}

/** What the record of an order that came to its end shows and must not; empty as it should be. */
export function faultsOf({ kind }: Order, messages: MessageBody[], commands: CommandBody[]): string[] {
  const made = callsOf(messages);
  const faults: string[] = [];
  const must = (fault: string, holds: boolean) => void (holds || faults.push(fault));
  const succeeded = made.filter(({ status }) => status === 'success');
  const [log = '', starts = '', beats = '', typed = ''] = (succeeded.at(-1)?.output.stdout ?? '').split('END\n');

  const begun = linesOf(starts);
  must(`begun twice: ${begun.join()}`, new Set(begun).size === begun.length);
  // One that goes on, and is lost at once, may have been on its way.
  const bashes = succeeded
    .filter(({ name, output }) => name === 'bash' && output.exitCode !== undefined)
    .map(({ number }) => String(number));
  must(`not begun: ${bashes.join()} of ${begun.join()}`, bashes.every((number) => begun.includes(number))); // prettier-ignore
  const runs = linesOf(beats).map((line) => Number(line.split(' ')[0]));
  must(`outlived its run: ${runs.join()}`, runs.every((run, at) => run >= (runs[at - 1] ?? 0))); // prettier-ignore
  const inputs = linesOf(typed);
  must(`typed twice: ${inputs.join()}`, new Set(inputs).size === inputs.length);
  const given = succeeded.filter(({ name }) => name === 'bash_input').map(({ number }) => `<${number}>`);
  must(`typed, and not read: ${given.join()} of ${inputs.join()}`, given.every((text) => inputs.includes(text))); // prettier-ignore
  must('a command that runs', commands.every(({ status }) => status !== 'running')); // prettier-ignore

  for (const { id, status, output } of commands) {
    const own = succeeded.filter((one) => one.output.id === id);
    const shown = linesOf(own.map((one) => one.output.output ?? '').join(''), LINES[kind]);
    const typedTo = own.filter(({ name }) => name === 'bash_input').map(({ number }) => `hello <${number}>`);
    const inOrder = (lines: string[]) => lines.every((line, at) => line === (kind === 'prompt' ? typedTo[at] : lineAt(kind, at))); // prettier-ignore
    must(`${id} said ${JSON.stringify(shown)}`, inOrder(shown));
    const record = linesOf(output ?? '', LINES[kind]);
    if (status !== 'lost' && output !== '') must(`${id} is on record with ${JSON.stringify(record)}`, inOrder(record) && record.length >= shown.length); // prettier-ignore
    if (id !== lastOf(succeeded)) continue;
    const kept = linesOf(log.replaceAll('\r', ''), LINES[kind]);
    must(`${id} has in its log ${JSON.stringify(kept)}`, inOrder(kept) && kept.length >= Math.max(shown.length, 1));
  }
  let server = -1;
  for (const { number, name, input, output } of succeeded) {
    if (input.command?.includes('listen(') === true) server = number;
    else if (input.command?.includes('/dev/tcp/') === true && name === 'bash')
      must(`asked ${server}: ${output.stdout}`, output.stdout === `served ${server} /${number}`);
  }
  return faults;
}

/** What counts of what a command says: a terminal also shows what is typed, before or behind the question. */
const LINES: Record<Kind, RegExp> = { server: /^up$/gm, watcher: /^tick .*$/gm, prompt: /hello <\d+>/g };
const lineAt = (kind: Kind, at: number) => (kind === 'watcher' ? `tick ${at + 1} ✓` : 'up');

const linesOf = (text: string, line = /^.+$/gm): string[] => text.match(line) ?? [];
const lastOf = (made: Made[]) => made.findLast(({ output }) => output.id !== undefined)?.output.id;

function callsOf(messages: MessageBody[]): Made[] {
  const parts = messages.flatMap((message) => message.parts);
  return parts
    .filter(({ type }) => type === 'tool_call')
    .map(({ toolCallId, name = '', input }) => {
      const number = Number(/\d+/.exec((input as Made['input']).command ?? (input as Made['input']).text ?? '')?.[0]);
      const result = parts.find((part) => part.type === 'tool_result' && part.toolCallId === toolCallId);
      const output = (result?.output ?? {}) as Made['output'];
      return { number, name, input: input as Made['input'], status: result?.status, output };
    });
}
