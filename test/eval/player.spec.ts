// The pure parts of `npm run eval`: the repairs and their checks, the mistakes, the player, the conversation's server.
import { type Call, type Repair, world } from './world.js';

type Player = Generator<Call[], string, string[]>;
interface Answer {
  text: string;
  calls: (Call & { id: string })[];
}
interface Game {
  steps: number;
  inputTokens: number;
  answer(request: { offersTools: boolean; results: Map<string, string> }, inputTokens: number): Answer;
}

const part = async (name: string) =>
  (await import(new URL(`../../eval/${name}.mjs`, import.meta.url).href)) as Record<string, unknown>;
const { moved, retabbed, asShown, isShown } = (await part('mistakes')) as {
  moved: (text: string) => string;
  retabbed: (text: string) => string;
  asShown: (result: string, text: string) => string | null;
  isShown: (result: string, text: string) => boolean;
};
const { loadRepairs, repaired, intended } = (await part('repairs')) as {
  loadRepairs: (names?: string[]) => Repair[];
  repaired: (repair: Repair) => Map<string, string>;
  intended: (repair: Repair, path: string) => Set<string>;
};
const { damage, failing, hasSyntax, missing } = (await part('checks')) as {
  damage: (repair: Repair, files: Map<string, string>, how: { exact: boolean }) => string[];
  hasSyntax: (path: string, text: string) => boolean;
  missing: (repairs: Repair[]) => string | null;
  failing: (repair: Repair, files: Map<string, string>) => Promise<string[]>;
};
const { play } = (await part('player')) as {
  play: (repair: Repair, tools: unknown, place: unknown, manner: { sloppy: boolean; number: number }) => Player;
};
const { MILLWRIGHT } = (await part('tools')) as { MILLWRIGHT: Record<string, unknown> };
const { Game: GameClass } = (await part('model-server')) as { Game: new (player: Player) => Game };

interface Wire {
  read(body: unknown): { offersTools: boolean; results: Map<string, string> };
  events(answer: unknown, usage: typeof used): string;
}
interface Chunk {
  choices: { delta: { tool_calls?: { function: { arguments: string } }[] } }[];
}
const { CHAT, RESPONSES } = (await part('wires')) as { CHAT: Wire; RESPONSES: Wire };
const used = { inputTokens: 1, outputTokens: 1 };

const repairs = loadRepairs();

