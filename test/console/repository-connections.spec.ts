import { generateKeyPairSync } from 'node:crypto';
import { useService } from '../harness/app.js';
import { looksWell } from '../harness/axe.js';
import { makeMember } from '../harness/client.js';
import {
  begin,
  field,
  Hosts,
  KEPT,
  option,
  press,
  repository,
  SETTINGS,
  TOKEN,
} from '../harness/console-repositories.js';
import { until } from '../harness/until.js';
import { describeInBrowser, useBrowser } from '../harness/walks.js';

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();

describeInBrowser('connections to hosts of repositories', () => {
  let hosts: Hosts;
  const service = useService(async () => {
    hosts = await Hosts.start();
    return hosts.boot();
  });
  beforeAll(() => hosts.addApp(publicKey));
  afterAll(() => hosts.stop());
  const browser = useBrowser();

  it('are connected, tested, changed, given another credential and deleted on a phone', async () => {
    const { owner } = await hosts.newWorkspace(service);
    const phone = { width: 390, height: 844 };
    const { page } = await browser.signedIn(service.url, owner.key.secret, SETTINGS, phone);
    await begin(page, hosts.github);
    await press(page, 'Connect');
    await field(page, 'Token').and(page.locator('[aria-invalid="true"]')).waitFor();
    await field(page, 'Token').fill('a-token-that-is-not-taken');
    await press(page, 'Connect');
    const row = page.getByRole('listitem', { name: hosts.github.name });
    await row.getByText('Failed').waitFor();
    await row.getByRole('button', { name: /^New credential/ }).click();
    await field(page, 'Token').fill(TOKEN);
    await press(page, 'Replace it');
    await row.getByText('as acme').waitFor();
    await row.getByRole('button', { name: /^Edit/ }).click();
    await press(page, 'Remove the tag **');
    await field(page, 'Repositories').fill('acme/*');
    await press(page, 'Remove the tag millwright/*');
    await press(page, 'Save');
    await row.getByText('none: it only reads').waitFor();
    await row.getByRole('button', { name: /^Test/ }).click();
    await page.getByText(`${hosts.github.name} answers: connected as acme.`).last().waitFor();
    expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);

    await page.goto('/console/new');
    await repository(page).click();
    await option(page, 'acme/web').click();
    await page.getByText('allows no branches').waitFor();
    expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    await page.goto(SETTINGS);
    await row.getByRole('button', { name: /^Delete/ }).click();
    await press(page, 'Delete');
    await page.getByText('Nothing is connected').waitFor();
  });

  it('are connected by a GitHub App, whose key is pasted or a file', async () => {
    const { owner } = await hosts.newWorkspace(service);
    const { page } = await browser.signedIn(service.url, owner.key.secret, SETTINGS);
    await begin(page, hosts.github);
    await press(page, 'A GitHub App');
    await field(page, 'App ID').fill('9');
    await field(page, 'Installation ID').fill('55');
    const key = field(page, 'Private key');
    expect(await key.getAttribute('type')).toBe('password');
    await page.locator('input[type=file]').setInputFiles({
      ...{ name: 'helper.pem', mimeType: 'application/x-pem-file', buffer: Buffer.from(PEM) },
    });
    await until('the file to be read', async () => (await key.inputValue()).includes('BEGIN RSA PRIVATE KEY'));
    // What is pasted into a field of one line loses its line breaks.
    await key.fill(PEM.replaceAll('\n', ' '));
    await press(page, 'Connect');
    await page.getByRole('listitem', { name: hosts.github.name }).getByText('GitHub App').waitFor();
    await page.getByText(/answers: connected as/).waitFor();
    expect(await page.evaluate<string>(KEPT)).not.toContain(PEM.slice(100, 140));
  });

  it('are only looked at by viewers and members', async () => {
    const { workspace } = await hosts.connected(service);
    for (const role of ['viewer', 'member'] as const) {
      const { key } = await makeMember(service, { workspace, role });
      const { page } = await browser.signedIn(service.url, key.secret, SETTINGS);
      await page.getByText('Owners and admins connect hosts').waitFor();
      await page.getByRole('listitem', { name: hosts.github.name }).waitFor();
      expect(await page.getByRole('button', { name: /^(Connect|Test|Edit|New credential|Delete)/ }).count()).toBe(0);
    }
  });

  it('are made with any personal key of an owner, as the API has it', async () => {
    const { workspace } = await hosts.newWorkspace(service);
    const owner = await makeMember(service, { workspace, role: 'owner', scopes: ['projects:read'] });
    const { page } = await browser.signedIn(service.url, owner.key.secret, SETTINGS);
    await page.getByText('Nothing is connected').waitFor();
    await begin(page, hosts.github);
    await field(page, 'Token').fill(TOKEN);
    await press(page, 'Connect');
    await page.getByText(`${hosts.github.name} answers: connected as acme.`).waitFor();
  });

  it('look well in both themes, on a desk and on a phone', async () => {
    const { owner } = await hosts.connected(service);
    await looksWell(
      browser,
      { url: service.url, secret: owner.key.secret, path: SETTINGS },
      {
        list: (page) => page.getByRole('listitem', { name: hosts.github.name }).waitFor(),
        connect: (page) => begin(page, hosts.github),
        app: async (page) => {
          await begin(page, hosts.github);
          await press(page, 'A GitHub App');
        },
        edit: async (page) => page.getByRole('button', { name: /^Edit/ }).click(),
      },
    );
  });
});
