// Checks of syntax by programs of the sandbox, which get the text as input and run nothing of it.
import type { SandboxSession } from '../../../sandbox/sandbox.js';
import { shellQuote } from '../tool-text.js';

/** Reads texts of the given sizes one behind the other from standard input; prints a line for each: empty, or `line<TAB>message`. */
const PYTHON = `
import sys
data, at = sys.stdin.buffer.read(), 0
for size in map(int, sys.argv[1:]):
    text, at = data[at:at + size], at + size
    told = ''
    try:
        compile(text, 'f', 'exec', dont_inherit=True)
    except SyntaxError as error:
        told = '%s\\t%s: %s' % (error.lineno or '', type(error).__name__, ' '.join(str(error.msg).split()))
    except Exception:
        pass
    print(told)
`;

/**
 * As above, with \`kind:size\`. A \`js\` file may be a script or a module. JSX, and Flow, are no faults: node(1) knows neither. TypeScript is
 * looked at where node can take types away (from 22.13 on); what that cannot do is no fault.
 */
const NODE = `
const vm = require('vm');
const data = require('fs').readFileSync(0);
const strip = require('module').stripTypeScriptTypes;
const script = (text) => vm.compileFunction(text, ['exports', 'require', 'module', '__filename', '__dirname'], { filename: 'f' });
const module_ = (text) => new vm.SourceTextModule(text, { identifier: 'f' });
const attempt = (check, text) => { try { check(text); return null; } catch (error) { return error; } };
function faultOf(kind, text) {
  if (kind === 'ts') {
    const error = strip === undefined ? null : attempt((one) => strip(one, { mode: 'transform', sourceUrl: 'f' }), text);
    return error === null || error.code !== 'ERR_INVALID_TYPESCRIPT_SYNTAX' ? null : error;
  }
  const asScript = kind === 'mjs' ? null : attempt(script, text);
  if (kind === 'cjs' || (kind === 'js' && asScript === null)) return asScript;
  const asModule = attempt(module_, text);
  if (kind === 'mjs' || asModule === null) return asModule;
  return /^\\s*(import|export)\\b/m.test(text) ? asModule : asScript;
}
// Of a module no error says where it is; this program does when it ends with one.
function lineOf(text) {
  const options = ['--check', '--input-type=module', '-'];
  const { stderr } = require('child_process').spawnSync(process.execPath, options, { input: text, encoding: 'utf8' });
  return /^\\[stdin\\]:(\\d+)/m.exec(stderr)?.[1] ?? '';
}
let at = 0;
for (const argument of process.argv.slice(1)) {
  const [kind, size] = argument.split(':');
  const text = data.subarray(at, (at += Number(size))).toString().replace(/^\\ufeff/, '').replace(/^#!/, '//');
  const error = faultOf(kind, text);
  const isFault = error instanceof SyntaxError || error?.code !== undefined;
  const ignored = /Unexpected token '<'/.test(error?.message) || /@flow/.test(text.slice(0, 2000));
  const line = /^f:(\\d+)/.exec(error?.stack ?? '')?.[1] ?? (isFault && !ignored && kind !== 'ts' ? lineOf(text) : '');
  console.log(isFault && !ignored ? line + '\\t' + (kind === 'ts' ? '' : 'SyntaxError: ') + error.message.replace(/\\s+/g, ' ') : '');
}
`;

/** The first thing that is wrong with the syntax of a text. */
export interface Fault {
  /** From 1; null when it is not known. */
  line: number | null;
  message: string;
}

/** What a check is told of a text beside it. */
export interface Text {
  kind: string;
  text: string;
}
export type Program = (session: SandboxSession, texts: Text[], seconds: number) => Promise<(Fault | null)[]>;

export const python: Program = (session, texts, timeoutSeconds) => {
  const sizes = texts.map(({ text }) => Buffer.byteLength(text));
  return lines(session, texts, `python3 -I -S -W ignore -c ${shellQuote(PYTHON)} ${sizes.join(' ')}`, timeoutSeconds);
};

export const node: Program = (session, texts, timeoutSeconds) => {
  const sizes = texts.map(({ kind, text }) => `${kind}:${Buffer.byteLength(text)}`);
  const options = '--experimental-vm-modules --no-warnings';
  return lines(session, texts, `node ${options} -e ${shellQuote(NODE)} -- ${sizes.join(' ')}`, timeoutSeconds);
};

export const bash: Program = async (session, texts, timeoutSeconds) => {
  const faults: (Fault | null)[] = [];
  for (const { text } of texts) {
    // Patterns that a script allows itself with shopt are not known of: it is not run.
    const { stderr } = await run(session, 'bash -O extglob -n', text, timeoutSeconds);
    const [, line, message] = /^\S+: line (\d+): (.*)$/m.exec(stderr) ?? [];
    faults.push(message === undefined || message.startsWith('warning') ? null : { line: Number(line), message });
  }
  return faults;
};

async function lines(session: SandboxSession, texts: Text[], command: string, seconds: number) {
  const input = texts.map(({ text }) => text).join('');
  const { stdout } = await run(session, command, input, seconds);
  const told = stdout.split('\n');
  return texts.map((_, index): Fault | null => {
    const [, line, message] = /^(\d*)\t(.*)$/.exec(told[index] ?? '') ?? [];
    return message === undefined ? null : { line: line === '' ? null : Number(line), message };
  });
}

async function run(session: SandboxSession, command: string, stdin: string, timeoutSeconds: number) {
  const result = await session.run(command, { stdin, timeoutSeconds });
  // What was ended says nothing, and 127 is that there is no such program.
  return result.killed !== null || result.exitCode === 127 ? { stdout: '', stderr: '' } : result;
}
