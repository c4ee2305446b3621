// The envelope of a proof: DSSE 1.0.2 of the Secure Systems Lab.
import { z } from 'zod';
import { named } from '../../platform/http/schema.js';
import type { Signer } from './signing-keys.js';

export const PAYLOAD_TYPE = 'application/vnd.in-toto+json';

export const proofSchema = named(
  'Proof',
  z.strictObject({
    payloadType: z.literal(PAYLOAD_TYPE),
    payload: z.string().describe('The statement, JSON of in-toto, in Base64. What is signed are its bytes.'),
    signatures: z.array(
      z.strictObject({
        keyid: z.string().describe('The `kid` of the key in `/.well-known/millwright.jwks.json`.'),
        sig: z.string().describe('Ed25519, in Base64.'),
      }),
    ),
  }),
  { description: 'What the checks of a task said, signed by the service: a DSSE envelope.' },
);
export type ProofEnvelope = z.output<typeof proofSchema>;

/** What is signed: the Pre-Authentication Encoding of DSSE. */
export function preAuthEncoding(type: string, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`DSSEv1 ${Buffer.byteLength(type)} ${type} ${body.length} `), body]);
}

/** A statement is written once: what is signed are the bytes that are sent. */
export function envelopeOf(statement: object, { kid, sign }: Signer): ProofEnvelope {
  const body = Buffer.from(JSON.stringify(statement));
  const sig = sign(preAuthEncoding(PAYLOAD_TYPE, body)).toString('base64');
  return { payloadType: PAYLOAD_TYPE, payload: body.toString('base64'), signatures: [{ keyid: kid, sig }] };
}
