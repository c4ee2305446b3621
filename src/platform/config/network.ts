// Which hosts commands may reach (reference §16): `network`, `allowHosts`, `allowNetworks` and `caFile` of `sandbox`.
import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { networksSchema } from './repositories.js';

/** A name, `*.` and a name, or an address; with a port or without. */
const HOST = /^((\*\.)?[a-z0-9]([a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:[1-9]\d{0,4})?$/;

/** The part of `sandbox` that is about the network. */
export const networkShape = {
  network: z.enum(['none', 'allow']).optional(),
  allowHosts: z
    .array(
      z
        .string()
        .regex(HOST, 'a host name in small letters is expected, such as registry.npmjs.org or *.npmjs.org')
        .refine(isAsAsked, 'a host as URLs have it is expected, such as [fd00::1]:8080 or 10.0.0.1'),
    )
    .optional(),
  /** Networks that allowed hosts may lie in although they are not public. */
  allowNetworks: networksSchema.optional(),
  /** A file of certificates (PEM): the authorities that commands trust in place of the host's. */
  caFile: z.string().refine(isAbsolute, 'an absolute path of a file is expected').optional(),
};

interface Network {
  network?: 'none' | 'allow' | undefined;
  allowHosts?: string[] | undefined;
  allowNetworks?: string[] | undefined;
}

/** Refuses hosts without a network, and a network without hosts. */
export function hostsFitNetwork({ network, allowHosts = [] }: Network, context: z.RefinementCtx): void {
  const message =
    network === 'allow'
      ? allowHosts.length === 0 && 'at least one host is expected with "network": "allow", such as registry.npmjs.org'
      : allowHosts.length > 0 && 'an empty list is expected, because there is no network';
  if (message !== false) context.addIssue({ code: 'custom', path: ['allowHosts'], message });
}

/** A proxy is asked in the spelling of URLs: another one of the same address, and a port that is none, would never match. */
function isAsAsked(host: string): boolean {
  const name = host.replace(/^\*\./, '');
  const url = `https://${name}`;
  return URL.canParse(url) && new URL(url).hostname === name.replace(/:\d+$/, '');
}
