/** Servers of tools (MCP): where they are chosen, listed and named. */
export const mcp = {
  label: 'Servers of tools',
  usual: 'Those that tasks have by default',
  named: 'Those that are chosen here',
  names: 'Which servers it has',
  notThere: 'not there now',
  none: 'None',
  about: 'MCP servers whose tools agents may call. The operator lists them; docs/mcp-servers.md says how.',
  states: { ready: 'ready', unavailable: 'cannot be reached', unknown: 'not asked yet' },
  kinds: { program: 'in the sandbox', url: 'called by the service' },
  approval: { task: 'asks as the task does', always: 'asks before each change' },
  byDefault: 'for all tasks that name none',
  /** The schemas of arguments are not known here. */
  tools: (count: number, bytes: string, tokens: string) =>
    `${count} ${count === 1 ? 'tool' : 'tools'}: names and descriptions have ${bytes}, about ${tokens} tokens`,
  checked: 'asked',
  readOnly: 'only reads',
  of: (server: string) => `of ${server}`,
};
