import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Logger } from '@nestjs/common';
import { changeable, SandboxBench } from '../../../../test/harness/sandboxes.js';
import { AuthorityFile, resolverOf, WebHosts } from '../../../../test/harness/web-hosts.js';
import { Egress } from '../../../platform/egress/egress.js';
import { changedHeaders, SaidBack } from './said-back.mjs';

const VALUE = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';
const PLACEHOLDER = `mwsec_${'aB3'.repeat(8)}`;
const basic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

describe('A header that a host says back', () => {
  const had = basic('me', PLACEHOLDER);
  const sent = basic('me', VALUE);
  const shown = (...chunks: string[]) =>
    text(Readable.from(chunks.map((chunk) => Buffer.from(chunk))).pipe(new SaidBack({ had, sent })));

  it('is one that had a value put in behind a scheme', () => {
    const came = ['Accept', '*/*', 'Authorization', had, 'X-Key', PLACEHOLDER];
    const went = ['Accept', '*/*', 'Authorization', sent, 'X-Key', VALUE];
    expect(changedHeaders(came, went)).toEqual([{ had, sent }]);
  });

  it('becomes what the program had sent, wherever it is cut', async () => {
    const whole = `{"a": "${sent}", "b": "Basic", "c": "${sent}${sent}", "d": "${sent.slice(0, -1)}"}`;
    const expected = whole.replaceAll(sent, had);
    for (let at = 0; at <= whole.length; at++)
      expect([at, await shown(whole.slice(0, at), whole.slice(at))]).toEqual([at, expected]);
    expect(await shown(...whole)).toBe(expected);
    expect(await shown(sent.slice(0, 20))).toBe(sent.slice(0, 20));
  });

  it('can be sent again by a program that has read it in JSON; elsewhere it is masked', async () => {
    Logger.overrideLogger(['error', 'fatal']);
    const authority = new AuthorityFile();
    const hosts = await WebHosts.start(({ url, headers }, response) => {
      const said = headers.authorization ?? '';
      response.setHeader('content-type', url === '/lfs' ? 'application/vnd.git-lfs+json; charset=utf-8' : 'text/plain');
      response.writeHead(said === sent ? 200 : 401).write(JSON.stringify({ said }).slice(0, 30));
      response.end(JSON.stringify({ said, and: VALUE }).slice(30));
      return true;
    });
    const at = `a.wild.test:${hosts.https}`;
    const allowed = { allowHosts: [at], allowNetworks: ['127.0.0.0/8'], caFile: authority.path };
    const bench = new SandboxBench('namespaces', { network: 'allow', ...allowed });
    bench.proxy.egress = new Egress(['127.0.0.0/8'], resolverOf({ 'a.wild.test': ['127.0.0.1'] }).resolver);
    const place = { header: 'Authorization', form: 'basic', user: null } as const;
    const bindings = [{ host: 'a.wild.test', port: hosts.https, methods: null, paths: null, place }];
    const { given } = changeable([
      { name: 'TOKEN', env: 'TOKEN', placeholder: PLACEHOLDER, value: VALUE, approved: true, bindings },
    ]);
    const { session } = await bench.open(undefined, true, given);
    const { stdout } = await session.run(
      `curl -sS -u "me:$TOKEN" https://${at}/lfs >said; cat said; echo; cut -d '"' -f 4 said >header
      curl -sS -H "Authorization: $(cat header)" -w ' %{http_code}' https://${at}/lfs; echo
      curl -sS -u "me:$TOKEN" https://${at}/page`,
      { network: true },
    );
    await bench.close();
    await hosts.stop();
    authority.remove();
    const masked = JSON.stringify({ said: had, and: '[secret TOKEN]' });
    expect(stdout.split('\n')).toEqual([masked, `${masked} 200`, expect.stringMatching(/"Basic .*\[secret TOKEN\]/)]);
  });
});
