// The tools that a player calls, by the names and arguments of each agent. A call is `{name, arguments}` with JSON as text.

const call = (name, input) => ({ name, arguments: JSON.stringify(input) });

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
  glob: (pattern, path) =>
    CODEX.bash(`find ${path ?? pattern.replace(/\/\*\*.*/, '')} -type f -not -path '*/node_modules/*'`),
  failed: (result) => !/^Success/m.test(result),
};
