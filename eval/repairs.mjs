// The repairs of `repairs/*.md`: what a user hands over, what has to change, and the checks that the agent never sees.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('./repairs', import.meta.url));
const COMPILER = fileURLToPath(new URL('../node_modules/typescript', import.meta.url));
const RUNNER = fileURLToPath(new URL('./typescript-test.mjs', import.meta.url));

/** All repairs by name, or those that are named. `number` is the place among all, so that a part of them is played as in the whole. */
export function loadRepairs(names = []) {
  const all = readdirSync(FOLDER)
    .filter((file) => file.endsWith('.md'))
    .sort()
    .map((file, number) => ({ number, ...parseRepair(file.slice(0, -3), readFileSync(join(FOLDER, file), 'utf8')) }));
  const unknown = names.find((name) => !all.some((repair) => repair.name === name));
  if (unknown !== undefined)
    throw new Error(`${unknown} is no repair; there are ${all.map((one) => one.name).join(', ')}.`);
  return names.length === 0 ? all : all.filter(({ name }) => names.includes(name));
}

/**
 * One repair: `{name, title, problem, handed, test, program, needs, compiler, files, changes, made, checks, parts}`. `files`: path → text as
 * the user has it. `changes`: `{path, oldText, newText}` in their order. `checks`: `{name, text, before}`, `before` is what the check says
 * of the files as they are handed over, 'fails' or 'passes'; afterwards all pass. `parts`: name → text of what they share.
 *
 * `program` is null, or what has to go on while the test is made: `{command, answers}`, with `answers` one that asks for them in a
 * terminal. `made`: path → text of what the repaired files make of themselves in a test. `needs`: programs beside those of the checks.
 */
export function parseRepair(name, text) {
  const lines = text.split('\n');
  const title = lines[0].replace(/^# /, '');
  const problem = lines
    .slice(
      1,
      lines.findIndex((line) => line.startsWith('```')),
    )
    .join('\n')
    .trim();
  const lists = { files: new Map(), changes: [], made: new Map(), checks: [], parts: new Map() };
  const repair = { name, title, problem, ...lists, program: null, needs: [], compiler: false, lineEnds: 'lf' };
  for (const { info, body } of fences(lines)) {
    const [, word, value] = /^\w+ (\w+)(?:=(\S+))?$/.exec(info) ?? [];
    if (word === 'settings') Object.assign(repair, JSON.parse(body));
    else if (word === 'path') repair.files.set(value, body);
    else if (word === 'old') repair.changes.push({ path: value, oldText: body.slice(0, -1) });
    else if (word === 'new') repair.changes.at(-1).newText = body.slice(0, -1);
    else if (word === 'made' || word === 'part') repair[word === 'made' ? 'made' : 'parts'].set(value, body);
    else if (word === 'fails' || word === 'passes') repair.checks.push({ name: value, text: body, before: word });
    else throw new Error(`${name}: the fence '${info}' is not known.`);
  }
  if (repair.lineEnds === 'crlf') {
    for (const [path, content] of repair.files) repair.files.set(path, content.replaceAll('\n', '\r\n'));
  }
  return repair;
}

function fences(lines) {
  const found = [];
  let open = null;
  for (const line of lines) {
    if (!line.startsWith('```')) open?.body.push(line);
    else if (open === null) open = { info: line.slice(3), body: [] };
    else {
      found.push({ info: open.info, body: open.body.map((one) => `${one}\n`).join('') });
      open = null;
    }
  }
  return found;
}

/** What the user's folder holds beside the files of the repair: the compiler, where there is no network to fetch it. */
export function companions({ compiler }) {
  if (!compiler) return new Map();
  return new Map([
    ['test.mjs', readFileSync(RUNNER)],
    ['node_modules/typescript/package.json', readFileSync(join(COMPILER, 'package.json'))],
    ['node_modules/typescript/lib/typescript.js', readFileSync(join(COMPILER, 'lib', 'typescript.js'))],
  ]);
}

/** The files with all changes, or with those whose index is in `which`, and what they make. */
export function repaired({ files, changes, made, lineEnds }, which = changes.map((_, index) => index)) {
  const after = new Map([...files, ...made]);
  for (const index of which) {
    const { path, oldText, newText } = changes[index];
    const [from, to] = [oldText, newText].map((text) => (lineEnds === 'crlf' ? text.replaceAll('\n', '\r\n') : text));
    after.set(
      path,
      after.get(path).replace(from, () => to),
    );
  }
  return after;
}

/** Every content that a file can have while its changes are made one by one, each of them or not. */
export function intended(repair, path) {
  const own = repair.changes.flatMap((change, index) => (change.path === path ? [index] : []));
  const subsets = own.reduce((sets, index) => [...sets, ...sets.map((set) => [...set, index])], [[]]);
  return new Set(subsets.map((set) => repaired(repair, set).get(path)));
}