describe('The repairs', () => {
  it('are at least 16 of four languages, in one file and in many, and behind them those that need a program that goes on', () => {
    const kinds = repairs.map(({ name }) => name.split('-')[0]);
    expect(kinds.indexOf('with')).toBeGreaterThanOrEqual(16);
    expect(new Set(kinds)).toEqual(new Set(['js', 'ts', 'py', 'sh', 'with']));
    expect(repairs.filter(({ program }) => program !== null).map(({ name }) => name)).toEqual([
      'with-server',
      'with-terminal',
    ]);
    const sizes = repairs.map(({ changes }) => new Set(changes.map(({ path }) => path)).size);
    expect(Math.min(...sizes)).toBe(1);
    expect(Math.max(...sizes)).toBeGreaterThan(1);
  });

  const [known, unknown] = [true, false].map((yes) => repairs.filter((one) => (missing([one]) === null) === yes));
  // A machine without Python still checks the others.
  if (unknown?.length) it.skip.each(unknown)('$name: its program is missing here', () => undefined);
  it.each(known ?? [])('$name: before the repair the checks fail that should, after it none', async (repair) => {
    const checks = (before: string) => repair.checks.filter((one) => one.before === before).map(({ name }) => name);
    expect(checks('fails')).not.toEqual([]);
    expect(checks('passes')).not.toEqual([]);
    expect(await failing(repair, repair.files)).toEqual(checks('fails'));
    const after = repaired(repair);
    expect(await failing(repair, after)).toEqual([]);
    expect(damage(repair, after, { exact: true })).toEqual([]);
    for (const { path, oldText } of repair.changes) {
      const text = repair.files.get(path)?.replaceAll('\r\n', '\n') ?? '';
      expect(text.split(oldText)).toHaveLength(2);
    }
  });

  it.each([
    ['with-server', ['answers.mjs']],
    ['with-terminal', ['asked.py']],
  ])('%s: it is not solved by the changes alone, without what the program makes', async (name, failed) => {
    const [repair] = loadRepairs([name]) as [Repair];
    expect(missing([repair])).toBeNull();
    const untried = [...repaired(repair)].filter(([path]) => !repair.made.has(path));
    expect(await failing(repair, new Map(untried))).toEqual(failed);
  });

  it('are damaged by a foreign change, a lost file, broken syntax, and what was not meant', () => {
    const [repair] = loadRepairs(['sh-report']) as [Repair];
    const after = repaired(repair);
    const said = (path: string, text: string) => damage(repair, new Map([...after, [path, text]]), { exact: true });
    expect(said('test.sh', 'true\n')).toEqual(['test.sh changed']);
    expect(said('report.sh', 'if true; then\n')).toEqual(['report.sh has a syntax error']);
    expect(said('report.sh', 'true\n')).toEqual(['report.sh is not what was meant']);
    expect(said('new.sh', 'if (')).toEqual([]);
    expect(damage(repair, new Map([...after].slice(1)), { exact: false })).toEqual(['report.sh is gone']);
  });

  it.each([
    ['a.js', 'const a = 1;', 'const a = ;'],
    ['a.ts', 'let a: number;', 'let a: ;'],
    ['a.json', '{"a": 1}', '{"a": 1'],
    ['a.sh', 'if true; then :; fi', 'if true; then :;'],
  ])('of %s: the syntax is looked at, nothing is run', (path, right, wrong) => {
    expect([hasSyntax(path, right), hasSyntax(path, wrong)]).toEqual([true, false]);
  });

  it('have for each file the contents that it has on the way', () => {
    const [repair] = loadRepairs(['ts-pages']) as [Repair];
    expect(intended(repair, 'src/all-rows.ts').size).toBe(4);
    expect(intended(repair, 'src/page.ts').size).toBe(2);
  });
});

describe('The mistakes', () => {
  it('move a block by the indentation that its lines share, or by two spaces', () => {
    expect(moved('    a\n      b\n\n    c')).toBe('a\n  b\n\nc');
    expect(moved('a\n  b')).toBe('  a\n    b');
  });

  it('write tabs for spaces and spaces for tabs', () => {
    expect(retabbed('    a\n  b')).toBe('\ta\n\tb');
    expect(retabbed('\t\ta b')).toBe('        a b');
  });

  it('copy lines with whatever a tool puts before them', () => {
    const shown = '     1\tfirst\n     2\t  second\r\n     3\tthird';
    expect(asShown(shown, 'first\n  second')).toBe('     1\tfirst\n     2\t  second');
    expect(isShown(shown, 'second\nthird')).toBe(true);
    expect(isShown(shown, 'first\nthird')).toBe(false);
  });
});

const place = {
  root: '/workdir',
  folder: 'folder',
  unpack: 'tar -xzf folder.tar.gz',
  handOver: () => [['publish', 'folder.tar.gz']],
};

