// An OpenID Connect provider that says what a test wants (oauth2-mock-server), on this machine.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OAuth2Issuer, OAuth2Service } from 'oauth2-mock-server';

/** The client that the service is at the provider. */
export const CLIENT = { id: 'millwright', secret: 'the secret of the client, for tests alone' };
/** The variable that CONFIG_FILE names. */
export const SECRET_ENV = { SIGN_IN_SECRET: CLIENT.secret };

type Claims = Record<string, unknown>;

/** Ada, as the provider knows her. */
export const ADA: Claims = {
  sub: 'ada-1',
  name: 'Ada Lovelace',
  email: 'ada@acme.example',
  email_verified: true,
  groups: ['eng'],
};

export class MockProvider {
  /** Of the person who signs in next; undefined leaves one out. */
  claims: Claims = ADA;
  /** Changes an answer of the token endpoint before it is sent. */
  tamper: (body: Claims, nonce: string) => unknown = () => undefined;
  /** Changes claims of both tokens before they are signed. */
  lie: (payload: Claims) => unknown = () => undefined;
  /** Over those of its description. */
  metadata: Claims = {};
  /** What the userinfo endpoint says. */
  userinfo: Claims = {};
  /** The status of the token endpoint. */
  tokenStatus = 200;
  /** What came in the address of the authorization endpoint last. */
  asked: URLSearchParams = new URLSearchParams();
  private server: Server | undefined;

  private constructor(
    readonly issuer: OAuth2Issuer,
    readonly service: OAuth2Service,
  ) {}

  static async listen(): Promise<MockProvider> {
    const issuer = new OAuth2Issuer();
    await issuer.keys.generate('RS256');
    const service = new OAuth2Service(issuer);
    const provider = new MockProvider(issuer, service);
    await provider.open(0);
    return provider;
  }

  get url(): string {
    return this.issuer.url ?? '';
  }

  /** Answers again after {@link close}, at the same address. */
  reopen(): Promise<void> {
    return this.open(Number(new URL(this.url).port));
  }

  async close(): Promise<void> {
    const { server } = this;
    server?.closeAllConnections();
    await new Promise((resolve) => server?.close(resolve));
  }

  /** As it was in the beginning. */
  reset(): void {
    Object.assign(this, { claims: ADA, metadata: {}, userinfo: {}, tokenStatus: 200 });
    Object.assign(this, { tamper: () => undefined, lie: () => undefined });
  }

  private async open(port: number): Promise<void> {
    const server = createServer((req, res) => this.answer(req, res));
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    this.server = server;
    if (port !== 0) return;
    this.issuer.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    this.service.on('beforeTokenSigning', ({ payload }: { payload: Claims }) => {
      Object.assign(payload, this.claims);
      this.lie(payload);
    });
    this.service.on('beforeResponse', (response: { body: Claims; statusCode: number }) => {
      response.statusCode = this.tokenStatus;
      const token = String(response.body['id_token']).split('.')[1] ?? '';
      const { nonce } = JSON.parse(Buffer.from(token, 'base64url').toString()) as { nonce: string };
      this.tamper(response.body, nonce);
    });
    this.service.on('beforeUserinfo', (response: { body: Claims }) => {
      response.body = { sub: this.claims['sub'], ...this.userinfo };
    });
  }

  private answer(req: IncomingMessage, res: ServerResponse): void {
    const { pathname, searchParams } = new URL(req.url ?? '/', this.url);
    if (pathname === '/authorize') this.asked = searchParams;
    if (pathname !== '/.well-known/openid-configuration') {
      this.service.requestHandler(req, res);
      return;
    }
    const at = (path: string) => `${this.url}${path}`;
    const description = {
      issuer: this.url,
      authorization_endpoint: at('/authorize'),
      token_endpoint: at('/token'),
      userinfo_endpoint: at('/userinfo'),
      jwks_uri: at('/jwks'),
      end_session_endpoint: at('/endsession'),
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      token_endpoint_auth_methods_supported: ['client_secret_basic'],
      code_challenge_methods_supported: ['S256'],
      ...this.metadata,
    };
    res.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(description));
  }
}

/** `signIn` of CONFIG_FILE for a provider, with one rule for `acme` unless others are given. */
export function signInBy({ url }: { url: string }, more: object = {}) {
  return {
    issuer: url,
    clientId: CLIENT.id,
    clientSecretEnv: 'SIGN_IN_SECRET',
    workspaces: [{ slug: 'acme', when: { groups: ['eng'] }, role: 'member' as const }],
    ...more,
  };
}
