import { Controller, Get, Header } from '@nestjs/common';
import { z } from 'zod';
import { Endpoint } from '../../platform/http/endpoint.js';
import { named } from '../../platform/http/schema.js';
import { SigningKeys, thumbprintOf } from './signing-keys.js';

const keySetSchema = named(
  'SigningKeySet',
  z.strictObject({
    keys: z.array(
      z.strictObject({
        kty: z.literal('OKP'),
        crv: z.literal('Ed25519'),
        x: z.string().describe('The public key: base64url of 32 bytes.'),
        kid: z.string().describe('Its thumbprint (RFC 7638), by which a proof names it.'),
        use: z.literal('sig'),
        alg: z.literal('EdDSA'),
      }),
    ),
  }),
  { description: 'A JWK Set (RFC 7517): the one that signs first, then the earlier ones.' },
);

@Controller('.well-known')
export class KeySetController {
  constructor(private readonly keys: SigningKeys) {}

  @Get('millwright.jwks.json')
  @Header('Cache-Control', 'public, max-age=300')
  @Endpoint({
    summary: 'Read the keys that proofs are signed with',
    description: 'Earlier ones stay: a proof of theirs can be verified for ever.',
    policy: null,
    scopes: 'public',
    answer: keySetSchema,
  })
  async read(): Promise<z.output<typeof keySetSchema>> {
    return { keys: (await this.keys.all()).map(({ publicKey }) => jwkOf(publicKey)) };
  }
}

const jwkOf = (publicKey: string) => ({
  kty: 'OKP' as const,
  crv: 'Ed25519' as const,
  x: publicKey,
  kid: thumbprintOf(publicKey),
  use: 'sig' as const,
  alg: 'EdDSA' as const,
});
