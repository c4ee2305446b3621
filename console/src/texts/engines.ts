/** Agent programs that drive tasks, and what they do in ways of their own. */
export const engines = {
  label: 'Engine',
  of: (name: string) => `engine ${name}`,
  restarted: (name: string) => `The engine ${name} began a session of its own here, and was told what was said before.`,
  typing: { did: 'Typed', does: 'Typing', wants: 'Wants to type', wanted: 'Wanted to type' },
  waiting: { did: 'Waited for', does: 'Waiting for', wants: 'Wants to wait for', wanted: 'Wanted to wait for' },
  session: (id: string) => `session ${id}`,
  inSession: (id: string) => `in session ${id}`,
  item: (id: string) => `item ${id}`,
};
