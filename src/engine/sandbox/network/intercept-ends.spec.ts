import { Logger } from '@nestjs/common';
import { changeable, type Opened, SandboxBench } from '../../../../test/harness/sandboxes.js';
import { AuthorityFile, resolverOf, WebHosts } from '../../../../test/harness/web-hosts.js';
import { Egress } from '../../../platform/egress/egress.js';

/** Asks twice over one connection; in between it waits until that is over, when it is told to. */
const ASK = `import http.client, os, select, sys
asking = http.client.HTTPSConnection('127.0.0.1', 61080, timeout=20)
asking.set_tunnel('allowed.test', int(os.environ['PORT']))
head = {'Authorization': 'Bearer ' + os.environ['TOKEN']}
asking.request('GET', sys.argv[1], headers=head)
print(asking.getresponse().read().decode())
if 'wait' in sys.argv:
    sys.exit('ended' if select.select([asking.sock], [], [], 20)[0] and asking.sock.recv(1) == b'' else 'open')
try:
    asking.request('POST', '/end', body='x', headers=head)
    print(asking.getresponse().status)
except OSError as error:
    print(type(error).__name__)
`;

describe('A connection to a host of a secret', () => {
  const authority = new AuthorityFile();
  let hosts: WebHosts;
  let bench: SandboxBench;
  let task: Opened;
  beforeAll(async () => {
    Logger.overrideLogger(['error', 'fatal']);
    hosts = await WebHosts.start(({ url, socket, method }, response) => {
      if (method === 'POST') socket.destroy();
      else if (url === '/last') response.end('last', () => socket.end());
      else response.end('first');
      return true;
    });
    const allowHosts = [`allowed.test:${hosts.https}`];
    const allowed = { allowHosts, allowNetworks: ['127.0.0.0/8'], caFile: authority.path };
    bench = new SandboxBench('namespaces', { network: 'allow', ...allowed });
    bench.proxy.egress = new Egress(['127.0.0.0/8'], resolverOf({ 'allowed.test': ['127.0.0.1'] }).resolver);
    const place = { header: 'Authorization', form: 'bearer', user: null } as const;
    const bindings = [{ host: 'allowed.test', port: hosts.https, methods: null, paths: null, place }];
    const placeholder = `mwsec_${'aB3'.repeat(8)}`;
    const { given } = changeable([
      { name: 'TOKEN', env: 'TOKEN', placeholder, value: 'the-value-of-it', approved: true, bindings },
    ]);
    task = await bench.open(undefined, true, given);
    await task.session.writeFile('ask.py', ASK);
  });
  afterAll(async () => {
    await bench.close();
    await hosts.stop();
    authority.remove();
  });
  const ask = async (...words: string[]) => {
    const env = { PORT: String(hosts.https) };
    const { stdout, stderr } = await task.session.run(`python3 ask.py ${words.join(' ')}`, { network: true, env });
    return stdout
      .trim()
      .split('\n')
      .concat(stderr === '' ? [] : stderr);
  };

  it('is over inside when the host ends it between two requests', async () => {
    expect(await ask('/last', 'wait')).toEqual(['last', 'ended\n']);
  });

  it('is over inside, without an answer, when the host ends it under the second request', async () => {
    expect(await ask('/first')).toEqual(['first', 'RemoteDisconnected']);
  });
});
