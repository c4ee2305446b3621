// GitHub and GitLab of this folder by themselves, for a person who tries the service:
// node --import ./test/harness/typescript-hooks.mjs test/harness/code-hosts/main.ts [port of GitHub] [port of GitLab]
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { git } from '../repositories.js';
import type { CodeHost } from './code-host.js';
import { FakeGitHub } from './github.js';
import { FakeGitLab } from './gitlab.js';

const [github, gitlab] = await Promise.all([
  FakeGitHub.start('github-token-to-try', 'acme', Number(process.argv[2] ?? 0)),
  FakeGitLab.start('gitlab-token-to-try', 'acme', Number(process.argv[3] ?? 0)),
]);
fill(github);
fill(gitlab);
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const keyFile = join(github.folder.path, 'app.pem');
writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
const repositories = github.repositories.map(({ path }) => path);
const installation = { id: 7, account: 'acme', repositories, contents: 'write' as const, suspended: false };
github.apps.push({ id: 42, slug: 'millwright', publicKey, installations: [installation] });

// What they are, without a token: a workspace brings its own.
const config = {
  repositories: { ...github.known(), ...gitlab.known() },
  repositoryNetworks: ['127.0.0.1/32'],
};
console.log(`GitHub ${github.name}: token ${github.token}, or App 42, installation 7, its key ${keyFile}`);
console.log(`GitLab ${gitlab.name}: token ${gitlab.token}`);
console.log(`CONFIG_FILE: ${JSON.stringify(config)}`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void Promise.all([github.stop(), gitlab.stop()]));
}

function fill(host: CodeHost): void {
  const bare = host.make('acme/api', { 'README.md': '# API\n', 'src/main.js': "console.log('Hello.');\n" });
  for (const name of ['next', 'release/1.0', 'release/2.0']) git(bare, 'branch', name, 'main');
  host.make('acme/site', { 'index.html': '<h1>Acme</h1>\n' }, { private: false, pushedAt: '2026-02-03T04:05:06Z' });
  host.make('acme/handbook', { 'README.md': '# Handbook\n' }, { members: { acme: 'read' } });
}
