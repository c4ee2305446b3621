// The Dockerfile and scripts/image-root.sh, which CI runs in its place: one list of packages and files.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ENV_NAMES } from '../../src/platform/config/env.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');

describe('The image and the script that stands for it', () => {
  // An instruction with its continued lines is one.
  const lines = read('Dockerfile')
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\s*\\\n\s*/g, ' ')
    .split('\n');
  const of = (instruction: string) =>
    lines.filter((line) => line.startsWith(`${instruction} `)).map((line) => line.slice(instruction.length + 1));
  const script = read('scripts/image-root.sh');
  const list = (name: string) => new RegExp(`^${name}=\\((.*)\\)$`, 'm').exec(script)?.[1]?.split(' ') ?? [];
  const workspaces = (JSON.parse(read('package.json')) as { workspaces: string[] }).workspaces;

  it('install the same packages: the Dockerfile asks the script', () => {
    const printed = execFileSync(join(ROOT, 'scripts/image-root.sh'), ['packages'], { encoding: 'utf8' });
    expect(printed.trim().split(' ')).toEqual(list('packages'));
    expect(of('RUN').filter((line) => line.includes('apt-get install'))).toEqual([
      expect.stringContaining('apt-get install -y --no-install-recommends $(/tmp/image-root.sh packages) '),
    ]);
  });

  it('have the same files: the script lays them, and the last stage has no others', () => {
    expect(of('RUN')).toContainEqual('npm run build && scripts/image-root.sh lay /out');
    const last = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')));
    expect(last.filter((line) => /^(COPY|ADD) /.test(line))).toEqual([
      'COPY scripts/image-root.sh /tmp/image-root.sh',
      'COPY --from=build /out /app',
    ]);
  });

  it('know each package of the repository, before the sources are there', () => {
    const manifests = ['package.json', 'package-lock.json', ...workspaces.map((name) => `${name}/package.json`)];
    expect(list('manifests')).toEqual(manifests);
    const copied = of('COPY').flatMap((line) =>
      line
        .split(' ')
        .slice(0, -1)
        .filter((name) => name.endsWith('.json')),
    );
    expect(copied).toEqual(manifests);
  });

  it('leave out of the build what it makes itself, and nothing that it needs', () => {
    const ignored = read('.dockerignore').split('\n').filter((line) => line !== '' && !line.startsWith('#')); // prettier-ignore
    const needed = [
      'src',
      'packages',
      'console',
      'scripts',
      'deploy',
      'tsconfig.json',
      'tsconfig.build.json',
      '.swcrc',
    ];
    expect(ignored.filter((name) => needed.includes(name))).toEqual([]);
    expect(ignored).toEqual(expect.arrayContaining(['.git', '.env', '.data', '**/node_modules', '**/dist']));
  });

  it('start it by an ordinary user, with settings that the service knows, in the forms that the script reads', () => {
    const settings = of('ENV').flatMap((line) => line.split(' '));
    const names = settings.map((setting) => setting.split('=')[0] ?? '');
    expect(of('ENV')).toHaveLength(1);
    expect(names.filter((name) => ![...ENV_NAMES, 'NODE_ENV'].includes(name))).toEqual([]);
    expect(settings).toContain('DATA_DIR=/data');
    expect(of('VOLUME')).toEqual(['["/data"]']);
    expect(of('USER')).toEqual([expect.stringMatching(/^[1-9]\d{3,}:[1-9]\d{3,}$/)]);
    for (const words of [...of('ENTRYPOINT'), ...of('CMD')]) {
      expect(words).not.toMatch(/" "|\\/);
      expect(JSON.parse(words)).toBeInstanceOf(Array);
    }
    expect(of('HEALTHCHECK')).toEqual([expect.stringMatching(/ CMD \["node", "\/app\/deploy\/image\/health\.mjs"\]$/)]);
  });
});
