import { spawnSync } from 'node:child_process';
import { Logger } from '@nestjs/common';
import { findProgram } from '../../src/engine/sandbox/host.js';
import type { VaultBinding } from '../../src/engine/sandbox/network/vault.mjs';
import { Egress } from '../../src/platform/egress/egress.js';
import { NAMES, PrivateHosts, USER } from '../harness/private-hosts.js';
import { changeable, SandboxBench } from '../harness/sandboxes.js';
import { AuthorityFile, resolverOf } from '../harness/web-hosts.js';

const VALUE = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';
const PLACEHOLDER = `mwsec_${'aB3'.repeat(8)}`;

const inBase64 = (text: string) => Buffer.from(text).toString('base64').slice(4, -4);

interface Tool {
  /** Programs without which it is left out; Node, npm and a shell are always there. Yarn 4 is `@yarnpkg/cli-dist` by the name yarn-berry. */
  needs: string[];
  /** $BEARER, $BASIC and $RAW are the hosts, $TOKEN is the placeholder. */
  command: string;
  /** The last lines of its output. */
  prints: string;
  /** What the hosts have given it, among other things. */
  gets: string[];
}
const JAVA = `import java.io.*; import java.net.*; import java.net.http.*; class Main { public static void main(String[] a) throws Exception {
  String token = System.getenv("TOKEN");
  HttpRequest asked = HttpRequest.newBuilder(URI.create("https://" + System.getenv("BEARER") + "/page")).header("Authorization", "Bearer " + token).build();
  System.out.print(HttpClient.newHttpClient().send(asked, HttpResponse.BodyHandlers.ofString()).body());
  Authenticator me = new Authenticator() { protected PasswordAuthentication getPasswordAuthentication() { return new PasswordAuthentication("me", token.toCharArray()); } };
  HttpRequest other = HttpRequest.newBuilder(URI.create("https://" + System.getenv("BASIC") + "/page")).build();
  System.out.print(HttpClient.newBuilder().authenticator(me).build().send(other, HttpResponse.BodyHandlers.ofString()).body());
  Authenticator.setDefault(me);
  System.out.print(new String(other.uri().toURL().openStream().readAllBytes()));
} }`;
const NPMRC = `printf '@acme:registry=https://%s/npm/\\n//%s/npm/:_authToken=\${TOKEN}\\n' "$BEARER" "$BEARER" > .npmrc
  echo '{"name": "app", "version": "1.0.0", "license": "MIT"}' > package.json`;
const REQUIRED = 'node -p "require(\'@acme/lib\')"';
const PACKAGE = ['/npm/@acme/lib/-/lib-1.2.3.tgz'];
const NETRC = 'printf \'machine a.wild.test login me password %s\\n\' "$TOKEN" > ~/.netrc';
const LFS = (branch: string): Tool => ({
  needs: ['git', 'git-lfs'],
  command: `git lfs install --skip-repo >/dev/null
  git clone -q "https://me:$TOKEN@$BASIC/git/large" one; cd one; head -c 3000000 /dev/urandom > big.bin
  git add big.bin; git commit -qm big; git push -q origin HEAD:${branch} >log || cat log; cd ..
  git clone -q -b ${branch} "https://me:$TOKEN@$BASIC/git/large" two; cmp one/big.bin two/big.bin && echo same`,
  prints: 'same',
  gets: ['/git/large.git/info/lfs/objects/batch'],
});
const CRATES = (form: 'raw' | 'bearer', host: string) => `mkdir -p ~/.cargo src; echo > src/lib.rs
  printf '[package]\\nname = "app"\\nversion = "1.0.0"\\n[dependencies]\\npad = { version = "1", registry = "acme" }\\n' > Cargo.toml
  printf '[registries.acme]\\nindex = "sparse+https://%s/cargo/${form}/"\\n[registry]\\nglobal-credential-providers = ["cargo:token"]\\n' "${host}" > ~/.cargo/config.toml`;
