import { refusal } from '../../src/access/auth/scope.guard.js';
import { SCOPES, type Scope } from '../../src/platform/http/endpoint.js';
import { EndpointExplorer, type Route } from '../../src/platform/http/endpoint-explorer.js';
import { OpenApi } from '../../src/platform/http/openapi/openapi.js';
import { bootApp } from '../harness/app.js';
import type { Document } from '../harness/contract.js';
import { ENDPOINTS, type Row } from './endpoints.js';

const name = ({ method, path }: { method: string; path: string }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`;

describe('The endpoint table (reference §2)', () => {
  let routes: Map<string, Route>;
  let document: Document;
  let built: Row[];

  beforeAll(async () => {
    const service = await bootApp();
    routes = new Map(service.app.get(EndpointExplorer).routes.map((route) => [name(route), route]));
    document = JSON.parse(await service.app.get(OpenApi).text()) as Document;
    built = ENDPOINTS.filter((row) => row.builtBy === undefined || routes.has(name(row)));
    await service.close();
  });

  it('has every route of the code, and the code every row', () => {
    expect([...routes.keys()].sort()).toEqual(built.map(name).sort());
  });

  it('says what the code says: scopes, bucket, key, status, pages', () => {
    const ofCode = built.map((row) => {
      const route = routes.get(name(row));
      const { scopes, policy, idempotency = null, conditionalScopes = {} } = route?.contract ?? {};
      return { name: name(row), scopes, policy, key: idempotency, conditional: Object.keys(conditionalScopes), status: route?.status };
    }); // prettier-ignore
    const ofTable = built.map((row) => {
      const { scopes, policy, key, status, conditional } = row;
      return { name: name(row), scopes, policy, key, conditional: conditional === undefined ? [] : [conditional], status };
    }); // prettier-ignore
    expect(ofCode).toEqual(ofTable);
  });

  it('is the document: the same operations, alternatives of credentials, keys, pages and bodies', () => {
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
    );
    expect(operations.map(name).sort()).toEqual(built.map(name).sort());
    for (const row of built) {
      const operation = document.paths[row.path]?.[row.method.toLowerCase()];
      const parameter = (one: string) => operation?.parameters?.find((found) => found.name === one);
      expect([name(row), operation?.security]).toEqual([name(row), alternatives(row.scopes)]);
      expect(operation?.['x-conditional-scopes']?.map(({ scope }) => scope)).toEqual(row.conditional && [row.conditional]);
      expect(parameter('Idempotency-Key')?.required).toBe(row.key === null ? undefined : row.key === 'required');
      expect((parameter('limit')?.schema as { maximum?: number } | undefined)?.maximum).toBe(row.pages ?? row.limit);
      expect([name(row), parameter('cursor') !== undefined]).toEqual([name(row), row.pages !== undefined]);
      if (row.elsewhere === 'hooks') continue;
      const media = row.body === 'form' || row.body === 'skill' ? 'multipart/form-data' : row.body === undefined ? undefined : 'application/json';
      expect([name(row), Object.keys(operation?.requestBody?.content ?? {})]).toEqual([name(row), media ? [media] : []]);
    }
  }); // prettier-ignore

  it('the scope guard agrees with it for all 1,024 subsets of scopes, both kinds of key', () => {
    const subsets = Array.from({ length: 1024 }, (_, bits) => SCOPES.filter((_scope, i) => (bits & (1 << i)) !== 0));
    const wrong: string[] = [];
    for (const row of built) {
      const contract = routes.get(name(row))?.contract;
      if (contract === undefined) throw new Error(`${name(row)} is not in the code.`);
      for (const credentialType of ['personal_api_key', 'service'] as const) {
        for (const scopes of subsets) {
          const refused = refusal(contract, { role: 'owner', scopes, credentialType });
          const said = refused?.message.match(/[a-z]+:(read|write)/)?.[0];
          const right = mayUse(row.scopes, scopes, credentialType) ? refused === undefined : namesMissing(row.scopes, scopes, said);
          if (!right) wrong.push(`${name(row)} with ${scopes.join(' ')} as ${credentialType}`);
        }
      }
    }
    expect(wrong).toEqual([]);
  }); // prettier-ignore
});

function alternatives(scopes: Row['scopes']) {
  if (scopes === 'public') return [];
  if (scopes === 'personal' || scopes === 'administration') return [{ personalApiKey: [] }];
  const services = scopes === 'any' ? SCOPES.map((scope) => [scope]) : [scopes];
  return [{ personalApiKey: [] }, ...services.map((serviceId) => ({ serviceId }))];
}

function mayUse(needed: Row['scopes'], has: readonly Scope[], credential: 'personal_api_key' | 'service'): boolean {
  if (needed === 'public') return true;
  if (needed === 'any') return credential === 'personal_api_key' || has.length > 0;
  if (needed === 'personal') return credential === 'personal_api_key';
  if (needed === 'administration') return credential === 'personal_api_key' && has.length === SCOPES.length;
  return needed.every((scope) => has.includes(scope));
}

/** A refusal names a scope that the route needs and the key has not; that of a service key where none may, names none. */
function namesMissing(needed: Row['scopes'], has: readonly Scope[], said: string | undefined): boolean {
  if (needed === 'any' || needed === 'personal') return said === undefined;
  if (needed === 'administration') return said === undefined || !(has as readonly string[]).includes(said);
  return (needed as readonly string[]).includes(said ?? '') && !(has as readonly string[]).includes(said ?? '');
}
