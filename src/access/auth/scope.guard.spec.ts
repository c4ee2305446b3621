import { type Scope, SCOPES } from '../../platform/http/endpoint.js';
import { refusal } from './scope.guard.js';
import type { Role } from './auth-context.js';

const SUBSETS: Scope[][] = Array.from({ length: 2 ** SCOPES.length }, (_, bits) =>
  SCOPES.filter((_scope, i) => bits & (1 << i)),
);
const ROLES: Role[] = ['owner', 'admin', 'member', 'viewer'];

describe('refusal', () => {
  // One or two scopes are what routes ask for; with every subset of the ten that a key may have.
  const routes = SCOPES.flatMap((a, i) => [[a], ...SCOPES.slice(i + 1).map((b) => [a, b])]);

  it('lets in exactly those who have all scopes, and viewers only where nothing is written', () => {
    for (const scopes of routes) {
      const writing = scopes.some((scope) => scope.endsWith(':write'));
      for (const given of SUBSETS) {
        const missing = scopes.filter((scope) => !given.includes(scope));
        for (const role of ROLES) {
          const caller = { role, scopes: given, credentialType: 'personal_api_key' as const };
          const code = refusal({ policy: 'resource_read', scopes }, caller)?.code;
          const viewerWrites = role === 'viewer' && writing ? 'role_not_allowed' : undefined;
          if (code !== (missing.length > 0 ? 'missing_scope' : viewerWrites)) {
            throw new Error(`${scopes.join()} asked, ${given.join()} given, ${role}: ${code}`);
          }
        }
      }
    }
  });
  it('names the first missing scope', () => {
    const caller = { role: 'owner' as const, scopes: [SCOPES[0]], credentialType: 'personal_api_key' as const };
    const refused = refusal(
      { policy: 'resource_read', scopes: ['projects:read', 'files:read', 'files:write'] },
      caller,
    );
    expect(refused?.message).toContain('files:read');
  });
  it('any: a personal key always, a service key with any scope', () => {
    const contract = { policy: 'metadata_read', scopes: 'any' } as const;
    for (const scopes of SUBSETS) {
      const caller = { role: 'viewer' as const, scopes };
      expect(refusal(contract, { ...caller, credentialType: 'personal_api_key' })).toBeUndefined();
      const service = refusal(contract, { ...caller, credentialType: 'service' });
      expect(service?.code).toBe(scopes.length === 0 ? 'missing_scope' : undefined);
    }
  });
});
