import { useService } from '../harness/app.js';
import { type ErrorBody, makeMember } from '../harness/client.js';

// With a payment provider: test/payment.
describe('Payment without a payment provider (reference §14)', () => {
  const service = useService();

  it.each([
    ['checkout', { plan: 'paid' }],
    ['checkout', { topUp: '10.00', successUrl: 'https://a.example/', cancelUrl: 'https://a.example/' }],
    ['portal', undefined],
    ['portal', { returnUrl: 'https://a.example/' }],
  ])('%s with %j is 409, and no act', async (path, json) => {
    const { client, workspace } = await makeMember(service, { role: 'owner' });
    const { status, body } = await client.post<ErrorBody>(`/v1/billing/${path}`, json);
    expect([status, body.error.code, body.error.retryable]).toEqual([409, 'no_payment_provider', false]);
    const acts = await service.db.query(`SELECT 1 FROM audit_log WHERE workspace_id = $1 AND action LIKE 'billing.%'`, [workspace.id]);
    expect(acts).toEqual([]);
  }); // prettier-ignore

  it('the summary offers nothing, and there is no address for events', async () => {
    const { client } = await makeMember(service, { role: 'owner' });
    expect((await client.get('/v1/billing/summary')).body).not.toHaveProperty('offers');
    expect((await client.post('/hooks/billing/stripe', {})).status).toBe(404);
  });

  it('members and viewers do not pay', async () => {
    for (const role of ['member', 'viewer'] as const) {
      const { client } = await makeMember(service, { role });
      const { status, body } = await client.post<ErrorBody>('/v1/billing/checkout', { plan: 'paid' });
      expect([role, status, body.error.code]).toEqual([role, 403, 'role_not_allowed']);
    }
  });
});
