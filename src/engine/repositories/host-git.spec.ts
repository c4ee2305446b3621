import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canGiveWay } from '../sandbox/limits/give-way.js';
import { HostGit } from './host-git.js';

describe('git on the host (reference §15)', () => {
  const folders: string[] = [];
  afterAll(() => folders.forEach((one) => rmSync(one, { recursive: true })));
  const open = (settings: Record<string, string> = {}) => {
    const at = mkdtempSync(join(tmpdir(), 'host-git-'));
    folders.push(at);
    const limits = { fileBytes: 1_000_000, memoryBytes: 2 ** 31, seconds: 60, signal: new AbortController().signal };
    return new HostGit({ folder: at, protocol: 'https', settings, ...limits });
  };

  it('has a credential for one origin, in no file and in no command line', async () => {
    const one = open({ 'http.https://git.example/.extraHeader': 'Authorization: Basic dGhlLXRva2Vu' });
    const header = (url: string) => one.run(['config', '--get-urlmatch', 'http.extraHeader', url]).catch(() => '');
    expect(await header('https://git.example/acme/api')).toContain('dGhlLXRva2Vu');
    expect(await header('https://git.example.org/acme/api')).toBe('');
    expect(await header('http://git.example/acme/api')).toBe('');
    expect(readFileSync(join(one.repository, '../config'), 'utf8')).not.toContain('dGhl');
  });

  it('has nothing of this process’s environment and of the machine’s configuration, and speaks one protocol', async () => {
    const one = open();
    const lines = (await one.run(['config', '--list', '--show-scope'])).trim().split('\n');
    expect(lines.filter((line) => !line.startsWith('global\t'))).toEqual([]);
    expect(lines).toContain('global\thttp.followredirects=false');
    await expect(one.run(['ls-remote', 'file:///'])).rejects.toThrow("transport 'file' not allowed");
    await expect(one.run(['ls-remote', 'ext::sh -c true'])).rejects.toThrow("transport 'ext' not allowed");
  });

  const giving = canGiveWay() && process.getuid?.() === 0 ? it : it.skip;
  giving('gives way to the service', async () => {
    const asked = '!until grep "nice 5" /proc/self/autogroup; do sleep 0.05; done';
    expect(await open().run(['-c', `alias.asked=${asked}`, 'asked'])).toContain('nice 5');
  });
});
