import { readFileSync } from 'node:fs';
import { AGENTS_HELP } from './agents-help.js';
import { ENVIRONMENTS_HELP } from './environments-help.js';

interface VerbHelp {
  /** What stands behind `mw`, and what it does. */
  lines: readonly (readonly [line: string, about: string])[];
  options?: readonly (readonly [option: string, about: string])[];
  example: string;
}

const OUT = ['--out DIR', 'saves what the agent has published; a file that is there already is left as it is'] as const;

const VERBS: Record<string, VerbHelp> = {
  login: {
    lines: [['login', 'has a person let it in from the console, or asks for a key, checks it and keeps it']],
    options: [
      ['--url U', 'where the service is; else what was kept before, or http://127.0.0.1:3000'],
      ['--key', 'asks for a key, also where people sign in by a provider'],
      ['--device', 'shows a code for the console, also without a terminal'],
    ],
    example: 'mw login --url https://millwright.example.com',
  },
  run: {
    lines: [['run CONTENT|-', 'creates a task and follows it; - reads the content from standard input']],
    options: [
      ['--file F', 'a file for the agent, as attachments/F; may come several times'],
      ['--project P', 'the project that the task belongs to'],
      ['--agent A[@N]', 'how it works, in version N, a channel or the newest; - for none'],
      ['--environment E[@N]', 'what it works in, in version N or the newest; - for none'],
      ['--skill S[@N]', 'know-how that it has, in version N or the newest; may come several times; - for none'],
      ['--mcp NAME', 'a server whose tools it has; may come several times; - for none'],
      ['--model M', 'the model, in place of the default one'],
      ['--effort low|medium|high', 'how much the model thinks'],
      ['--approvals writes|secrets', 'it asks before each command and file change, or the first use of each secret'],
      ['--when-blocked wait', 'waits for what passes by itself, such as an overloaded model, instead of failing'],
      ['--no-web', 'reads no pages of the web, where agents may'],
      ['--max-steps N', 'so many steps at most'],
      ['--metadata k=v', 'kept with the task; may come several times'],
      ['--tag T', 'a word to find it by; may come several times'],
      ['--check COMMAND', 'the service runs it in a clean copy of the work before it is done; may come several times'],
      ['--protect GLOB', 'such paths the checks see as they were at first, such as test/**; may come several times'],
      ['--max-repairs N', 'how often in a turn the agent may mend what a check has found; 2 without it'],
      ['--schema FILE', 'a JSON Schema that the answer has to fit; that JSON alone goes to standard output'],
      ['--detach', 'does not follow: prints the task and ends'],
      OUT,
    ],
    example: "mw run 'Make the tests pass.' --file repository.tar.gz --out results",
  },
  follow: {
    lines: [['follow TASK', 'shows what has happened and what happens, until the task ends or waits for you']],
    options: [['--from N|latest', 'what comes after event N, or from now on'], OUT],
    example: 'mw follow 01a2047b-2b2f-71b6-93df-54922585c41e --from latest',
  },
  send: {
    lines: [['send TASK CONTENT|-', 'goes on with a task, whatever its status']],
    options: [['--mode queue|steer|interrupt', 'when the agent reads it: after its turn, after its step, or at once']],
    example: "mw send 01a2047b-2b2f-71b6-93df-54922585c41e 'Now in English.'",
  },
  withdraw: {
    lines: [['withdraw TASK MESSAGE', 'takes back a message that was not read yet; send says its id']],
    example: 'mw withdraw 01a2047b-2b2f-71b6-93df-54922585c41e 01a2047b-2b30-7c55-8a3e-2f1de1c9d0aa',
  },
  answer: {
    lines: [['answer TASK (--option ID… | --text T | --approve | --deny)', 'answers what the task waits for']],
    options: [
      ['--option ID', 'what is chosen; may come several times where several may be'],
      ['--text T', 'an answer in words'],
      ['--approve', 'the call may be made'],
      ['--deny', 'it may not'],
      ['--reason R', 'why not, for the agent'],
    ],
    example: "mw answer 01a2047b-2b2f-71b6-93df-54922585c41e --deny --reason 'Not on main.'",
  },
  cancel: {
    lines: [['cancel TASK', 'stops what the task does']],
    example: 'mw cancel 01a2047b-2b2f-71b6-93df-54922585c41e',
  },
  pause: {
    lines: [['pause TASK', 'lets the task stand still until it is resumed; a running one stops after its call']],
    options: [['--until TIME', 'goes on by itself then, such as 2027-01-31T08:00:00Z']],
    example: 'mw pause 01a2047b-2b2f-71b6-93df-54922585c41e --until 2027-01-31T08:00:00Z',
  },
  resume: {
    lines: [['resume TASK', 'a paused task goes on where it stopped; one that waits tries again at once']],
    example: 'mw resume 01a2047b-2b2f-71b6-93df-54922585c41e',
  },
  fork: {
    lines: [
      ['fork TASK [CONTENT|-]', 'makes a new task of one as it was at the end of a turn; without a content it waits'],
    ],
    options: [
      ['--turn N', 'the last turn that it has; without it the last one that has ended'],
      ['--title T', 'what it is called; without it as the original'],
      ['--model M', 'another model than that of the original'],
      ['--effort low|medium|high', 'how much the model thinks'],
    ],
    example: "mw fork 01a2047b-2b2f-71b6-93df-54922585c41e --turn 2 'Try it without the library.'",
  },
  tasks: {
    lines: [['tasks', 'lists the tasks that are not archived, newest first']],
    options: [
      ['--status S,S…', 'queued, running, awaiting_input, completed, failed or cancelled'],
      ['--project P', 'those of a project'],
      ['--automation A', 'those that an automation made'],
      ['--tag T', 'those with a tag'],
      ['--metadata k=v', 'those made with it; may come several times'],
      ['--query WORDS', 'those with these words, or their beginnings, in the title or the first message'],
      ['--after TIME', 'those made later, such as 2027-01-31'],
      ['--before TIME', 'those made earlier'],
      ['--archived true|all', 'the archived ones, or all'],
      ['--sort updatedAt', 'those that changed last first'],
    ],
    example: 'mw tasks --status awaiting_input',
  },
  archive: {
    lines: [['archive TASK', 'takes it out of the list']],
    options: [['--undo', 'brings it back']],
    example: 'mw archive 01a2047b-2b2f-71b6-93df-54922585c41e',
  },
  show: {
    lines: [['show TASK', 'its status, what it waits for, and its answer']],
    options: [['--tree', 'the tasks that its agent has made, too, each on a line below the one that made it']],
    example: 'mw show 01a2047b-2b2f-71b6-93df-54922585c41e',
  },
  files: {
    lines: [['files TASK', 'lists its files']],
    options: [OUT, ['--zip FILE', 'saves all of them as one zip']],
    example: 'mw files 01a2047b-2b2f-71b6-93df-54922585c41e --out results',
  },
  checks: {
    lines: [
      ['checks TASK', 'lists what became of its checks, newest first, with the end of what those wrote that failed'],
    ],
    options: [['--again', 'runs them once more on a task that has ended, without its agent, and lists these']],
    example: 'mw checks 01a2047b-2b2f-71b6-93df-54922585c41e',
  },
  commands: {
    lines: [
      ['commands TASK', 'lists the commands of its agent that go on, or went on, beyond their calls, newest first'],
    ],
    options: [['--stop ID', 'stops that one']],
    example: 'mw commands 01a2047b-2b2f-71b6-93df-54922585c41e --stop b1',
  },
  proof: {
    lines: [['proof TASK', 'prints what its checks saw, signed by the service; verify reads it']],
    options: [['--out FILE', 'saves it']],
    example: 'mw proof 01a2047b-2b2f-71b6-93df-54922585c41e --out proof.json',
  },
  network: {
    lines: [['network TASK', 'lists the hosts that its commands reached or were refused']],
    example: 'mw network 01a2047b-2b2f-71b6-93df-54922585c41e',
  },
  verify: {
    lines: [
      [
        'verify PROOF',
        'says what a proof proves, and whether it is one; the exit code is 1 when anything does not fit',
      ],
    ],
    options: [
      ['--patch FILE', 'has to be the changes.patch that was checked'],
      ['--keys FILE|URL', 'the keys that are trusted; without it those of the service'],
    ],
    example: 'mw verify proof.json --patch changes.patch --keys millwright.jwks.json',
  },
  secrets: {
    lines: [
      ['secrets list', 'what tasks use and never see, with the hosts that it goes to'],
      ['secrets set NAME', 'stores a value from standard input; one that is there gets it as its new value'],
      ['secrets delete NAME|ID', 'the next request of a task goes without it'],
    ],
    options: [
      ['--host H[:PORT]', 'of set: where the value goes; may come several times'],
      ['--header H', 'the header that it stands in; Authorization without it'],
      ['--form bearer|basic|token|raw', 'how it stands there; bearer in Authorization, else raw'],
      ['--user U', 'with basic: the user name'],
      ['--query Q', 'the parameter of the address that it stands in, in place of a header'],
      ['--method M', 'for these methods alone; may come several times'],
      ['--path P', 'for these paths alone, such as /repos/acme/**; may come several times'],
      ['--project P', 'of set and delete: that of the tasks of a project; else that of the workspace'],
      ['--mine', 'that of your own tasks'],
      ['--env E', 'the variable that has the placeholder; the name without it'],
      ['--description D', 'for people'],
    ],
    example: 'mw secrets set GITHUB_TOKEN --host api.github.com < token.txt',
  },
  environments: ENVIRONMENTS_HELP,
  agents: AGENTS_HELP,
  skill: {
    lines: [
      ['skill push DIR', 'a folder with a SKILL.md: a skill, or its next version when something in it has changed'],
      ['skill list', 'the know-how that tasks may have'],
      ['skill show NAME[@N]', 'what it is, with its versions'],
      ['skill default NAME', 'for all tasks that name no skills'],
      ['skill remove NAME', 'with its versions, unless an automation names it'],
    ],
    options: [
      ['--out F', 'of show: saves the zip of a version, or of the newest'],
      ['--off', 'of default: takes it back'],
    ],
    example: 'mw skill push ./release-notes',
  },
  webhooks: {
    lines: [
      ['webhooks list', 'where events are sent to'],
      ['webhooks create URL', 'sends events there; its secret is shown once'],
      ['webhooks test WEBHOOK', 'sends it an event of the type test'],
      ['webhooks deliveries WEBHOOK', 'what was sent, newest first'],
      ['webhooks redeliver WEBHOOK DELIVERY', 'sends one again'],
    ],
    options: [['--types T,T…', 'of create: such as task.completed,task.failed']],
    example: 'mw webhooks create https://example.com/hook --types task.completed,task.failed',
  },
  listen: {
    lines: [['listen', 'shows the events of the workspace from now on']],
    options: [
      ['--types T,T…', 'these alone; task.* are all of tasks'],
      ['--forward URL', 'signs and posts each to a receiver on this machine, as a webhook would'],
    ],
    example: 'mw listen --types task.* --forward http://127.0.0.1:8080/hook',
  },
  mcp: {
    lines: [['mcp', 'is an MCP server on standard input and output, for tools that start one']],
    example: 'claude mcp add millwright -- mw mcp',
  },
};

