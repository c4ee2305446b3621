// One server with what programs get from private places: packages of six kinds, repositories with large files, a page. Nobody gets
// anything without the credential, in the form that each of its names asks for.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { buffer, json } from 'node:stream/consumers';
import { serveGit } from './code-hosts/git-backend.js';
import { git, RepositoryFolder } from './repositories.js';
import { WebHosts } from './web-hosts.js';

/** By the form of the credential. */
export const NAMES = { bearer: 'allowed.test', basic: 'a.wild.test', raw: 'b.wild.test' } as const;
export const USER = 'me';

/** A page, by its address, and what kind of file it is. */
type Page = [body: Buffer | string, type?: string];

export class PrivateHosts {
  readonly folder = new RepositoryFolder();
  /** Addresses of requests that had the credential, without their origin. */
  readonly given: string[] = [];
  /** Whether the answer to who asks for large files has the credential in it that the question had, as those of GitLab and Gitea have. */
  sayBack = false;
  private readonly objects = new Map<string, Buffer>();
  private readonly pages = new Map<string, Page>();

  private constructor(private readonly credentials: Record<string, string>) {}

  static async start(value: string): Promise<{ hosts: PrivateHosts; port: number; stop: () => Promise<void> }> {
    const basic = `Basic ${Buffer.from(`${USER}:${value}`).toString('base64')}`;
    const hosts = new PrivateHosts({ [NAMES.bearer]: `Bearer ${value}`, [NAMES.basic]: basic, [NAMES.raw]: value });
    const web = await WebHosts.start((request, response) => hosts.answer(request, response));
    hosts.fill(web.https);
    const stop = async () => {
      await web.stop();
      hosts.folder.remove();
    };
    return { hosts, port: web.https, stop };
  }

  private answer(request: IncomingMessage, response: ServerResponse): boolean {
    const { url = '', headers, method } = request;
    const [host = ''] = (headers.host ?? '').split(':');
    if (headers.authorization !== this.credentials[host]) {
      request.resume();
      response.writeHead(401, { 'www-authenticate': 'Basic realm="it"' }).end();
      return true;
    }
    this.given.push(url);
    const { pathname, search } = new URL(url, 'https://x');
    if (pathname.includes('/info/lfs/')) void this.largeFiles(pathname, request, response);
    else if (pathname.startsWith('/git/'))
      void serveGit(this.folder.path, { pathname: pathname.slice('/git'.length), search }, request, response, () => undefined); // prettier-ignore
    else if (method === 'PUT') request.resume().once('end', () => response.writeHead(201).end('{}'));
    else {
      const [body, type = 'application/octet-stream'] = this.pages.get(decodeURIComponent(pathname)) ?? [];
      if (body === undefined) response.writeHead(404).end();
      else response.setHeader('content-type', type).end(body);
    }
    return true;
  }

  /** Git LFS: which files there are, and where each of them goes to and comes from. */
  private async largeFiles(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const name = path.split('/').at(-1) ?? '';
    const { headers, method } = request;
    if (method === 'PUT') {
      this.objects.set(name, await buffer(request));
      response.end();
    } else if (method === 'GET') response.end(this.objects.get(name));
    else if (name === 'batch') {
      const { operation, objects } = (await json(request)) as { operation: string; objects: { oid: string }[] };
      const header = this.sayBack ? { Authorization: headers.authorization } : undefined;
      const href = (oid: string) => `https://${headers.host}${path.replace(/batch$/, oid)}`;
      const actions = ({ oid }: { oid: string }) =>
        operation === 'upload' && this.objects.has(oid) ? {} : { [operation]: { href: href(oid), header } };
      const answers = objects.map((object) => ({ ...object, actions: actions(object) }));
      const type = 'application/vnd.git-lfs+json';
      response.writeHead(200, { 'content-type': type }).end(JSON.stringify({ transfer: 'basic', objects: answers }));
    } else {
      request.resume();
      response.writeHead(404).end();
    }
  }

