// How a player has a program go on while it runs the tests: a server that they ask, or one that asks in a terminal and leaves what they look at.

/** What is wrong with a sloppy player's programs, for its first tests and for the second. From the third on it is careful. */
const SLOPPY = [['with its call', 'again'], ['as it comes']];

/** The ways in which the program is begun for one more try of the tests; after each the tests are run. */
export function waysOf(sloppy, tries) {
  return sloppy ? (SLOPPY[tries] ?? ['again']) : ['once'];
}

/**
 * Begins the program, and answers what it asks. Returns its name among the commands that go on; null: it has none.
 *
 * - `with its call`: in a call that ends: a server with `&`, answers through a pipe.
 * - `again`: what still runs is asked for and stopped first.
 * - `as it comes`: an old server is not stopped, and Enter not pressed after the first answer.
 */
export function* begin(way, { repair, tools, place }) {
  const { command, answers = null } = repair.program;
  const line = `cd ${place.root}/${place.folder} && ${command}`;
  if (way === 'with its call') {
    yield [tools.bash(answers === null ? `(${line}) > /tmp/program.log 2>&1 & sleep 1` : piped(answers, line))];
    return null;
  }
  if (way === 'again') {
    const [list] = yield [tools.running()];
    const old = tools.ids(list);
    if (old.length > 0) yield old.map((id) => tools.stop(id));
  }
  const [begun] = yield [tools.start(line, answers !== null)];
  const [id = null] = tools.ids(begun);
  if (answers === null || id === null) return id;
  for (const [n, answer] of answers.entries()) yield [tools.type(id, answer, way !== 'as it comes' || n > 0)];
  yield [tools.end(id)];
  return id;
}

/** After the tests: a careful player stops its server. */
export function* over(id, { repair, tools, sloppy }) {
  const isServer = repair.program.answers === undefined;
  if (isServer && !sloppy && id !== null) yield [tools.stop(id)];
}

function piped(answers, line) {
  return `printf '%s\\n' ${answers.map((answer) => `'${answer}'`).join(' ')} | (${line})`;
}