const JSON_OPTION = ['--json', 'prints JSON; of events one a line, and an error as {"error": …}'] as const;

const columns = (rows: readonly (readonly [string, string])[], width: number): string[] =>
  rows.map(([left, right]) => (left.length < width ? `  ${left.padEnd(width)}${right}` : `  ${left}\n  ${' '.repeat(width)}${right}`)); // prettier-ignore

/** Of all verbs. */
export function help(): string {
  const lines = Object.values(VERBS).flatMap((verb) => verb.lines);
  return [
    'Gives work to a Millwright service and follows it.',
    '',
    ...columns(lines.map(([line, about]) => [`mw ${line}`, about] as const), 41), // prettier-ignore
    ...columns([['mw VERB --help', 'shows the options of a verb, with an example']], 41),
    '',
    'MILLWRIGHT_URL and MILLWRIGHT_API_KEY say where and as whom; what they leave open, login has kept.',
    'Answers go to standard output, progress to standard error. --json prints JSON, of events one a line.',
    'On a terminal questions are asked in place. Ctrl-C ends the following, not the task.',
    '',
    'Exit codes:',
    ...columns(
      [
        ['0', 'completed, or done'],
        ['1', 'the task has failed; a proof is none, or is one of a failure'],
        ['2', 'the line is wrong'],
        ['3', 'the task waits for a person'],
        ['4', 'the task was cancelled'],
        ['5', 'refused, or the service cannot be reached'],
        ['130', 'interrupted by Ctrl-C'],
      ],
      5,
    ),
  ].join('\n');
}

/** Of one verb; null when there is none of this name. */
export function helpOf(name: string): string | null {
  const verb = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined;
  if (verb === undefined) return null;
  const { lines, options = [], example } = verb;
  const shown = lines.map(([line, about]) => [`mw ${line}`, about] as const);
  const width = Math.max(30, ...options.map(([option]) => option.length + 2));
  return [
    ...(shown.length === 1 ? [`mw ${name}: ${lines[0]?.[1] ?? ''}.`, '', `  ${shown[0]?.[0] ?? ''} [options]`] : columns(shown, 41)),
    '',
    ...columns([...options, JSON_OPTION], width),
    '',
    `  ${example}`,
  ].join('\n'); // prettier-ignore
}

export function version(): string {
  const about = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(about) as { version: string }).version;
}
