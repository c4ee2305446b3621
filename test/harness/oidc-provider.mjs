// A real OpenID Connect provider as a process of its own (oidc-provider), with its own pages: whoever gives a name is that person. The port and the
// origin of the service are in its arguments; it says `ready` when it listens.
import Provider from 'oidc-provider';

const [port, service, ...ids] = process.argv.slice(2);
const issuer = `http://127.0.0.1:${port}`;

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: 'millwright',
      client_secret: ids[0],
      redirect_uris: [`${service}/console/sign-in/callback`],
      post_logout_redirect_uris: [`${service}/console/`],
      response_types: ['code'],
      grant_types: ['authorization_code'],
    },
  ],
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
  cookies: { keys: ['of the provider of a test'] },
  pkce: { required: () => true },
  findAccount: (_context, id) => ({
    accountId: id,
    claims: () => ({ sub: id, name: id, email: `${id}@acme.example`, email_verified: true, groups: ['eng'] }),
  }),
});
provider.listen(Number(port), '127.0.0.1', () => console.log('ready'));
