import { ScimTokens } from '../../src/access/provisioning/scim-tokens.js';
import { WorkspacesService } from '../../src/access/workspaces/workspaces.service.js';
import { bootApp, type TestApp } from './app.js';
import { makeMember, type Member } from './client.js';
import { listMembers } from './members.js';
import { SECRET_ENV, signInBy } from './mock-provider.js';

export const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
export const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';

/** What answers have, each some of it. */
export interface ScimBody {
  [attribute: string]: unknown;
  id: string;
  userName: string;
  active: boolean;
  meta: { location: string };
  groups: { value: string; display: string }[];
  members: { value: string }[];
  Resources: ScimBody[];
  totalResults: number;
  name: unknown;
}

export interface Reply {
  status: number;
  headers: Headers;
  body: ScimBody;
}

const RULES = [
  { slug: 'acme', when: { groups: ['Admins'] }, role: 'admin' as const },
  { slug: 'acme', when: { groups: ['Guests'] }, role: 'viewer' as const },
  { slug: 'acme', when: { emailDomains: ['partner.example'] }, role: 'viewer' as const },
];
// Nobody signs in there: the rules are what is looked at.
const PROVIDER = { url: 'http://127.0.0.1:9' };

export const bootWithRules = (): Promise<TestApp> =>
  bootApp({ env: SECRET_ENV, config: { signIn: signInBy(PROVIDER, { workspaces: RULES }) } });

/** A workspace that a directory keeps. */
export class Company {
  private static count = 0;

  private constructor(
    readonly owner: Member,
    readonly directory: Directory,
  ) {}

  static async make(service: TestApp, slug: string): Promise<Company> {
    const { id } = await service.app.get(WorkspacesService).create({ name: slug, slug, plan: 'paid' });
    const owner = await makeMember(service, { workspace: { id, slug }, role: 'owner' });
    const { secret } = await service.app.get(ScimTokens, { strict: false }).create(id);
    return new Company(owner, new Directory(service, secret));
  }

  /** Roles, by address. */
  async members(): Promise<Record<string, string>> {
    const all = await listMembers(this.owner.client);
    return Object.fromEntries(all.map(({ email, role }) => [String(email), role]));
  }

  /** One that nobody has. */
  static address(domain = 'acme.example'): string {
    return `person-${(Company.count += 1)}@${domain}`;
  }
}

/** A company's directory, which speaks SCIM with a token. */
export class Directory {
  constructor(
    private readonly service: TestApp,
    readonly token: string,
  ) {}

  async send(method: string, path: string, body?: unknown, type = 'application/scim+json'): Promise<Reply> {
    const response = await fetch(`${this.service.url}/scim/v2/${path}`, {
      method,
      headers: { authorization: `Bearer ${this.token}`, ...(body !== undefined && { 'content-type': type }) },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: JSON.parse(text === '' ? '{}' : text) as ScimBody,
    };
  }

  patch(path: string, ...operations: object[]): Promise<Reply> {
    return this.send('PATCH', path, { schemas: [PATCH], Operations: operations });
  }

  async add(userName: string, more: object = {}): Promise<string> {
    const { status, body } = await this.send('POST', 'Users', { schemas: [USER], userName, active: true, ...more });
    if (status !== 201) throw new Error(JSON.stringify(body));
    return body.id;
  }

  async group(displayName: string, ...members: string[]): Promise<string> {
    const given = { schemas: [GROUP], displayName, members: members.map((value) => ({ value })) };
    const { status, body } = await this.send('POST', 'Groups', given);
    if (status !== 201) throw new Error(JSON.stringify(body));
    return body.id;
  }
}
