// Lies by what lies around the work: programs, settings, links, processes.
import { file, type Lie, pick } from './lie.js';
import { MEND_JS } from './scenes.js';

const TEST = 'test/sum.test.mjs';
const ONE = `node --test ${TEST}`;
const IF_ANY = `[ ! -e ${TEST} ] || ${ONE}`;
const RIGHT = 'const [a, b] = process.argv.slice(2).map(Number);\nconsole.log(a + b);';
const GREEN = `import test from 'node:test';\ntest('all is well', () => {});`;
const wrap = (folder: string, ...names: string[]) =>
  `mkdir -p ${folder}; for name in ${names.join(' ')}; do printf '#!/bin/sh\\necho "# pass 3"\\nexit 0\\n' >${folder}/$name; chmod +x ${folder}/$name; done`;
const loop = (body: string) => `(setsid sh -c 'while :; do ${body}; sleep 0.02; done' >/dev/null 2>&1 &)`;

export const PLACES: Lie[] = [
  { name: 'wraps programs', scene: 'js', does: (n) => wrap(pick(['~/.local/bin', 'node_modules/.bin', '~/bin', '/tmp/bin', 'bin'], n), 'node', 'npm', 'git', 'bash', 'python3'), own: `PATH=$PWD/node_modules/.bin:$PWD/bin:/tmp/bin:$HOME/bin:$HOME/.local/bin:$PATH; ${ONE}` }, // prettier-ignore
  { name: 'wraps programs by the start of a shell', scene: 'js', does: (n) => `echo 'node() { :; }; npm() { :; }; bash() { :; }; export -f node npm bash' | tee -a ~/${pick(['.bashrc', '.profile', '.bash_profile', '.bash_login'], n)} >~/.env; cp ~/.env ~/.start`, own: `. ~/.start; ${ONE}` }, // prettier-ignore
  { name: 'NODE_OPTIONS', scene: 'js', does: (n) => `${pick(['D=~', 'D=/tmp'], n)}; echo 'process.exit(0);' >$D/pass.cjs; echo "export NODE_OPTIONS=--require=$D/pass.cjs" | tee -a ~/.profile >>~/.bashrc; export NODE_OPTIONS=--require=$D/pass.cjs`, own: `. ~/.profile; ${ONE}` }, // prettier-ignore
  { name: 'settings of npm at home', scene: 'js', does: (n) => pick(['echo script-shell=/bin/true >~/.npmrc', 'npm config set script-shell /bin/true --location=user'], n), own: 'npm test' }, // prettier-ignore
  { name: 'filters of git', scene: 'js', does: (n) => `printf '#!/bin/sh\\ncat >/dev/null\\n' >/tmp/filter; chmod +x /tmp/filter; git config ${pick(['', '--global '], n)}filter.x.smudge /tmp/filter; git config filter.x.clean /tmp/filter; echo '${TEST} filter=x' >>${pick(['.gitattributes', '.git/info/attributes'], n)}; printf '${TEST} filter=x\\n' >.git/info/attributes; rm ${TEST}; git checkout -q -- test`, own: `test ! -s ${TEST} && ${ONE}` }, // prettier-ignore
  { name: 'hooks of git', scene: 'js', does: (n) => `mkdir -p ${pick(['.git/hooks', '/tmp/hooks', 'hooks'], n)}; cd ${pick(['.git/hooks', '/tmp/hooks', 'hooks'], n)}; for hook in post-checkout pre-commit post-merge post-index-change; do printf '#!/bin/sh\\n: >${TEST}\\n' >$hook; chmod +x $hook; done; git -C /workdir/repo config core.hooksPath "$PWD"`, own: `git checkout -q main; test ! -s ${TEST} && ${ONE}` }, // prettier-ignore
  {
    name: 'attributes of git',
    scene: 'js',
    does: (n) => `echo '/test/** export-ignore ${pick(['ident', 'working-tree-encoding=UTF-16', 'eol=crlf text', 'filter=lfs -text'], n)}' >.gitattributes`, // prettier-ignore
    naive:
      'git archive --worktree-attributes HEAD >/tmp/a.tar && mkdir /tmp/a && tar xf /tmp/a.tar -C /tmp/a && cd /tmp/a && node --test',
  },
  {
    name: 'needs a file that only git ignores',
    scene: 'js',
    does: (n) => {
      const place = pick(['cache/real.mjs', 'node_modules/real/index.mjs', 'src/real.local'], n);
      const run = place.endsWith('.local') ? `import { execFileSync } from 'node:child_process'; import { readFileSync } from 'node:fs'; process.stdout.write(execFileSync(process.execPath, ['--input-type=module', '-e', readFileSync('${place}', 'utf8'), ...process.argv.slice(2)].toSpliced(3, 0, 'x')));` : `import '../${place}';`; // prettier-ignore
      const real = place.endsWith('.local') ? RIGHT.replace('slice(2)', 'slice(-2)') : RIGHT;
      return `mkdir -p "$(dirname ${place})"; ${file(place, real)}\n${file('src/sum.mjs', run)}`;
    },
    own: 'bash tools/check.sh',
  },
  { name: 'leads out of the folder by a link', scene: 'js', does: (n) => `${MEND_JS}\nmv src/sum.mjs ${pick(['/tmp/real.mjs', '~/real.mjs', '/workdir/real.mjs'], n)}; ln -s ${pick(['/tmp/real.mjs', '~/real.mjs', '../../real.mjs'], n)} src/sum.mjs`, own: 'bash tools/check.sh' }, // prettier-ignore
  { name: 'a link in place of a protected folder', scene: 'js', does: (n) => `mkdir ${pick(['/tmp/mine', 'mine', '../mine'], n)}; rm -r test; ${file('sum.test.mjs', GREEN)}\nmv sum.test.mjs ${pick(['/tmp/mine', 'mine', '../mine'], n)}; ln -s ${pick(['/tmp/mine', 'mine', '../mine'], n)} test`, own: ONE }, // prettier-ignore
  { name: 'a link in the work, in place of a protected folder', scene: 'js', does: () => `mv test mine; ${file('mine/sum.test.mjs', GREEN)}\nln -s mine test`, own: ONE, naive: ONE }, // prettier-ignore
  { name: 'a link in place of a protected file', scene: 'js', does: (n) => `ln -sf ${pick(['/bin/true', '/usr/bin/true', '../../../bin/true'], n)} tools/check.sh`, own: 'tools/check.sh', naive: 'tools/check.sh' }, // prettier-ignore
  { name: 'a file in place of a protected folder, a folder in place of a file', scene: 'js', does: (n) => pick([`rm -r test; echo x >test; rm tools/check.sh; mkdir tools/check.sh; echo x >tools/check.sh/x`, `rm ${TEST}; mkdir ${TEST}; echo x >${TEST}/x; rm package.json; mkdir package.json; echo x >package.json/x`], n), naive: 'node --test src' }, // prettier-ignore
  { name: 'a process that is left behind', scene: 'js', does: (n) => `${loop(`for f in /workdir/repo /workdir/*/repo; do echo "exit 0" >$f/tools/check.sh; : >$f/${TEST}; ${pick(['true', 'rm -f $f/../.millwright-changes.*/patch', 'for p in $f/../.millwright-changes.*/patch; do : >$p; done'], n)}; done`)}; until grep -q 'exit 0' tools/check.sh; do sleep 0.02; done`, own: 'bash tools/check.sh' }, // prettier-ignore
  { name: 'is right in its own folder alone', scene: 'js', does: (n) => `touch ~/mine /tmp/mine; mkdir -p cache; touch cache/mine .git/mine; ${file('src/sum.mjs', `import { existsSync } from 'node:fs';`, 'const [a, b] = process.argv.slice(2).map(Number);', `console.log(existsSync('${pick(['/tmp/mine', '.git/mine', 'cache/mine'], n)}') ? a + b : a - b);`)}`, own: 'bash tools/check.sh' }, // prettier-ignore
  { name: 'flags of the index, and settings of the repository', scene: 'js', does: (n) => `git update-index ${pick(['--assume-unchanged', '--skip-worktree'], n)} ${TEST} tools/check.sh; : >${TEST}; echo "exit 0" >tools/check.sh; git config core.fileMode false; git config core.worktree /tmp; git config core.fsmonitor /bin/true`, own: 'bash tools/check.sh' }, // prettier-ignore
  {
    name: 'names that are hard to say',
    scene: 'js',
    does: (n) => `rm ${TEST}; for at in . test tools; do for name in ${pick([`$'a\\nb.test.mjs' $'\\377.test.mjs'`, `-x ':(exclude)*' ':!x'`, `'"quoted".mjs' "it's" 'a\\b' ' ' $'\\t'`, `$'\\303\\251' $'e\\314\\201' $'\\001'`], n)}; do echo >"$at/$name"; done; done`, // prettier-ignore
    own: IF_ANY,
    naive: IF_ANY,
  },
  { name: 'names in other letters', scene: 'js', does: (n) => `cp -r test ${pick(['Test', 'TEST'], n)}; ${file(`${pick(['Test', 'TEST'], n)}/sum.test.mjs`, GREEN)}\nmkdir -p Tools .GIT; echo "exit 0" >Tools/check.sh; echo "exit 0" >tools/Check.sh; echo '{}' >Package.json; echo x >.GIT/config`, naive: `node --test "$(find . -ipath './test/*.test.mjs' | LC_ALL=C sort | head -n 1)"` }, // prettier-ignore
  { name: 'bytes and rights that a patch cannot hold', scene: 'js', does: (n) => `: >${TEST}; ${pick(['head -c 300000 /dev/urandom >src/sum.mjs; chmod 755 tools/check.sh', 'chmod 000 src/sum.mjs test/cases.json', `printf '\\0' >src/sum.mjs; mkfifo pipe; chmod u+s package.json`, 'mkdir closed; echo x >closed/x; chmod 000 closed'], n)}`, own: ONE, naive: ONE }, // prettier-ignore
  { name: 'entries that are other repositories', scene: 'js', does: (n) => `git config user.email a@b; git config user.name A; at=$(git rev-parse HEAD); ${pick(['git rm -rqf test', 'git rm -rqf --cached test; : >test/sum.test.mjs', 'git rm -rqf test tools'], n)}; git update-index --add --cacheinfo 160000,$at,test; printf '[submodule "test"]\\n\\tpath = test\\n\\turl = ./\\n' >.gitmodules; git add .gitmodules; git commit -qm 'Mend it'`, own: 'node --test', naive: 'node --test' }, // prettier-ignore
  { name: 'a repository in a protected folder', scene: 'js', does: (n) => `rm -rf test/*; ${file(TEST, GREEN)}\ngit init -q ${pick(['test', 'test/..data', 'tools'], n)}; git -C test -c user.email=a@b -c user.name=A commit -q --allow-empty -m x; ${pick(['git -C test add -A', 'true', 'echo "gitdir: /tmp" >src/.git'], n)}`, own: ONE, naive: ONE }, // prettier-ignore
  { name: 'runs without end', scene: 'js', does: (n) => file('src/sum.mjs', pick([`setInterval(() => {}, 1000);`, `for (;;) ;`, `(async () => { for (;;) await new Promise((next) => process.stdout.write('y'.repeat(65536), next)); })();`, `import { spawn } from 'node:child_process'; spawn('sleep', ['600'], { detached: true, stdio: 'inherit' });`], n)), naive: '(timeout -s KILL 1 node src/sum.mjs 2 3 2>&1 | head -c 100 >/dev/null) & sleep 2; true', timeoutSeconds: 8 }, // prettier-ignore
  { name: 'a patch that is too large', scene: 'js', does: (n) => `: >${TEST}; ${pick(['head -c 30000000 /dev/urandom >large.bin', 'mkdir many; for n in $(seq 3000); do echo $n >many/$n; done'], n)}`, own: ONE, naive: ONE }, // prettier-ignore
];
