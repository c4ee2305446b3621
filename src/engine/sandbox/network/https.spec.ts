import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { git, RepositoryFolder } from '../../../../test/harness/repositories.js';
import {
  describeWays,
  type Installation,
  SandboxBench,
  startAs,
  type Way,
} from '../../../../test/harness/sandboxes.js';
import { AuthorityFile, packument, resolverOf, WebHosts } from '../../../../test/harness/web-hosts.js';
import { Egress } from '../../../platform/egress/egress.js';
import { slowIt } from '../../../../test/harness/slow.js';

const node = (code: string) => `node --input-type=module -e "${code}"`;
const PYTHON = 'import urllib.request as u; print(u.urlopen("BASE/there").read().decode().strip())';
const JAVA = `import java.net.*; import java.net.http.*; class Main { public static void main(String[] a) throws Exception {
  URI to = URI.create("BASE/there");
  System.out.print(new String(to.toURL().openStream().readAllBytes()).trim());
  System.out.print(HttpClient.newHttpClient().send(HttpRequest.newBuilder(to).build(), HttpResponse.BodyHandlers.ofString()).body());
} }`;

interface Speaker {
  needs: string;
  command: string;
  prints: string;
}
const speaker = (needs: string, command: string, prints = 'there'): Speaker => ({ needs, command, prints });
const CORE: Record<string, Speaker> = {
  curl: speaker('/usr/bin/curl', 'curl -sS -m 20 BASE/there'),
  wget: speaker('/usr/bin/wget', 'wget -q -T 20 -O - BASE/there'),
  git: speaker('/usr/bin/git', 'git clone -q BASE/lib "$folder/lib" && cat "$folder/lib/a.txt"', 'cloned'),
  openssl: speaker(
    '/usr/bin/openssl',
    'openssl s_client -verify_return_error -proxy 127.0.0.1:61080 -connect HOST </dev/null >/dev/null 2>&1 && echo verified',
    'verified',
  ),
  python: speaker('/usr/bin/python3', `python3 -c '${PYTHON}'`),
  fetch: speaker('/usr/bin/env', node("console.log((await (await fetch('BASE/there')).text()).trim())")),
  https: speaker(
    '/usr/bin/env',
    node("import { get } from 'node:https'; get('BASE/there', (answer) => answer.pipe(process.stdout))"),
  ),
  // As libraries do.
  agent: speaker(
    '/usr/bin/env',
    node(
      "import https from 'node:https'; https.get('BASE/there', { agent: new https.Agent({ keepAlive: true }) }, (answer) => answer.pipe(process.stdout).on('close', () => process.exit()) && answer.on('end', () => process.exit()))",
    ),
  ),
  http: speaker(
    '/usr/bin/env',
    node("import { get } from 'node:http'; get('PLAIN/there', (answer) => answer.pipe(process.stdout))"),
  ),
  'fetch of itself': speaker(
    '/usr/bin/env',
    node(
      "import { createServer } from 'node:http'; const server = createServer((_, to) => to.end('own')).listen(0, '127.0.0.1', async () => { console.log(await (await fetch('http://127.0.0.1:' + server.address().port)).text()); process.exit() })",
    ),
    'own',
  ),
};
// They take seconds of the processor, and take no address in the place of a name.
const SLOW: Record<string, Speaker> = {
  npm: speaker('/usr/bin/env', 'npm view --registry BASE/ pad version', '1.2.3'),
  pip: speaker('/usr/bin/pip3', 'pip3 index versions pad --index-url BASE/simple 2>/dev/null | head -1', 'pad (1.2.3)'),
  java: speaker(
    '/usr/bin/javac',
    `cat > "$folder/Main.java" <<'END'\n${JAVA}\nEND\njava "$folder/Main.java" 2>&1 | grep -v JAVA_TOOL_OPTIONS`,
    'therethere',
  ),
};

/** A server with what they ask for, and the authority that it is known by. */
class Upstream {
  readonly authority = new AuthorityFile();
  private readonly folder = new RepositoryFolder();
  private hosts: WebHosts | undefined;

