// The last guard of secrets: nothing logs them on purpose, and what slips through a library's message is taken out of the line.
import { unescape } from 'node:querystring';
import type { Env } from '../config/env.js';
import { basicCredential } from '../config/repositories.js';
import { literal } from '../text/literal.js';
import { withCauses } from './causes.js';

const HIDDEN = '[hidden]';
/** A shorter text may be a word that lines are made of; in a URL any password is found. */
const SHORTEST = 12;

const KEY = String.raw`mw_(?:[ps]k|scim)_[0-9A-Za-z]{20,}`;
const HOOK_SECRET = String.raw`whsec_[0-9A-Za-z+/=_-]{16,}`;
/** Of GitHub, of its Apps, and of GitLab: workspaces bring them, so they are known by their form alone. */
const HOST_TOKEN = String.raw`\b(?:gh[a-z]_[0-9A-Za-z]{20,}|github_pat_\w{20,}|gl[a-z]{2,6}-[0-9A-Za-z_.-]{20,})`;
/** As git sends a token (`basicCredential`): what stands before it is always the same 20 characters. */
const SENT_TOKEN = String.raw`${basicCredential('')}[0-9A-Za-z+/=]+`;
/** Its line ends may be written as in JSON. */
const PRIVATE_KEY = String.raw`-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----(?:[0-9A-Za-z+/=\s]|\\[nr])*(?:-----END (?:[A-Z]+ )?PRIVATE KEY-----)?`;
/** The password in `postgres://user:password@host`. */
const IN_URL = String.raw`(?<=[a-z]:\/\/[^\s:/@"]*:)[^\s/@"]+(?=@)`;

/** The secrets of the environment and of the configuration. */
export function secretsOf(env: Env): string[] {
  const { variables, repositoryTokens } = env;
  const keys = [variables.SECRET_KEY, variables.SECRET_KEY_PREVIOUS, ...providerKeysOf(variables)];
  const passwords = passwordsOf(variables).flatMap((password) => [password, unescape(password)]);
  const sent = [...repositoryTokens.values()].map(basicCredential);
  return [...keys, ...namedSecretsOf(env), ...sent, ...passwords].filter((one) => one !== undefined);
}

/** The values of all variables that the configuration file names. */
export function namedSecretsOf({
  modelKeys,
  repositoryTokens,
  mcpValues,
  paymentSecrets,
  signInSecret,
}: Env): string[] {
  const payment = paymentSecrets === null ? [] : [paymentSecrets.secretKey, paymentSecrets.webhookSecret];
  const signIn = signInSecret === null ? [] : [signInSecret];
  return [...modelKeys.values(), ...repositoryTokens.values(), ...mcpValues.values(), ...payment, ...signIn];
}

/** The keys of providers of models that the environment has. */
export function providerKeysOf(variables: Env['variables']): (string | undefined)[] {
  const { ANTHROPIC_API_KEY, OPENAI_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY, OPENAI_COMPATIBLE_KEY } = variables;
  const { AWS_BEARER_TOKEN_BEDROCK, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = variables;
  const aws = [AWS_BEARER_TOKEN_BEDROCK, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN];
  return [ANTHROPIC_API_KEY, OPENAI_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY, OPENAI_COMPATIBLE_KEY, ...aws];
}

/** The passwords in the URLs of the environment, as they stand there. */
export function passwordsOf({ DATABASE_URL, REDIS_URL, SMTP_URL }: Env['variables']): string[] {
  const urls = [DATABASE_URL, REDIS_URL, SMTP_URL].filter((url) => url !== undefined);
  return urls.map((url) => new URL(url).password).filter((password) => password !== '');
}

/** Makes a function that takes secrets out of a line: those given, keys, secrets of hooks, tokens of hosts, private keys, passwords in URLs. */
export function redactor(secrets: readonly string[] = []): (line: string) => string {
  const long = secrets.filter((secret) => secret.length >= SHORTEST);
  // In a line of JSON a quote in a secret is \".
  const forms = new Set(long.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]));
  const known = [...forms].sort((a, b) => b.length - a.length).map(literal);
  const pattern = new RegExp([...known, KEY, HOOK_SECRET, HOST_TOKEN, SENT_TOKEN, PRIVATE_KEY, IN_URL].join('|'), 'g');
  return (line) => line.replace(pattern, HIDDEN);
}

/** Characters of what {@link causesOf} says. */
const CAUSES = 300;

/** What has caused an error, and what caused that, in one line without secrets, cut. Null: nothing is known. @param hide as of {@link redactor}. */
export function causesOf({ cause }: Error, hide: (line: string) => string): string | null {
  const words = [...withCauses(cause)].slice(0, 5).map(({ message }) => message);
  // A secret is taken out before the cut: half of one is not found.
  const line = hide(words.join(': ')).replace(/\s+/g, ' ').trim();
  return line === '' ? null : line.slice(0, CAUSES);
}
