// A service that knows a GitHub and a GitLab of our own, and how one finds one's way in the pages that use them.
import { type KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { WorkspacesService } from '../../src/access/workspaces/workspaces.service.js';
import { bootWorker, type TestApp } from './app.js';
import { makeMember } from './client.js';
import { CERTIFICATE } from './code-hosts/code-host.js';
import { FakeGitHub } from './code-hosts/github.js';
import { FakeGitLab } from './code-hosts/gitlab.js';
import { git } from './repositories.js';

export const TOKEN = 'canary-token-of-the-console-4713';
export const SETTINGS = '/console/settings?part=repositories';

/** All that the page keeps and shows, as a text. */
export const KEPT = `(async () => {
  const kept = [localStorage, sessionStorage, history.state].map((one) => JSON.stringify(one));
  kept.push(document.documentElement.outerHTML);
  for (const { name } of await indexedDB.databases()) {
    const db = await new Promise((done) => { const asked = indexedDB.open(name); asked.onsuccess = () => done(asked.result); });
    for (const store of db.objectStoreNames) {
      const asked = db.transaction(store).objectStore(store).getAll();
      kept.push(JSON.stringify(await new Promise((done) => { asked.onsuccess = () => done(asked.result); })));
    }
    db.close();
  }
  return kept.join(' ');
})()`;

export class Hosts {
  private workspaces = 0;

  private constructor(
    readonly github: FakeGitHub,
    readonly gitlab: FakeGitLab,
    private readonly folder: string,
  ) {}

  static async start(): Promise<Hosts> {
    const github = await FakeGitHub.start(TOKEN);
    const gitlab = await FakeGitLab.start('canary-token-of-gitlab-4714');
    const hosts = new Hosts(github, gitlab, mkdtempSync(join(tmpdir(), 'console-repositories-')));
    git(github.make('acme/api', { 'a.txt': 'one\n' }), 'branch', 'next', 'main');
    github.make('acme/web', { 'a.txt': 'one\n' });
    github.add('acme/read-only', { members: { acme: 'read' }, private: false });
    gitlab.make('acme/lab', { 'a.txt': 'one\n' });
    return hosts;
  }

  /** A service that trusts them, and has no credential. */
  boot(): Promise<TestApp> {
    const known = ({ name, kind, apiUrl }: FakeGitHub | FakeGitLab) => ({
      [name]: { kind, api: apiUrl, caFile: CERTIFICATE },
    });
    const repositories = { ...known(this.github), ...known(this.gitlab) };
    const config = { repositories, repositoryNetworks: ['127.0.0.1/32'] };
    writeFileSync(join(this.folder, 'config.json'), JSON.stringify(config));
    return bootWorker({ env: { CONFIG_FILE: join(this.folder, 'config.json') } });
  }

  addApp(publicKey: KeyObject): void {
    const more = { contents: 'write' as const, suspended: false };
    const installation = { id: 55, account: 'acme', repositories: ['acme/api'], ...more };
    this.github.apps.push({ id: 9, slug: 'helper', publicKey, installations: [installation] });
  }

  async newWorkspace(service: TestApp) {
    const n = ++this.workspaces;
    const about = { name: `Picked ${n}`, slug: `picked-${n}`, plan: 'paid' as const };
    const workspace = await service.app.get(WorkspacesService).create(about);
    return { workspace, owner: await makeMember(service, { workspace, role: 'owner' }) };
  }

  /** A workspace that is connected to the GitHub. */
  async connected(service: TestApp) {
    const made = await this.newWorkspace(service);
    const { status } = await made.owner.client.post('/v1/repository-connections', {
      ...{ host: this.github.name, token: TOKEN },
    });
    if (status !== 201) throw new Error(`The connection was answered with ${status}.`);
    return made;
  }

  async stop(): Promise<void> {
    await this.github.stop();
    await this.gitlab.stop();
    rmSync(this.folder, { recursive: true });
  }
}

export const repository = (page: Page) => page.getByRole('combobox', { name: 'Repository' });
export const branch = (page: Page) => page.getByRole('combobox', { name: 'Branch', exact: true });
/** Of the list that is open. */
export const options = (page: Page) => page.getByRole('listbox').filter({ visible: true }).locator('[role=option]');
export const option = (page: Page, text: string) => options(page).filter({ hasText: text });

/** Of the dialog that is open. */
export const field = (page: Page, name: string) => page.getByRole('dialog').getByLabel(name, { exact: true });
export const press = (page: Page, name: string) =>
  page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
/** Opens the form of a new connection, for a host that is not known by its name. */
export async function begin(page: Page, { name, apiUrl }: FakeGitHub): Promise<void> {
  await page.getByRole('button', { name: 'Connect', exact: true }).click();
  await press(page, 'Another');
  await field(page, 'Name of the host').fill(name);
  await field(page, 'Address of its API').fill(apiUrl);
}
