/** What `mw environments --help` says. */
export const ENVIRONMENTS_HELP = {
  lines: [
    ['environments list', 'the boxes that tasks may work in, with the hosts that each reaches'],
    ['environments show SLUG [VERSION]', 'what it is, in JSON'],
    ['environments set SLUG', 'makes one, or gives one that is there what is said of it: the next version'],
    ['environments delete SLUG', 'with its versions and builds, unless a task works in it'],
    ['environments builds SLUG', 'what was made of it, newest first'],
    ['environments build SLUG', 'makes it now, and shows what its commands write; the exit code is 1 when that fails'],
    [
      'environments test SLUG COMMAND',
      'runs a command in a copy of what was made; the exit code is that of the command',
    ],
  ],
  options: [
    ['--file F|-', 'of set: JSON as show prints it; what else is given goes before it'],
    ['--name N', 'what people call it'],
    ['--repository URL', 'cloned before the commands'],
    ['--ref R', 'a branch, a tag or a commit of it'],
    ['--setup COMMAND', 'makes the box; may come several times'],
    ['--variable K=V', 'that each command has; may come several times'],
    ['--host H[:PORT]', 'that commands reach; may come several times'],
    ['--secret NAME', 'that its tasks have; may come several times'],
    ['--refresh never|daily', 'when the box is made anew'],
    ['--lockfile GLOB', 'it is made anew when such a file changes; may come several times'],
    ['--on-failure fail|lastGood', 'what tasks do when the box cannot be made'],
    ['--check COMMAND', 'that its tasks have to pass, of those that have no others; may come several times'],
    ['--protect GLOB', 'such paths the checks see as they were at first; may come several times'],
    ['--max-repairs N', 'how often in a turn the agent may mend what a check has found'],
    ['--log', 'of builds: with the last of what the commands wrote'],
  ],
  example:
    "mw environments set node --repository https://github.com/acme/api --setup 'npm ci' --host registry.npmjs.org",
} as const;
