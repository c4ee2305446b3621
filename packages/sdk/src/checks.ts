/** As the service has it. */
const LONGEST = 40;

/** A name for a check that has none: of its command, and not yet among those that are taken. */
export function checkName(command: string, taken: ReadonlySet<string>): string {
  const words = command.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  const base = cut(words.replace(/^-/, ''), LONGEST) || 'check';
  let name = base;
  for (let n = 2; taken.has(name); n++) name = `${cut(base, LONGEST - 1 - String(n).length)}-${n}`;
  return name;
}

const cut = (name: string, length: number): string => name.slice(0, length).replace(/-$/, '');
