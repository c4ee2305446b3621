// The tools that a player calls, by the names and arguments of each agent. A call is `{name, arguments}` with JSON as text.

const call = (name, input) => ({ name, arguments: JSON.stringify(input) });

/** For agents whose own tools know nothing of it: replaces a text that stands in a file once, and says so. */
const REPLACED = 'replaced once';
const REPLACE = `import sys
path, old, new = sys.argv[1:]
text = open(path, newline="").read()
if "\\r\\n" in text: old, new = (one.replace("\\n", "\\r\\n") for one in (old, new))
if text.count(old) != 1: sys.exit(f"the text stands there {text.count(old)} times")
open(path, "w", newline="").write(text.replace(old, new))
print("${REPLACED}")`;
const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;
/** Of a folder, as a command. */
const found = (pattern, path) =>
  `find ${path ?? pattern.replace(/\/\*\*.*/, '')} -type f -not -path '*/node_modules/*'`;

/** Ours (reference §15). */
export const MILLWRIGHT = {
  bash: (command) => call('bash', { command }),
  read: (path) => call('read', { path }),
  edit: (path, oldText, newText) => call('edit', { path, oldText, newText }),
  glob: (pattern, path) => call('glob', { pattern, ...(path !== null && { path }) }),
  publish: (path) => call('publish', { path }),
  /** A command that goes on beyond its call. */
  start: (command, terminal) => call('bash', { command, ...(terminal ? { terminal } : { background: true }) }),
  running: () => call('bash_output', {}),
  end: (id) => call('bash_output', { id, waitSeconds: 30 }),
  type: (id, text, enter = true) => call('bash_input', { id, text, ...(enter && { keys: ['enter'] }) }),
  stop: (id) => call('bash_stop', { id }),
  /** The names of commands in a result. */
  ids: (result) => [...new Set(result.match(/\bb\d+\b/g))],
  /** Each refusal of `edit`, whatever else it says. */
  failed: (result) => /nothing was (changed|done)|not a JSON object|cut off|no file|cannot be/i.test(result),
};

/** Those of opencode 1.18; none for commands that go on. */
export const OPENCODE = {
  bash: (command) => call('bash', { command }),
  read: (filePath) => call('read', { filePath }),
  edit: (filePath, oldString, newString) => call('edit', { filePath, oldString, newString }),
  glob: (pattern, path) => call('glob', { pattern, ...(path !== null && { path }) }),
  failed: (result) => !/applied successfully/i.test(result),
};

/** Those of Codex 0.169: one for commands, one for patches, which takes its text as it is. */
export const CODEX = {
  bash: (cmd) => call('exec_command', { cmd, yield_time_ms: 30_000 }),
  read: (path) => CODEX.bash(`cat -n ${path}`),
  edit: (path, oldText, newText) => {
    const lines = (mark, text) => text.split('\n').map((line) => mark + line);
    const change = [`*** Update File: ${path}`, '@@', ...lines('-', oldText), ...lines('+', newText)];
    return {
      name: 'apply_patch',
      arguments: ['*** Begin Patch', ...change, '*** End Patch', ''].join('\n'),
      freeform: true,
    };
  },
  glob: (pattern, path) => CODEX.bash(found(pattern, path)),
  failed: (result) => !/^Success/m.test(result),
};

/** Those of Claude Code 2.1; it has files named by their whole paths, and its commands stay in the folder that the one before went to. */
const CLAUDE_CODE = {
  bash: (command) => call('Bash', { command: `cd /workdir && ${command}`, description: 'A command' }),
  read: (path) => call('Read', { file_path: whole(path) }),
  edit: (path, old_string, new_string) => call('Edit', { file_path: whole(path), old_string, new_string }),
  glob: (pattern, path) => CLAUDE_CODE.bash(found(pattern, path)),
  failed: (result) => !/has been updated|updated successfully/i.test(result),
};
const whole = (path) => (path.startsWith('/') ? path : `/workdir/${path}`);

/** Those of the small agent program of the tests. */
const SMALL = {
  bash: (command) => call('shell', { command }),
  read: (path) => SMALL.bash(`cat -n ${path}`),
  edit: (path, from, to) => SMALL.bash(`python3 -c ${quoted(REPLACE)} ${quoted(path)} ${quoted(from)} ${quoted(to)}`),
  glob: (pattern, path) => SMALL.bash(found(pattern, path)),
  failed: (result) => !result.includes(REPLACED),
};

/** Those of programs that are engines of our service, which offers them its own `publish` beside. */
export const OF_ENGINES = {
  small: { ...SMALL, publish: (path) => call('mcp__millwright__publish', { path }) },
  codex: { ...CODEX, publish: (path) => ({ ...call('publish', { path }), namespace: 'mcp__millwright' }) },
  'claude-code': { ...CLAUDE_CODE, publish: (path) => call('mcp__millwright__publish', { path }) },
  opencode: { ...OPENCODE, publish: (path) => call('millwright_publish', { path }) },
};
