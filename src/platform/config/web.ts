// Which pages of the web agents may read (reference §27): `web` of CONFIG_FILE.
import { z } from 'zod';
import { ANY, hostsSchema } from './network.js';

/** Hosts as `sandbox.allowHosts` has them. */
export const webSchema = z.strictObject({
  hosts: hostsSchema.min(1, 'at least one host is expected, such as docs.example.com, or * for all'),
  urls: z.enum(['seen', 'any']).optional(),
  /** Of one answer, unpacked. */
  maxBytes: z
    .int()
    .min(1024)
    .max(50 * 1024 ** 2)
    .default(5 * 1024 ** 2),
  /** For one call, redirects included. */
  seconds: z.int().min(1).max(300).default(20),
  /** Calls of one turn. */
  perTurn: z.int().min(1).max(10_000).default(100),
});

type Web = z.output<typeof webSchema>;
export type WebConfig = Omit<Web, 'urls'> & { urls: 'seen' | 'any' };

/** Null: agents read no pages. Where they may ask any host, an address that nobody has named could carry out what they know. */
export function webOf({ web }: { web?: Web | undefined }): WebConfig | null {
  if (web === undefined) return null;
  return { ...web, urls: web.urls ?? (allowsAnyHost(web) ? 'seen' : 'any') };
}

export function allowsAnyHost({ hosts }: Pick<Web, 'hosts'>): boolean {
  return hosts.includes(ANY);
}
