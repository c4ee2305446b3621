import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { isCidr } from '../egress/networks.js';

const patterns = z.array(z.string().min(1));

/** What the service may do with repositories of one host: `github.com`, or with a port `git.example:8443`. */
const host = z.strictObject({
  /** Name of the variable that holds the token. Without it the entry says what the host is, and workspaces bring the credentials. */
  tokenEnv: z.string().min(1).optional(),
  /** In place of `tokenEnv`: name of the secret of each of the workspaces that is the token (reference §24). */
  secret: z
    .string()
    .regex(/^[A-Z][A-Z0-9_]{0,63}$/, 'the name of a secret is expected, such as GITHUB_TOKEN')
    .optional(),
  /** Slugs of the workspaces whose tasks may use it. */
  workspaces: z.array(z.string().min(1)).default([]),
  /** Paths of repositories, without `.git`; `*` stands for any characters but a slash, `**` for any. */
  paths: patterns.default([]),
  /** Branches that may be written; `*` as in `paths`. */
  push: patterns.default([]),
  /** What serves the repositories, for pull requests; github.com and gitlab.com are known. */
  kind: z.enum(['github', 'gitlab']).optional(),
  /** Its API, when that is not where such a host has it. */
  api: z.url({ protocol: /^https?$/ }).optional(),
  /** A file of certificates (PEM) that the host is checked against in place of the system's. */
  caFile: z.string().refine(isAbsolute, 'an absolute path of a file is expected').optional(),
});

const HOST = /^[a-z0-9.-]+(:\d{1,5})?$|^\[[0-9a-f:.]+\](:\d{1,5})?$/;

/** Whether it is the name of a host as it is written here, with a port or without. */
export const isHost = (name: string): boolean => HOST.test(name);

/** `repositories` of `CONFIG_FILE` (reference §15). */
export const repositoriesSchema = z
  .record(z.string().regex(HOST, 'a host name in small letters is expected, such as github.com'), host)
  .superRefine((hosts, context) => {
    for (const [name, entry] of Object.entries(hosts)) {
      const message = wrongApi(name, entry);
      if (message !== null) context.addIssue({ code: 'custom', path: [name, 'api'], message });
      if (entry.tokenEnv !== undefined && entry.secret !== undefined) {
        context.addIssue({ code: 'custom', path: [name, 'secret'], message: 'either this or tokenEnv is expected' });
      }
      if (
        entry.tokenEnv === undefined &&
        entry.secret === undefined &&
        [entry.workspaces, entry.paths, entry.push].some(({ length }) => length > 0)
      ) {
        const needed =
          'the name of a variable, or a secret, is expected: without a token nothing is allowed to anybody';
        context.addIssue({ code: 'custom', path: [name, 'tokenEnv'], message: needed });
      }
    }
  });

/** Networks that are allowed although they are not public. */
export const networksSchema = z.array(
  z.string().refine(isCidr, 'a network is expected, such as 10.0.0.0/8 or fd00::/8'),
);

/** Folders below which repositories of this host may lie. */
export const repositoryFilesSchema = z.array(z.string().refine(isAbsolute, 'an absolute path of a folder is expected'));

export type RepositoryHost = z.output<typeof host>;

/** Where pull requests of a host are opened. `api` has no slash at its end. */
export interface Hosting {
  kind: 'github' | 'gitlab';
  api: string;
}

const KNOWN: Readonly<Record<string, Hosting>> = {
  'github.com': { kind: 'github', api: 'https://api.github.com' },
  'gitlab.com': { kind: 'gitlab', api: 'https://gitlab.com/api/v4' },
};

/** Null for a host of which nothing is known. */
export function hostingOf(name: string, entry: Pick<RepositoryHost, 'kind' | 'api'>): Hosting | null {
  const known = Object.hasOwn(KNOWN, name) ? KNOWN[name] : undefined;
  const kind = entry.kind ?? known?.kind;
  if (kind === undefined) return null;
  const usual = known?.kind === kind ? known.api : `https://${name}/api/${kind === 'github' ? 'v3' : 'v4'}`;
  return { kind, api: (entry.api ?? usual).replace(/\/+$/, '') };
}

function wrongApi(name: string, entry: RepositoryHost): string | null {
  const hosting = hostingOf(name, entry);
  if (hosting === null) return entry.api === undefined ? null : 'kind is expected too: github or gitlab';
  return hosting.kind === 'gitlab' && !hosting.api.endsWith('/api/v4')
    ? 'an address that ends in /api/v4 is expected'
    : null;
}

/** A token as it is sent to the host of a repository (RFC 7617). */
export function basicCredential(token: string): string {
  return Buffer.from(`x-access-token:${token}`).toString('base64');
}
