import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Millwright } from '@millwright/sdk';
import { bootApp, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { Command } from '../harness/command.js';

const MW = fileURLToPath(new URL('../../packages/cli/bin.js', import.meta.url));

describe('Pages of the web, to clients (reference §27)', () => {
  const serving = (web?: { hosts: string[] }) => {
    const service = useService(() => bootApp({ config: { web } }));
    const of = { service } as { service: typeof service; member: Member };
    beforeAll(async () => void (of.member = await makeMember(service)));
    return of;
  };
  const sdk = ({ service, member }: ReturnType<typeof serving>) =>
    new Millwright({ apiKey: member.key.secret, baseUrl: service.url });
  const mw = async ({ service, member }: ReturnType<typeof serving>, ...args: string[]) => {
    const env = { PATH: process.env['PATH'], MILLWRIGHT_URL: service.url, MILLWRIGHT_API_KEY: member.key.secret };
    const command = new Command(spawn(process.execPath, [MW, ...args], { env }));
    command.child.stdin?.end();
    return { code: await command.code(), out: command.out };
  };

  describe('where agents may read some', () => {
    const of = serving({ hosts: ['docs.python.org', '*'] });

    it('the API says which, with a key of any scope', async () => {
      const { client } = await makeMember(of.service, { scopes: ['billing:read'] });
      const { status, body } = await client.get('/v1/web');
      expect([status, body]).toEqual([200, { web: { hosts: ['docs.python.org', '*'], urls: 'seen' } }]);
      expect(await sdk(of).web.read()).toEqual(body['web']);
    });

    it('the command takes them from a task with --no-web', async () => {
      const has = async (...more: string[]) => {
        const { code, out } = await mw(of, 'run', 'Go on.', '--detach', '--json', ...more);
        expect(code).toBe(0);
        return (JSON.parse(out) as { web: boolean }).web;
      };
      expect([await has(), await has('--no-web')]).toEqual([true, false]);
    });

    it('the SDK takes them from a task, and gives them to an automation or not', async () => {
      const { tasks, automations } = sdk(of);
      expect((await tasks.create({ content: 'Go on.', web: false })).web).toBe(false);
      const made = { name: 'Daily', content: 'Go on.', cron: '0 9 * * *', timezone: 'UTC' };
      const { id, web } = await automations.create({ ...made, web: false });
      expect([web, (await automations.update(id, { web: null })).web]).toEqual([false, null]);
    });
  });

  describe('where the operator says nothing of them', () => {
    const of = serving();
    it('the API says null', async () => {
      expect(await sdk(of).web.read()).toBeNull();
    });
  });
});
