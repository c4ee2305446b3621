// Attacks of commands, by the model `runbook`.
import type { Attack } from './attack.js';
import { MIB } from './bounds.js';

/** Holds the given memory files and pages until it is ended; perl, because every Debian has it. */
const MEMFD = '(`uname -m` =~ /x86/ ? 319 : 279)';
const publish = (path: string) => ({ info: `publish path=${path}`, text: '' });
const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));
const mib = (bytes: number) => Math.floor(bytes / MIB);

export const SANDBOX_ATTACKS: Attack[] = [
  {
    name: 'forks',
    what: 'a fork bomb in each running task',
    wave: (a, { runningTasks }) => a.tasks(runningTasks, 'b() { b | b & }; b; sleep 2'),
  },
  {
    name: 'spin',
    what: 'as many processes as there may be, all of which compute',
    wave: (a, { runningTasks, processes }) =>
      a.tasks(runningTasks, `for i in $(seq ${processes - 8}); do while :; do :; done & done; sleep 2`),
  },
  {
    name: 'children',
    what: 'two tasks whose eight processes take three quarters of the memory each',
    wave: (a, { memoryBytes }) =>
      a.tasks(
        2,
        `perl -e 'for (1..8) { next if fork; $a = "x" x ${Math.floor(memoryBytes * 0.75)}; sleep 2; exit } sleep 2'`,
      ),
  },
  {
    name: 'memfd',
    what: 'two tasks with eight files in memory, each as large as a file may be',
    wave: (a, { diskBytes }) =>
      a.tasks(
        2,
        `perl -e 'for $n (1..8) { $d = syscall(${MEMFD}, "m", 0); open $f[$n], "+>&=", $d; $p = "x" x ${MIB}; ` +
          `syswrite $f[$n], $p for 1..${mib(diskBytes)} } sleep 2'`,
      ),
  },
  {
    name: 'temporary',
    what: 'two tasks that fill the folders which lie in memory',
    wave: (a) => a.tasks(2, 'for d in /tmp /dev/shm "$HOME"; do cat /dev/zero > $d/a; done; sleep 1'),
  },
  {
    name: 'floods',
    what: 'output without end in each running task, twice',
    wave: (a, { runningTasks }) => a.tasks(runningTasks, 'yes', 'cat /dev/zero >&2'),
  },
  {
    name: 'files',
    what: 'thousands of files and a path of thousands of folders in each of four tasks',
    wave: (a) =>
      a.tasks(
        4,
        'mkdir many; cd many; touch $(seq 1 2500)',
        'for i in $(seq 1 2500); do mkdir d && cd d || break; done; touch last; chmod 0 .',
        'ls many | wc -l',
      ),
  },
  {
    name: 'sparse',
    what: 'files of nothing in four tasks, published: eight of 12 MiB, four as large as a file may be',
    wave: (a, { diskBytes }) => {
      const file = (name: string, bytes: number) => [
        `truncate -s ${bytes} ${name}; echo $RANDOM$RANDOM$RANDOM >> ${name}`,
        publish(name),
      ];
      const small = times(8, (n) => file(`small${n}`, 12 * MIB));
      // A publish that is refused ends the turn, so these come last.
      const large = times(4, (n) => file(`large${n}`, diskBytes - 100));
      return a.tasks(4, ...[...small, ...large].flat());
    },
  },
  {
    name: 'shorts',
    what: 'short commands in two tasks, each of which fills a little more of the disk',
    wave: (a, { diskBytes }) =>
      a.tasks(2, ...times(16, (n) => `head -c ${Math.floor(diskBytes * 0.8)} /dev/zero | tr '\\0' 'a' > f${n}`)),
  },
  {
    name: 'growth',
    what: 'two tasks whose processes write to many files as fast as the disk takes it',
    wave: (a, { diskBytes }) =>
      a.tasks(
        2,
        `for i in 1 2 3 4 5 6 7 8; do head -c ${Math.floor(diskBytes * 0.9)} /dev/zero > g$i & done; wait; sleep 2`,
      ),
  },
  {
    name: 'deleted',
    what: 'two tasks that hold eight files open which they have deleted',
    wave: (a, { diskBytes }) => {
      const one = (fd: number) =>
        `exec ${fd}>d${fd}; rm d${fd}; head -c ${Math.floor(diskBytes * 0.8)} /dev/zero >&${fd}`;
      return a.tasks(2, `${times(8, (n) => one(10 + n)).join('\n')}\nsleep 2`);
    },
  },
  {
    name: 'script',
    what: 'two tasks with a script of 150 KB that write to every descriptor that it was given',
    wave: (a, { diskBytes }) => {
      const padding = `# ${'x'.repeat(98)}\n`.repeat(1500);
      const write = `for i in 3 4 5 6 7 8 9; do { head -c ${diskBytes} /dev/zero >&$i; } 2>/dev/null; done; sleep 2`;
      return a.tasks(2, `${padding}${write}`);
    },
  },
  {
    name: 'places',
    what: 'more tasks than there are places, all of which sleep',
    wave: (a) => a.tasks(24, 'sleep 1'),
  },
];