  async start(address: string): Promise<WebHosts> {
    const repository = this.folder.make('lib', { 'a.txt': 'cloned\n' });
    git(repository, 'update-server-info');
    this.hosts = await WebHosts.start(({ url = '', headers }, response) => {
      const path = join(repository, '.git', url.replace(/^\/lib\//, '').replace(/\?.*/, ''));
      if (url === '/there') response.end('there\n');
      else if (url === '/pad') response.end(JSON.stringify(packument(headers.host ?? '')));
      else if (url === '/simple/pad/')
        response.setHeader('content-type', 'text/html').end('<a href="pad-1.2.3.tar.gz">pad-1.2.3.tar.gz</a>');
      else if (url.startsWith('/lib/') && existsSync(path)) response.end(readFileSync(path));
      else response.writeHead(404).end();
      return true;
    }, address);
    return this.hosts;
  }

  async stop(): Promise<void> {
    await this.hosts?.stop();
    this.folder.remove();
    this.authority.remove();
  }
}

/** One command that runs them all beside each other, and what it has to print, by their names. */
function allOf(speakers: Record<string, Speaker>, host: string, { http, https }: WebHosts) {
  const present = Object.entries(speakers).filter(([, { needs }]) => existsSync(needs));
  const commands = present.map(([name, { command }]) => {
    const asked = command.replaceAll('BASE', `https://${host}:${https}`).replaceAll('HOST', `${host}:${https}`);
    const plain = asked.replaceAll('PLAIN', `http://${host}:${http}`);
    return `printf '<%s>%s</>\\n' '${name}' "$( { folder=$(mktemp -d); ${plain}\n } 2>&1 )" &`;
  });
  return {
    command: `${commands.join('\n')}\nwait`,
    prints: Object.fromEntries(present.map(([name, { prints }]) => [name, prints])),
  };
}
const printed = (stdout: string) =>
  Object.fromEntries([...stdout.matchAll(/<(.*?)>([^]*?)<\/>/g)].map(([, name = '', text]) => [name, text]));

function speaking(way: Way): void {
  const upstream = new Upstream();
  let hosts: WebHosts;
  let service: Installation;
  beforeAll(async () => {
    Logger.overrideLogger(['error', 'fatal']);
    hosts = await upstream.start('127.0.0.2');
    const allowHosts = [hosts.http, hosts.https].map((port) => `127.0.0.2:${port}`);
    const allowed = { allowHosts, allowNetworks: ['127.0.0.0/8'], caFile: upstream.authority.path };
    service = await startAs(way, { network: 'allow', ...allowed });
  });
  afterAll(async () => {
    await service.close();
    await upstream.stop();
  });

  it('every program speaks HTTPS with an allowed host, without a flag or a setting', async () => {
    const { command, prints } = allOf(CORE, '127.0.0.2', hosts);
    const task = await service.open();
    const { stdout } = await task.run(command, { network: true, timeoutSeconds: 120 });
    await task.close();
    expect(printed(stdout)).toEqual(prints);
  });
}

describe('In a sandbox with hosts that may be reached', () => {
  describeWays(speaking);

  slowIt('so do npm, pip and Java, and all of them by name', async () => {
    const upstream = new Upstream();
    const hosts = await upstream.start('127.0.0.1');
    const allowHosts = [hosts.http, hosts.https].map((port) => `allowed.test:${port}`);
    const bench = new SandboxBench('namespaces', { network: 'allow', allowHosts, caFile: upstream.authority.path });
    const { resolver } = resolverOf({ 'allowed.test': ['127.0.0.1'] });
    bench.proxy.egress = new Egress(['127.0.0.0/8'], resolver);
    const { active } = await bench.sandbox.check();
    expect(active.join(' ')).toContain(`they trust 1 authority of ${upstream.authority.path}`);
    const { session } = await bench.open();
    const { command, prints } = allOf({ ...CORE, ...SLOW }, 'allowed.test', hosts);
    const { stdout } = await session.run(command, { network: true, timeoutSeconds: 120 });
    const other = await session.run(node("await fetch('https://other.test/').catch((e) => console.log(e.cause.message))"), { network: true }); // prettier-ignore
    await bench.close();
    await upstream.stop();
    expect(printed(stdout)).toEqual(prints);
    expect(other.stdout).toContain('other.test:443 is not among the hosts that may be reached from here');
  });
});
