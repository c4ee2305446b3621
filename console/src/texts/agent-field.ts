/** Where an agent is chosen, and named. */
export const agentField = {
  label: 'Agent',
  none: 'None',
  usual: (name: string) => `The usual one: ${name}`,
  at: (slug: string, version: number) => `${slug}, version ${version}`,
  unknown: (slug: string) => `${slug} (not there now)`,
  hint: 'How the task works: instructions, limits and tools under a name. What you choose here goes before what it says, as far as it lets you.',
};
