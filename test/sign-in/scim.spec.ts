// A company's directory keeps the members of a workspace: its people (reference §31, RFC 7643, RFC 7644).
import { useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { bootWithRules, Company, type Directory, type ScimBody, USER } from '../harness/scim.js';
import { createTask, readTask } from '../harness/tasks.js';

describe('A directory and its people (reference §31)', () => {
  const service = useService(bootWithRules);
  let acme: Company;
  let owner: Member;
  let directory: Directory;
  beforeAll(async () => {
    acme = await Company.make(service, 'acme');
    ({ owner, directory } = acme);
  });
  const members = () => acme.members();
  const address = (domain?: string) => Company.address(domain);

  it('makes an account and a member of a person, and finds the account that is there', async () => {
    const email = address();
    const given = {
      schemas: [USER],
      userName: email,
      externalId: '00u1',
      name: { givenName: 'Ada', familyName: 'Byron' },
      emails: [{ primary: true, value: email, type: 'work' }],
      password: 'never kept',
      active: true,
    };
    const { status, headers, body } = await directory.send('POST', 'Users', given);
    expect(status).toBe(201);
    expect(headers.get('content-type')).toMatch(/^application\/scim\+json/);
    expect(body).toMatchObject({ userName: email, externalId: '00u1', active: true, name: given.name });
    expect(body.meta.location).toBe(`${service.url}/scim/v2/Users/${body.id}`);
    expect(JSON.stringify(body)).not.toContain('never kept');
    expect((await members())[email]).toBe('member');
    const [stored] = await service.db.query<{ told: object }>('SELECT told FROM scim_users WHERE id = $1', [body.id]);
    expect(JSON.stringify(stored)).not.toContain('never kept');

    const other = await Company.make(service, 'other');
    await other.directory.add(email);
    const accounts = await service.db.query('SELECT 1 FROM users WHERE email = $1', [email]);
    expect(accounts).toHaveLength(1);
  });

  it('is told 409 of one that it has told of, and 400 of one without an address', async () => {
    const email = address();
    await directory.add(email);
    const again = await directory.send('POST', 'Users', { schemas: [USER], userName: email.toUpperCase() });
    expect(again).toMatchObject({ status: 409, body: { status: '409', scimType: 'uniqueness' } });
    const nowhere = await directory.send('POST', 'Users', { schemas: [USER], userName: 'nobody' });
    expect(nowhere).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
    expect(await service.db.query(`SELECT 1 FROM scim_users WHERE user_name = 'nobody'`)).toEqual([]);
  });

  it('finds them by name, by its own id and by other comparisons, in pages', async () => {
    const [first, second] = [address('pages.example'), address('pages.example')];
    await directory.add(first, { externalId: 'ext-1', displayName: 'First' });
    await directory.add(second, { externalId: 'ext-2', displayName: 'Second' });
    const found = async (filter: string, more = '') => {
      const { status, body } = await directory.send('GET', `Users?filter=${encodeURIComponent(filter)}${more}`);
      expect(status).toBe(200);
      return body.Resources.map(({ userName }) => userName);
    };
    expect(await found(`userName eq "${first.toUpperCase()}"`)).toEqual([first]);
    expect(await found('externalId eq "ext-2"')).toEqual([second]);
    expect(await found('userName ew "@pages.example"')).toEqual([first, second]);
    expect(await found('userName ew "@pages.example"', '&startIndex=2&count=1')).toEqual([second]);
    expect(await found('userName eq "nobody@acme.example"')).toEqual([]);
    const { body } = await directory.send('GET', 'Users?count=0');
    expect(body).toMatchObject({ itemsPerPage: 0, Resources: [] });
    expect(body.totalResults).toBeGreaterThan(1);
    expect((await directory.send('GET', 'Users?filter=userName')).status).toBe(400);
  });

  it.each([
    ['Okta: replace without a path', [{ op: 'replace', value: { active: false } }]],
    ['Entra: Replace, and a text', [{ op: 'Replace', path: 'active', value: 'False' }]],
    ['Entra with the flag', [{ op: 'Replace', path: 'active', value: false }]],
    ['with its schema', [{ op: 'replace', path: `${USER}:active`, value: false }]],
  ])('ends a membership within the request, as %s', async (_way, operations) => {
    const email = address();
    const id = await directory.add(email);
    const answer = await directory.patch(`Users/${id}`, ...operations);
    expect(answer).toMatchObject({ status: 200, body: { active: false } });
    expect(await members()).not.toHaveProperty([email]);
    expect((await directory.patch(`Users/${id}`, { op: 'Replace', path: 'active', value: 'True' })).body.active).toBe(
      true,
    );
    expect((await members())[email]).toBe('member');
  });

  it('and a removed person: keys and tasks are over when the request is answered', async () => {
    const gone = await makeMember(service, { workspace: owner.workspace });
    const id = await directory.add(gone.user.email, {});
    const task = await createTask(gone.client, { content: 'Wait.' });
    expect((await gone.client.get('/v1/auth/context')).status).toBe(200);
    expect((await directory.patch(`Users/${id}`, { op: 'replace', value: { active: false } })).status).toBe(200);
    expect((await gone.client.get('/v1/auth/context')).status).toBe(401);
    expect((await readTask(owner.client, task.id)).status).toBe('cancelled');
  });

  it('takes what Entra and Okta change, in their spelling', async () => {
    const id = await directory.add(address(), {
      name: { givenName: 'A' },
      emails: [{ type: 'work', value: 'a@acme.example' }],
    });
    const changed = async (...operations: object[]): Promise<ScimBody> => {
      const { status, body } = await directory.patch(`Users/${id}`, ...operations);
      expect([status, body['detail']]).toEqual([200, undefined]);
      return body;
    };
    expect(
      await changed({ op: 'Replace', path: 'emails[type eq "work"].value', value: 'n@acme.example' }),
    ).toMatchObject({
      emails: [{ type: 'work', value: 'n@acme.example' }],
    });
    expect(await changed({ op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '123' })).toMatchObject({
      phoneNumbers: [{ type: 'mobile', value: '123' }],
    });
    expect(await changed({ op: 'Add', value: { 'name.familyName': 'Z', displayName: 'A Z' } })).toMatchObject({
      name: { givenName: 'A', familyName: 'Z' },
      displayName: 'A Z',
    });
    const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
    expect(await changed({ op: 'Add', path: `${ENTERPRISE}:department`, value: 'Tools' })).toMatchObject({
      [ENTERPRISE]: { department: 'Tools' },
    });
    expect(await changed({ op: 'replace', value: { id, displayName: 'Ada' } })).toMatchObject({
      id,
      displayName: 'Ada',
    });
    const unknown = await directory.patch(`Users/${id}`, { op: 'replace', path: 'shoeSize', value: '41' });
    expect(unknown).toMatchObject({ status: 400, body: { scimType: 'invalidPath' } });
  });

  it('replaces all of one, and is told 404 of one of another workspace', async () => {
    const id = await directory.add(address(), { displayName: 'Before', title: 'Dr' });
    const email = address();
    const whole = { schemas: [USER], userName: email, active: true, displayName: 'After' };
    expect(await directory.send('PUT', `Users/${id}`, whole)).toMatchObject({
      status: 200,
      body: { displayName: 'After' },
    });
    const { body } = await directory.send('GET', `Users/${id}`);
    expect(body).not.toHaveProperty('title');
    const { directory: stranger } = await Company.make(service, 'strangers');
    for (const [method, given] of [
      ['GET', undefined],
      ['PUT', whole],
      ['DELETE', undefined],
    ] as const) {
      expect((await stranger.send(method, `Users/${id}`, given)).status).toBe(404);
    }
    expect((await stranger.patch(`Users/${id}`, { op: 'replace', value: { active: false } })).status).toBe(404);
    expect((await stranger.send('GET', 'Users')).body.totalResults).toBe(0);
  });

  it('forgets one, whose membership ends', async () => {
    const email = address();
    const id = await directory.add(email);
    expect((await directory.send('DELETE', `Users/${id}`)).status).toBe(204);
    expect((await directory.send('GET', `Users/${id}`)).status).toBe(404);
    expect(await members()).not.toHaveProperty([email]);
    expect((await directory.send('DELETE', `Users/${id}`)).status).toBe(404);
    expect(await directory.add(email)).not.toBe(id);
  });

  it('does not end the last owner', async () => {
    const id = await directory.add(owner.user.email);
    const refused = await directory.patch(`Users/${id}`, { op: 'replace', value: { active: false } });
    expect(refused).toMatchObject({ status: 409, body: { scimType: 'mutability' } });
    expect((await members())[owner.user.email]).toBe('owner');
  });
});
