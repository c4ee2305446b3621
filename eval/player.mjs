// A player by rules in the place of a model: it reads, edits, reads again on an error, runs the tests, hands over. It
// knows what must change and plans nothing, so it measures the tools: what they cost, refuse, forgive and damage.
import { MISTAKES, asShown, cut, isShown, moved, retabbed } from './mistakes.mjs';
import { begin, over, waysOf } from './programs.mjs';

const ROUNDS = 3;
const HUGE_LINES = 40_000;
const TESTS_ENDED = 'The tests ended with';

/**
 * The game as a generator: it yields the calls of one step, is given the texts of their results, and returns its last
 * words. `tools` names them (`tools.mjs`); `place` says where the user's files are and how they are handed over;
 * `number` is the number of the repair, by which a sloppy player chooses its mistakes.
 */
export function* play(repair, tools, place, { sloppy, number }) {
  const at = (path) => `${place.folder}/${path}`;
  const paths = [...new Set(repair.changes.map(({ path }) => path))];
  const shown = new Map();
  const tests = { repair, tools, place, sloppy, huge: sloppy && number % 4 === 0, tries: 0 };

  if (place.unpack !== null) yield [tools.bash(place.unpack)];
  // A model that has been told of a folder names it whole, however the tool counts.
  const [found] = sloppy ? yield [tools.glob(`${place.root}/${place.folder}/**/*`, null)] : [''];
  if (!paths.every((path) => found.includes(path))) yield [tools.glob('**/*', place.folder)];
  yield* look(paths, shown, tools, at);
  yield* runTests(tests);

  for (const [index, change] of repair.changes.entries()) {
    const mistake = sloppy ? MISTAKES[(number + index) % MISTAKES.length] : null;
    yield* make({ change, mistake, tools, at, shown });
  }
  let passed = yield* runTests(tests);
  for (let round = 1; !passed && round < ROUNDS; round++) {
    yield* look(paths, shown, tools, at);
    for (const change of repair.changes) {
      if (!isShown(shown.get(change.path), change.newText)) yield* make({ change, mistake: null, tools, at, shown });
    }
    passed = yield* runTests(tests);
  }
  for (const [tool, argument] of place.handOver(paths)) yield [tools[tool](argument)];
  return passed ? 'Done: the repair is made and the tests pass.' : 'I could not repair it: the tests still fail.';
}

function* look(paths, shown, tools, at) {
  const results = yield paths.map((path) => tools.read(at(path)));
  for (const [index, path] of paths.entries()) shown.set(path, results[index]);
}

/** A sloppy first try if there is to be one; after an error it reads the file again and tries twice as it is right. */
function* make({ change, mistake, tools, at, shown }) {
  const { path } = change;
  for (const wrong of mistake === null ? [null, null] : [mistake, null, null]) {
    const [result] = yield [callOf(change, wrong, { tools, at, shown })];
    if (!tools.failed(result)) return;
    // What was cut off was not looked at: there is nothing to learn from the file.
    if (wrong !== 'cut') yield* look([path], shown, tools, at);
  }
}

function callOf({ path, oldText, newText }, mistake, { tools, at, shown }) {
  const edit = (from, to) => tools.edit(at(path), from, to);
  switch (mistake) {
    case 'indentation':
      return edit(moved(oldText), moved(newText));
    case 'tabs':
      return edit(retabbed(oldText), retabbed(newText));
    case 'numbers':
      return edit(asShown(shown.get(path), oldText) ?? oldText, newText);
    case 'cut': {
      const whole = edit(oldText, newText);
      return { ...whole, arguments: cut(whole.arguments) };
    }
    default:
      return edit(oldText, newText);
  }
}

/** Runs the visible tests, beside their program where they need one; true when they pass. */
function* runTests(tests) {
  if (tests.repair.program === null) return yield* runOnce(tests);
  let passed = false;
  for (const way of waysOf(tests.sloppy, tests.tries++)) {
    const id = yield* begin(way, tests);
    passed = yield* runOnce(tests);
    yield* over(id, tests);
  }
  return passed;
}

/** The sloppy way writes a log to /tmp and reads it in the next step. */
function* runOnce({ repair, tools, place, sloppy, huge }) {
  const run = `cd ${place.root}/${place.folder} && ${repair.test}`;
  if (!sloppy) {
    const [result] = yield [tools.bash(`${run}; echo "${TESTS_ENDED} $?"`)];
    return ended(result);
  }
  const noise = huge ? `seq -f 'line %.0f of what the build says' ${HUGE_LINES}; ` : '';
  const log = `/tmp/${repair.name}.log`;
  yield [tools.bash(`(${run}; echo "${TESTS_ENDED} $?") > ${log} 2>&1; ${noise}echo "The log is ${log}"`)];
  const [result] = yield [tools.read(log)];
  if (result.includes(TESTS_ENDED)) return ended(result);
  // The log is gone, or out of reach: once more, to be seen at once.
  const [again] = yield [tools.bash(`(${run}; echo "${TESTS_ENDED} $?") 2>&1 | tail -n 40`)];
  return ended(again);
}

function ended(result) {
  return result.includes(`${TESTS_ENDED} 0`);
}