describe('The player', () => {
  const whole = (repair: Repair, sloppy: boolean, number: number) => {
    const made = world(repair, repaired(repair));
    const player = play(repair, MILLWRIGHT, place, { sloppy, number });
    let turn = player.next();
    while (turn.done !== true) turn = player.next(turn.value.map(made.perform));
    return { ...made, said: turn.value };
  };

  it.each(repairs)('$name: repairs it in either manner on tools that forgive nothing', (repair) => {
    for (const number of [0, 1, 2, 3]) {
      const sloppy = whole(repair, true, number);
      expect(sloppy.files).toEqual(sloppy.wanted);
      expect(sloppy.used.at(-1)).toBe('publish');
      // Unpacked once, tested twice, each with a log that is gone: what was refused was mended before the tests.
      if (repair.program === null) expect(sloppy.used.filter((name) => name === 'bash')).toHaveLength(5);
    }
    const clean = whole(repair, false, 0);
    expect(clean.files).toEqual(clean.wanted);
    expect(clean.used.filter((name) => name === 'edit')).toHaveLength(repair.changes.length);
    expect(clean.said).toMatch(/^Done/);
  });

  it('asks a server of the repaired files: a careful player stops each, a sloppy one asks an old one first', () => {
    const [repair] = loadRepairs(['with-server']) as [Repair];
    const clean = whole(repair, false, repair.number);
    expect(clean.programs.all.map(({ repaired: is, running }) => [is, running])).toEqual([[false, false], [true, false]]); // prettier-ignore
    const sloppy = whole(repair, true, repair.number);
    expect(sloppy.programs.all.map(({ repaired: is, running }) => [is, running])).toEqual([[false, false], [true, true]]); // prettier-ignore
    expect(sloppy.used.filter((name) => name === 'bash_stop')).toEqual(['bash_stop']);
  });

  it('answers a prompt once before and once after the repair; a sloppy one forgets Enter, and does it again', () => {
    const [repair] = loadRepairs(['with-terminal']) as [Repair];
    const right = repair.program?.answers ?? [];
    const said = (sloppy: boolean) => whole(repair, sloppy, repair.number).programs.all.map(({ answers }) => answers);
    expect(said(false)).toEqual([right, right]);
    const [first = '', second = '', ...more] = right;
    expect(said(true)).toEqual([right, [first + second, ...more], right]);
  });

  it('hands over and says so when it cannot', () => {
    const [repair] = loadRepairs(['js-last-day']) as [Repair];
    const player = play(repair, MILLWRIGHT, place, { sloppy: false, number: 0 });
    const used: string[] = [];
    let turn = player.next();
    for (; turn.done !== true; turn = player.next(turn.value.map(() => 'Nothing was changed.'))) {
      used.push(...turn.value.map(({ name }) => name));
    }
    expect(turn.value).toMatch(/^I could not/);
    expect(used.length).toBeLessThan(30);
    expect(used.at(-1)).toBe('publish');
  });
});

describe('A game', () => {
  it('goes on when all results are there, and repeats an answer that is asked for again', () => {
    const [repair] = loadRepairs(['js-last-day']) as [Repair];
    const game = new GameClass(play(repair, MILLWRIGHT, place, { sloppy: false, number: 0 }));
    const results = new Map<string, string>();
    const first = game.answer({ offersTools: true, results }, 100);
    expect(first.calls.map(({ name }) => name)).toEqual(['bash']);
    expect(game.answer({ offersTools: true, results }, 100).calls).toEqual(first.calls);
    results.set(first.calls[0]?.id ?? '', 'unpacked');
    expect(game.answer({ offersTools: true, results }, 101).calls.map(({ name }) => name)).toEqual(['glob']);
    expect(game.answer({ offersTools: false, results }, 10).calls).toEqual([]);
    expect({ steps: game.steps, inputTokens: game.inputTokens }).toEqual({ steps: 3, inputTokens: 311 });
  });
});

describe('The forms in which a model is asked', () => {
  const content = [{ type: 'text', text: 'a' }];

  it('of chat completions: results are messages, a call comes in pieces', () => {
    const messages = [{ role: 'user', content: 'Hi' }, ...[{ role: 'tool', tool_call_id: 'c1', content }]];
    expect(CHAT.read({ tools: [{}], messages })).toEqual({ offersTools: true, results: new Map([['c1', 'a']]) });
    const json = JSON.stringify({ command: 'x'.repeat(1_000) });
    const events = CHAT.events({ text: '', calls: [{ id: 'c2', name: 'bash', arguments: json }] }, used);
    const deltas = [...events.matchAll(/^data: (\{.*)$/gm)].map(([, one = '']) => JSON.parse(one) as Chunk);
    const pieces = deltas.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
    expect(pieces.map((one) => one.function.arguments).join('')).toBe(json);
  });

  it('of responses: results are items, a call may be free text', () => {
    const input = [
      { type: 'function_call_output', call_id: 'c1', output: 'a' },
      { type: 'custom_tool_call_output', call_id: 'c2', output: content },
    ];
    expect(RESPONSES.read({ input }).results).toEqual(new Map([...['c1', 'c2'].map((id) => [id, 'a'] as const)]));
    const call = { id: 'c3', name: 'apply_patch', arguments: '*** Begin Patch', freeform: true };
    expect(RESPONSES.events({ text: '', calls: [call] }, used)).toContain('"type":"custom_tool_call"');
  });
});
