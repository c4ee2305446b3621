// The player's tools over files in memory, as strict as can be: nothing is forgiven, and the tests pass once every change is made.
export interface Call {
  name: string;
  arguments: string;
}
export interface Repair {
  name: string;
  number: number;
  files: Map<string, string>;
  changes: { path: string; oldText: string; newText: string }[];
  made: Map<string, string>;
  checks: { name: string; before: 'fails' | 'passes' }[];
  program: { command: string; answers?: string[] } | null;
}
interface Input {
  command?: string;
  path?: string;
  oldText?: string;
  newText?: string;
  background?: boolean;
  terminal?: boolean;
  id?: string;
  text?: string;
  keys?: string[];
}

const TESTED = 'The tests ended with';
const REFUSED = 'Nothing was changed.';

const plain = (files: Map<string, string>) =>
  new Map([...files].map(([path, text]) => [path, text.replaceAll('\r\n', '\n')]));

/** @param after the files as they are to be. */
export function world(repair: Repair, after: Map<string, string>) {
  const files = plain(repair.files);
  const wanted = plain(after);
  const used: string[] = [];
  const programs = new Programs(repair.program, () => isRepaired());
  const isRepaired = () => repair.changes.every(({ path }) => files.get(path) === wanted.get(path));

  const test = () => {
    const passed = repair.program === null ? isRepaired() : programs.showRepaired();
    if (passed) for (const [path, text] of repair.made) files.set(path, text);
    return `${TESTED} ${passed ? 0 : 1}`;
  };
  const doing: Record<string, (input: Input) => string> = {
    bash: ({ command = '', background = false, terminal = false }) => {
      if (background || terminal) return programs.start(terminal);
      return command.includes(TESTED) && !command.includes('> /tmp') ? test() : '';
    },
    bash_output: ({ id }) => (id === undefined ? programs.list() : programs.at(id)),
    bash_input: ({ id = '', text = '', keys = [] }) => programs.type(id, text, keys.includes('enter')),
    bash_stop: ({ id = '' }) => programs.stop(id),
    read: ({ path = '' }) => {
      const lines = files.get(path.replace('folder/', ''))?.split('\n');
      return lines?.map((line, index) => `${index + 1}: ${line}`).join('\n') ?? 'There is no file.';
    },
    glob: () => 'No file.',
    edit: ({ path = '', oldText = '', newText = '' }) => {
      const name = path.replace('folder/', '');
      const pieces = files.get(name)?.split(oldText) ?? [];
      if (pieces.length !== 2) return REFUSED;
      files.set(name, pieces.join(newText));
      return 'Changed.';
    },
    publish: () => 'Published.',
  };
  const perform = ({ name, arguments: json }: Call) => {
    used.push(name);
    try {
      return doing[name]?.(JSON.parse(json) as Input) ?? REFUSED;
    } catch {
      return REFUSED;
    }
  };
  return { files, wanted, used, perform, programs };
}

interface Program {
  id: string;
  /** Whether it was started from repaired files. */
  repaired: boolean;
  running: boolean;
  line: string;
  answers: string[];
}

/** What goes on beyond a call: a server, of which there can be one, or dialogues. */
class Programs {
  readonly all: Program[] = [];

  constructor(
    private readonly program: Repair['program'],
    private readonly isRepaired: () => boolean,
  ) {}

  /** Whether the server that answers, or the last dialogue that has ended, is of repaired files, and was answered as it should be. */
  showRepaired(): boolean {
    const { answers } = this.program ?? {};
    if (answers === undefined) return this.running()?.repaired === true;
    const last = this.all.findLast(({ running }) => !running);
    return last?.repaired === true && JSON.stringify(last.answers) === JSON.stringify(answers);
  }

  running(): Program | undefined {
    return this.all.find(({ running }) => running);
  }

  start(terminal: boolean): string {
    if (terminal !== (this.program?.answers !== undefined)) return 'It needs a terminal, or it needs none.';
    if (!terminal && this.running() !== undefined) return 'The address is in use.';
    const id = `b${this.all.length + 1}`;
    this.all.push({ id, repaired: this.isRepaired(), running: true, line: '', answers: [] });
    return this.at(id);
  }

  type(id: string, text: string, enter: boolean): string {
    const found = this.all.find((one) => one.id === id);
    if (found?.running !== true) return REFUSED;
    found.line += text;
    if (!enter) return this.at(id);
    found.answers.push(found.line);
    found.line = '';
    found.running = found.answers.length < (this.program?.answers?.length ?? 0);
    return this.at(id);
  }

  stop(id: string): string {
    const found = this.all.find((one) => one.id === id);
    if (found !== undefined) found.running = false;
    return this.at(id);
  }

  at(id: string): string {
    const found = this.all.find((one) => one.id === id);
    return found === undefined ? REFUSED : `id: ${id}\nstatus: ${found.running ? 'running' : 'stopped'}`;
  }

  list(): string {
    return JSON.stringify(this.all);
  }
}