const VENDORED = 'cargo vendor -q >/dev/null && cat vendor/pad/src/lib.rs';

const TOOLS: Record<string, Tool> = {
  'git clones with a submodule, pushes and fetches': {
    needs: ['git'],
    command: `git clone -q --recurse-submodules "https://me:$TOKEN@$BASIC/git/app" one; cat one/lib/a.txt
      git clone -q "https://me:$TOKEN@$BASIC/git/app" two
      cd one; echo more > more.txt; git add more.txt; git commit -qm more; git push -q origin HEAD:more
      cd ../two; git fetch -q; git log --format=%s -1 origin/more`,
    prints: 'of git\nmore',
    gets: ['/git/lib/git-upload-pack', '/git/app/git-receive-pack'],
  },
  'git reads .netrc, a store of credentials, an address in place of another, and a header': {
    needs: ['git'],
    command: `${NETRC}; git ls-remote "https://$BASIC/git/lib" HEAD | cut -f2; rm ~/.netrc
      git config --global credential.helper store; echo "https://me:$TOKEN@$BASIC" > ~/.git-credentials
      git ls-remote "https://$BASIC/git/lib" HEAD | cut -f2; rm ~/.git-credentials
      git config --global "url.https://me:$TOKEN@$BASIC/.insteadOf" https://code.test/
      git ls-remote https://code.test/git/lib HEAD | cut -f2
      git -c http.extraHeader="Authorization: Bearer $TOKEN" ls-remote "https://$BEARER/git/lib" HEAD | cut -f2`,
    prints: 'HEAD\nHEAD\nHEAD\nHEAD',
    gets: ['/git/lib/git-upload-pack'],
  },
  'Git LFS uploads and downloads': LFS('done'),
  'npm installs and publishes': {
    needs: [],
    command: `${NPMRC}; npm install --silent @acme/lib; ${REQUIRED}
      mkdir new; cd new; cp ../.npmrc .; echo '{"name": "@acme/new", "version": "1.0.0"}' > package.json; npm publish --silent && echo published`,
    prints: 'of npm\npublished',
    gets: [...PACKAGE, '/npm/@acme%2fnew'],
  },
  'pnpm installs': { needs: ['pnpm'], command: `${NPMRC}; mv .npmrc ~; pnpm add --silent @acme/lib; ${REQUIRED}`, prints: 'of npm', gets: PACKAGE }, // prettier-ignore
  'Yarn 1 installs': {
    needs: ['yarn'],
    command: `${NPMRC}; yarn add --silent @acme/lib; ${REQUIRED}`,
    prints: 'of npm',
    gets: PACKAGE,
  },
  'Yarn 4 installs': {
    needs: ['yarn-berry'],
    command: `${NPMRC}; rm .npmrc; touch yarn.lock; cat > .yarnrc.yml <<END
nodeLinker: node-modules
npmScopes: { acme: { npmRegistryServer: "https://$BEARER/npm", npmAuthToken: "\\\${TOKEN}" } }
END
      yarn-berry add @acme/lib >log || cat log; ${REQUIRED}`,
    prints: 'of npm',
    gets: ['/npm/@acme%2flib/-/lib-1.2.3.tgz'],
  },
  'pip installs from an index, and with .netrc': {
    needs: ['pip3'],
    command: `pip3 install -q --target one --index-url "https://me:$TOKEN@$BASIC/simple" pad; PYTHONPATH=one python3 -c 'import pad; print(pad.NAME)'
      ${NETRC}; pip3 install -q --target two --index-url "https://$BASIC/simple" pad; PYTHONPATH=two python3 -c 'import pad; print(pad.NAME)'`,
    prints: 'of pip\nof pip',
    gets: ['/files/pad-1.2.3-py3-none-any.whl'],
  },
  'pip of a virtual environment installs': {
    needs: ['python3', 'pip3'],
    command: `python3 -m venv env; printf '[global]\\nindex-url = https://me:%s@%s/simple\\n' "$TOKEN" "$BASIC" > env/pip.conf
      env/bin/pip install -q pad; env/bin/python -c 'import pad; print(pad.NAME)'`,
    prints: 'of pip',
    gets: ['/files/pad-1.2.3-py3-none-any.whl'],
  },
  'requests sends a header, a user, and what .netrc has': {
    needs: ['python3'],
    command: `${NETRC}; cat > ask.py <<'END'
import os, requests
token, bearer, basic = (os.environ[name] for name in ('TOKEN', 'BEARER', 'BASIC'))
print(requests.get(f'https://{bearer}/page', headers={'Authorization': 'Bearer ' + token}).text, end='')
print(requests.get(f'https://{basic}/page', auth=('me', token)).text, end='')
print(requests.get(f'https://{basic}/page').text, end='')
END
      python3 ask.py`,
    prints: 'in\nin\nin',
    gets: ['/page'],
  },
  'cargo takes a token from the environment': {
    needs: ['cargo', 'rustc'],
    command: `${CRATES('raw', '$RAW')}; CARGO_REGISTRIES_ACME_TOKEN=$TOKEN ${VENDORED}`,
    prints: '// of cargo',
    gets: ['/cargo/raw/config.json', '/crates/pad/1.2.3/download'],
  },
  'cargo takes a token from its file': {
    needs: ['cargo', 'rustc'],
    command: `${CRATES('bearer', '$BEARER')}; printf '[registries.acme]\\ntoken = "Bearer %s"\\n' "$TOKEN" > ~/.cargo/credentials.toml; ${VENDORED}`,
    prints: '// of cargo',
    gets: ['/cargo/bearer/config.json', '/crates/pad/1.2.3/download'],
  },
  'go gets a module from a proxy, by .netrc and by its address': {
    needs: ['go'],
    command: `export GONOSUMDB='*' GOFLAGS=-mod=mod; ${NETRC}; go mod init app 2>/dev/null
      printf 'package main\\nimport "acme.test/pad"\\nfunc main() { println(pad.Name) }\\n' > main.go
      GOPROXY="https://$BASIC/go" go mod tidy 2>log || cat log; rm ~/.netrc; go list -m all; go clean -modcache
      GOPROXY="https://me:$TOKEN@$BASIC/go" go mod download acme.test/pad && echo again`,
    prints: 'app\nacme.test/pad v1.2.3\nagain',
    gets: ['/go/acme.test/pad/@v/v1.2.3.zip'],
  },
  'Java asks with a header and with a password': {
    needs: ['javac'],
    command: `cat > Main.java <<'END'\n${JAVA}\nEND\njava Main.java 2>log || cat log`,
    prints: 'in\nin\nin',
    gets: ['/page'],
  },
  'Maven finds a parent project': {
    needs: ['mvn'],
    command: `mkdir -p ~/.m2; cat > ~/.m2/settings.xml <<'END'
<settings><servers><server><id>acme</id><username>me</username><password>\${env.TOKEN}</password></server></servers>
<mirrors><mirror><id>acme</id><mirrorOf>*</mirrorOf><url>https://\${env.BASIC}/maven</url></mirror></mirrors></settings>
END
      cat > pom.xml <<'END'
<project><modelVersion>4.0.0</modelVersion><parent><groupId>test.acme</groupId><artifactId>parent</artifactId><version>1.2.3</version><relativePath/></parent>
<artifactId>app</artifactId><packaging>pom</packaging></project>
END
      mvn -q -B validate >log 2>&1 && echo valid || cat log`,
    prints: 'valid',
    gets: ['/maven/test/acme/parent/1.2.3/parent-1.2.3.pom'],
  },
  'wget asks with a user, at once and when told to, and with .netrc': {
    needs: ['wget'],
    command: `wget -qO- --user=me --password="$TOKEN" --auth-no-challenge "https://$BASIC/page"
      wget -qO- --user=me --password="$TOKEN" "https://$BASIC/page"; ${NETRC}; wget -qO- "https://$BASIC/page"`,
    prints: 'in\nin\nin',
    gets: ['/page'],
  },
};

