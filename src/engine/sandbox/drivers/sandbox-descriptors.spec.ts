import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import {
  describeWays,
  type Installation,
  startAs,
  type TaskSandbox,
  type Way,
} from '../../../../test/harness/sandboxes.js';

const SECRET = 'sk-millwright-isolation-secret';

/** @param shared whether its commands enter one box, as those of the agent do. */
function descriptors(way: Way, shared: boolean): void {
  let service: Installation;
  let task: TaskSandbox;
  beforeAll(async () => {
    Logger.overrideLogger(['error', 'fatal']);
    service = await startAs(way);
    task = await service.open();
  });
  afterAll(() => service.close());

  /** Every descriptor inside: whose, its number, what it is. The shell's own list of them is left out. */
  const list = `for f in /proc/[0-9]*/fd/*; do
      [ "$f" -ef /proc/$$/fd ] || echo "$(echo $f | cut -d/ -f3) $(basename $f) $(stat -Lc %F $f 2>&-) $(readlink $f)"
    done 2>&-`;
  const long = `#${'x'.repeat(140_000)}`;

  it('are the three of the command; what holds and starts it has no file of the host either, and tells nobody where it keeps its data', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'millwright-fd-'));
    writeFileSync(join(folder, 'secret'), SECRET);
    const held = openSync(join(folder, 'secret'), 'r');
    try {
      for (const [more, options] of [
        ['', {}],
        [long, { stdin: 'given' }],
      ] as const) {
        const { stdout } = await task.run(`ls /proc/self/fd; echo $$ $PPID; ${list}\n${more}`, {
          ...options,
          shared,
        });
        const [own, rest = ''] = stdout.split(/(?<=^0\n1\n2\n3\n)/);
        const [ids = '', ...lines] = rest.split('\n');
        expect(own).toBe('0\n1\n2\n3\n');
        // The command, the process in between, which waits for it, and the first one, which holds the box.
        const [command, between] = ids.split(' ');
        const of = (pid?: string) => lines.flatMap((line) => (line.startsWith(`${pid} `) ? line.split(/^\d+ /).slice(1) : [])); // prettier-ignore
        // The shell itself keeps a second one of its errors, because they are closed around the loop.
        expect(of(command).map((line) => line.replace(/\w{16}/, 'ID').replace(' (deleted)', ''))).toEqual([
          expect.stringMatching(options.stdin === undefined ? /^0 .*\/dev\/null$/ : /^0 fifo pipe:/),
          '1 fifo /opt/millwright/pipes/ID.out',
          '10 fifo /opt/millwright/pipes/ID.err',
          expect.stringMatching(/^2 fifo pipe:/),
        ]);
        const held = [...of('1'), ...of(between)].filter((line) => !/ \/dev\/null$| \/opt\/millwright\//.test(line));
        // It cannot be opened through /proc.
        for (const line of held) expect(line).toMatch(/^([07] socket socket|3 fifo pipe):\[\d+\]$/);
      }
    } finally {
      closeSync(held);
      rmSync(folder, { recursive: true });
    }
  });

  it('lead to no file: what a command writes to its standard input comes after what it was given', async () => {
    const { stdout } = await task.run('read -r it; echo $it; echo more > /dev/stdin; cat', {
      stdin: 'given\n',
      shared,
    });
    expect(stdout).toBe('given\nmore\n');
  });
}

describe('The open descriptors of a command', () => describeWays((way) => descriptors(way, false)));
describe('The open descriptors of a command that shares a box', () => describeWays((way) => descriptors(way, true)));
