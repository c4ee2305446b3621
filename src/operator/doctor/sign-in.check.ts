// The provider of `signIn`: its description and its keys are read, and the workspaces of its rules looked for (reference §31).
import { discover, reasonOf } from '../../access/sign-in/provider.js';
import type { SignInConfig } from '../../platform/config/sign-in.js';
import { sql, texts } from '../../platform/database/sql.js';
import { type Check, fail, type Finding, ok, warn } from './check.js';
import type { Examination } from './examination.js';

const NAME = 'sign-in';

const KNOWN = sql`SELECT slug FROM workspaces WHERE slug = ANY(${texts('slugs')})`.rows<{ slug: string }>();

export const signInCheck: Check = {
  name: NAME,
  limitMs: 45_000,
  async run(at) {
    const { file, servesConsole, signInSecret, variables } = at.env;
    if (file.signIn === undefined) return [];
    if (!servesConsole || signInSecret === null)
      return [ok(NAME, 'This process has no console: nobody signs in here.')];
    const findings = [await providerFinding(file.signIn, signInSecret), ...(await rulesFinding(at, file.signIn))];
    if (variables.PUBLIC_URL !== undefined) return findings;
    const advice = 'Set PUBLIC_URL to the https address by which people reach the console.';
    return [...findings, warn(NAME, 'PUBLIC_URL is not set: people sign in on this machine alone.', advice)];
  },
};

async function providerFinding(config: SignInConfig, secret: string): Promise<Finding> {
  try {
    await discover(config, secret);
    return ok(NAME, `${config.issuer} answers; its description and its keys are in order.`);
  } catch (error) {
    const advice =
      'Correct signIn.issuer in CONFIG_FILE, or start that provider: until then nobody signs in by it, and keys work.';
    return fail(NAME, `${config.issuer} does not answer as an OpenID Connect provider: ${reasonOf(error)}.`, advice);
  }
}

async function rulesFinding(at: Examination, { workspaces }: SignInConfig): Promise<Finding[]> {
  const slugs = [...new Set(workspaces.map(({ slug }) => slug))];
  const database = await at.database.catch(() => null);
  if (database === null) return [];
  const known = (await database.sql.run(KNOWN({ slugs }))).map(({ slug }) => slug);
  const unknown = slugs.filter((slug) => !known.includes(slug));
  if (unknown.length === 0) return [];
  const advice = "Correct the slug in CONFIG_FILE, or make it: 'workspace create --slug'.";
  return [warn(NAME, `Rules of signIn name workspaces that do not exist: ${unknown.join(', ')}.`, advice)];
}