  private fill(port: number): void {
    const at = (form: keyof typeof NAMES) => `https://${NAMES[form]}:${port}`;
    const put = (path: string, ...page: Page) => this.pages.set(path, page);
    put('/page', 'in\n');
    const npm = this.packed('npm', 'package/', {
      'package.json': '{"name":"@acme/lib","version":"1.2.3","main":"index.js"}',
      'index.js': "module.exports = 'of npm';\n",
    });
    const dist = {
      tarball: `${at('bearer')}/npm/@acme/lib/-/lib-1.2.3.tgz`,
      integrity: `sha512-${createHash('sha512').update(npm).digest('base64')}`,
      shasum: createHash('sha1').update(npm).digest('hex'),
    };
    const version = { name: '@acme/lib', version: '1.2.3', main: 'index.js', dist };
    const time = { '1.2.3': '2020-01-01T00:00:00Z' };
    const packument = { name: '@acme/lib', 'dist-tags': { latest: '1.2.3' }, versions: { '1.2.3': version }, time };
    put('/npm/@acme/lib', JSON.stringify(packument), 'application/json');
    put('/npm/@acme/lib/-/lib-1.2.3.tgz', npm);

    const wheel = this.packed('wheel', '', {
      'pad.py': "NAME = 'of pip'\n",
      'pad-1.2.3.dist-info/METADATA': 'Metadata-Version: 2.1\nName: pad\nVersion: 1.2.3\n',
      'pad-1.2.3.dist-info/WHEEL': 'Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
      'pad-1.2.3.dist-info/RECORD': '',
    });
    put('/simple/pad/', '<a href="/files/pad-1.2.3-py3-none-any.whl">pad-1.2.3-py3-none-any.whl</a>', 'text/html');
    put('/files/pad-1.2.3-py3-none-any.whl', wheel);

    const crate = this.packed('crate', 'pad-1.2.3/', {
      'Cargo.toml': '[package]\nname = "pad"\nversion = "1.2.3"\nedition = "2021"\n',
      'src/lib.rs': '// of cargo\n',
    });
    const cksum = createHash('sha256').update(crate).digest('hex');
    const line = { name: 'pad', vers: '1.2.3', deps: [], cksum, features: {}, yanked: false };
    for (const form of ['raw', 'bearer'] as const)
      put(`/cargo/${form}/config.json`, JSON.stringify({ dl: `${at(form)}/crates`, 'auth-required': true }));
    for (const form of ['raw', 'bearer']) put(`/cargo/${form}/3/p/pad`, JSON.stringify(line));
    put('/crates/pad/1.2.3/download', crate);

    const mod = 'module acme.test/pad\n';
    put('/go/acme.test/pad/@v/list', 'v1.2.3\n', 'text/plain');
    put('/go/acme.test/pad/@v/v1.2.3.info', '{"Version":"v1.2.3","Time":"2020-01-01T00:00:00Z"}', 'application/json');
    put('/go/acme.test/pad/@v/v1.2.3.mod', mod, 'text/plain');
    const module = { 'go.mod': mod, 'pad.go': 'package pad\n\nconst Name = "of go"\n' };
    put('/go/acme.test/pad/@v/v1.2.3.zip', this.packed('go', 'acme.test/pad@v1.2.3/', module));

    const pom = `<project><modelVersion>4.0.0</modelVersion><groupId>test.acme</groupId><artifactId>parent</artifactId><version>1.2.3</version><packaging>pom</packaging></project>`;
    put('/maven/test/acme/parent/1.2.3/parent-1.2.3.pom', pom, 'text/xml');
    put('/maven/test/acme/parent/1.2.3/parent-1.2.3.pom.sha1', createHash('sha1').update(pom).digest('hex'));

    const lib = this.folder.make('lib', { 'a.txt': 'of git\n' });
    const app = this.folder.make('app', { '.gitmodules': '[submodule "lib"]\n\tpath = lib\n\turl = ../lib\n' });
    mkdirSync(join(app, 'lib'));
    git(app, 'update-index', '--add', '--cacheinfo', `160000,${git(lib, 'rev-parse', 'HEAD')},lib`);
    this.folder.commit(app, 'With another one', { 'b.txt': 'b\n' });
    this.folder.make('large', { '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n' });
  }

  /** An archive with a folder around its files; a zip where those of its kind are. */
  private packed(kind: string, prefix: string, files: Record<string, string>): Buffer {
    const path = this.folder.make(kind, files);
    const target = join(this.folder.path, `${kind}.packed`);
    const format = ['wheel', 'go'].includes(kind) ? 'zip' : 'tar.gz';
    git(path, 'archive', `--format=${format}`, `--prefix=${prefix}`, '-o', target, 'HEAD^{tree}');
    return readFileSync(target);
  }
}
