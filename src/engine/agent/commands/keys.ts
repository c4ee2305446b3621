// Keys of a terminal, as what a program reads when they are pressed.
const NAMED = new Map(
  Object.entries({
    enter: '\r',
    tab: '\t',
    esc: '\x1b',
    space: ' ',
    backspace: '\x7f',
    delete: '\x1b[3~',
    up: '\x1b[A',
    down: '\x1b[B',
    right: '\x1b[C',
    left: '\x1b[D',
    home: '\x1b[H',
    end: '\x1b[F',
    pageup: '\x1b[5~',
    pagedown: '\x1b[6~',
  }),
);

/** Whether there is a key of that name: one of a list, or `ctrl-` with a letter. */
export function isKey(name: string): boolean {
  return bytesOf(name) !== null;
}

/** What the keys send, one after another. */
export function typed(names: readonly string[]): string {
  return names.map((name) => bytesOf(name) ?? '').join('');
}

export const KEYS = `${[...NAMED.keys()].join(' ')} ctrl-c …`;

function bytesOf(name: string): string | null {
  const control = /^ctrl[-+]([a-z])$/i.exec(name)?.[1];
  if (control !== undefined) return String.fromCharCode(control.toLowerCase().charCodeAt(0) - 96);
  return NAMED.get(name.toLowerCase()) ?? null;
}
