// Attacks of commands, by the model `runbook`.
import { setTimeout as wait } from 'node:timers/promises';
import type { Attack } from './attack.js';
import { MIB } from './bounds.js';

/** Number of memfd_create(2), in perl, which every Debian has. */
const MEMFD = '(`uname -m` =~ /x86/ ? 319 : 279)';
const publish = (path: string) => ({ info: `publish path=${path}`, text: '' });
const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));
const mib = (bytes: number) => Math.floor(bytes / MIB);

export const SANDBOX_ATTACKS: Attack[] = [
  {
    name: 'forks',
    what: 'a fork bomb in each task',
    // The shell itself would try again and again to fork.
    wave: (a, { tasks }) => a.tasks(tasks, 'b() { b | b & }; b & exec sleep 2'),
  },
  {
    name: 'spin',
    what: 'as many processes as there may be, all of which compute',
    wave: (a, { tasks, processes }) =>
      a.tasks(tasks, `for i in $(seq ${processes - 8}); do while :; do :; done & done; sleep 2`),
  },
  {
    name: 'children',
    longAlone: true,
    what: 'two tasks whose eight processes take three quarters of the memory each',
    wave: (a, { memoryBytes }) =>
      a.tasks(
        2,
        // A number that is not known beforehand: perl would keep one copy of a constant text.
        `perl -e 'for (1..8) { next if fork; push @a, "x" x (${MIB} + $_) for 1..${mib(memoryBytes * 0.75)}; sleep 2; exit } sleep 3'`,
      ),
  },
  {
    name: 'memfd',
    longAlone: true,
    what: 'two tasks with eight files in memory, each as large as a file may be',
    wave: (a, { diskBytes }) =>
      a.tasks(
        2,
        `perl -e 'for $n (1..8) { $m = "m"; $d = syscall(${MEMFD}, $m, 0); open $f[$n], "+>&=", $d or die; $p = "x" x ${MIB}; ` +
          `syswrite $f[$n], $p for 1..${mib(diskBytes)} } sleep 2'`,
      ),
  },
  {
    name: 'temporary',
    longAlone: true,
    what: 'two tasks that fill the folder which lies in memory, then /tmp and their home',
    wave: (a) => a.tasks(2, 'for d in /dev/shm /tmp "$HOME"; do cat /dev/zero > $d/a; done; sleep 1'),
  },
  {
    name: 'floods',
    what: 'output without end in each task, twice',
    wave: (a, { tasks }) => a.tasks(tasks, 'yes', 'cat /dev/zero >&2'),
  },
  {
    name: 'files',
    what: 'thousands of files and a path of thousands of folders in each of two tasks',
    wave: (a) =>
      a.tasks(
        2,
        'mkdir many; cd many; touch $(seq 1 2500)',
        `perl -e 'for (1..2500) { mkdir "d"; chdir "d" or last } mkdir "shut"; chmod 0, "shut", "."'`,
        'ls many | wc -l',
      ),
  },
  {
    name: 'sparse',
    what: 'files of nothing, published: eight of 12 MiB in each of three tasks, four as large as a file may be in one',
    wave: async (a, { diskBytes }) => {
      const publishAll = (count: number, bytes: number) => [
        `for i in $(seq ${count}); do truncate -s ${bytes} f$i; echo $RANDOM$RANDOM$RANDOM >> f$i; done`,
        ...times(count, (n) => publish(`f${n + 1}`)),
      ];
      const small = publishAll(8, 12 * MIB);
      await Promise.all([a.tasks(3, ...small), a.tasks(1, ...publishAll(4, diskBytes - 100))]);
    },
  },
  {
    name: 'shorts',
    longAlone: true,
    what: 'short commands in two tasks, each of which fills a little more of the disk',
    wave: (a, { diskBytes }) =>
      a.tasks(2, ...times(10, (n) => `head -c ${Math.floor(diskBytes * 0.8)} /dev/zero | tr '\\0' 'a' > f${n}`)),
  },
  {
    name: 'growth',
    what: 'two tasks that write one file after the other',
    wave: (a, { diskBytes }) =>
      a.tasks(
        2,
        `for i in 1 2 3 4 5 6 7 8; do head -c ${Math.floor(diskBytes * 0.8)} /dev/zero > g$i; sleep 0.35; done`,
      ),
  },
  {
    name: 'deleted',
    longAlone: true,
    what: 'two tasks that hold eight files open which they have deleted',
    wave: (a, { diskBytes }) => {
      const one = (fd: number) =>
        `exec ${fd}>d${fd}; rm d${fd}; head -c ${Math.floor(diskBytes * 0.8)} /dev/zero >&${fd}; sleep 0.35`;
      return a.tasks(2, `${times(8, (n) => one(10 + n)).join('\n')}\nsleep 2`);
    },
  },
  {
    name: 'script',
    what: 'two tasks with a script of 150 KB that write to every file which a process of the sandbox has open',
    wave: (a, { diskBytes }) => {
      const padding = `# ${'x'.repeat(98)}\n`.repeat(1500);
      const write = `for f in /proc/[0-9]*/fd/*; do [ -f "$f" ] && head -c ${diskBytes} /dev/zero >"$f"; done; sleep 2`;
      return a.tasks(2, `${padding}${write}`);
    },
  },
  {
    name: 'places',
    what: 'more tasks than there are places, all of which sleep',
    wave: (a) => a.tasks(24, 'sleep 1'),
  },
  {
    name: 'checks',
    what: 'more tasks than there are places, each with ten checks that do not end: they sleep, write and fork',
    wave: async (a) => {
      const endless = ['sleep 600', 'yes', 'b() { b | b & }; b & exec sleep 600'];
      const checks = times(10, (n) => ({ name: `check-${n}`, command: endless[n % 3] }));
      await Promise.all(times(24, () => a.task('Nothing to do.', { checks })));
      // By themselves they end after minutes. Meanwhile some of the other tenant's tasks come to their ends, with their checks.
      await wait(8000);
      await a.tidy();
    },
  },
];