describe('Programs with a placeholder where they have a token (reference §24)', () => {
  const authority = new AuthorityFile();
  let server: Awaited<ReturnType<typeof PrivateHosts.start>>;
  let bench: SandboxBench;
  beforeAll(async () => {
    Logger.overrideLogger(['error', 'fatal']);
    server = await PrivateHosts.start(VALUE);
    const allowHosts = Object.values(NAMES).map((name) => `${name}:${server.port}`);
    const allowed = { allowHosts, allowNetworks: ['127.0.0.0/8'], caFile: authority.path };
    bench = new SandboxBench('namespaces', { network: 'allow', ...allowed, diskBytes: 2 ** 30 });
    const names = Object.fromEntries(Object.values(NAMES).map((name) => [name, ['127.0.0.1']]));
    bench.proxy.egress = new Egress(['127.0.0.0/8'], resolverOf(names).resolver);
  });
  afterAll(async () => {
    await bench.close();
    await server.stop();
    authority.remove();
  });

  /** Runs a command in a sandbox of its own. `left`: the files with one of these texts. */
  const run = async (command: string, texts = [VALUE, inBase64(`${USER}:${VALUE}`)]) => {
    const bindings = (['bearer', 'basic', 'raw'] as const).map((form): VaultBinding => {
      const place = { header: 'Authorization', form, user: null };
      return { host: NAMES[form], port: server.port, methods: null, paths: null, place };
    });
    const { given } = changeable([
      { name: 'TOKEN', env: 'TOKEN', placeholder: PLACEHOLDER, value: VALUE, approved: true, bindings },
    ]);
    const { session, workdir } = await bench.open(undefined, true, given);
    const at = (form: keyof typeof NAMES) => `${NAMES[form]}:${server.port}`;
    const env = { BEARER: at('bearer'), BASIC: at('basic'), RAW: at('raw') };
    const { stdout, stderr } = await session.run(command, { network: true, timeoutSeconds: 120, env });
    const folders = [workdir, `${workdir}.beside`];
    const search = texts.flatMap((text) => ['-e', text]);
    const left = spawnSync('grep', ['-rlF', ...search, ...folders], { encoding: 'utf8' }).stdout;
    await session.close();
    return { printed: stdout.trim() || stderr.trim(), said: stdout + stderr, left };
  };

  const trying = (name: string, { needs, command, prints, gets }: Tool) => {
    const missing = needs.filter((program) => findProgram(program) === null);
    if (missing.length > 0) process.stderr.write(`'${name}' is left out: ${missing.join(', ')} is not installed.\n`);
    (missing.length > 0 ? it.skip : it)(name, async () => {
      const before = server.hosts.given.length;
      const { printed, said, left } = await run(command);
      expect([printed, said, left]).toEqual([prints, expect.not.stringMatching(/\[secret|ghp_/), '']);
      expect(server.hosts.given.slice(before)).toEqual(expect.arrayContaining(gets));
    });
  };
  it('leave files that are looked through for it', async () => {
    const { left } = await run('echo "$TOKEN" > it; echo "$TOKEN" > ~/.netrc', [PLACEHOLDER]);
    expect(left.trim().split('\n')).toEqual([expect.stringMatching(/\/it$/), expect.stringMatching(/\/home\/.netrc$/)]);
  });
  for (const [name, tool] of Object.entries(TOOLS)) trying(name, tool);

  describe('when the host says back what it was sent', () => {
    beforeAll(() => void (server.hosts.sayBack = true));
    afterAll(() => void (server.hosts.sayBack = false));
    trying('Git LFS uploads and downloads', LFS('back'));
  });
});
