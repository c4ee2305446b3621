// The operator command (reference §16): its groups of verbs. A verb is thin: a service call.
import type { Command } from 'commander';
import { VERSION } from '../../platform/config/version.js';
import type { ExtensionSet } from '../../platform/plugins/extension-set.js';
import { adopt } from './adopt.js';
import { audit } from './audit.js';
import { automations } from './automations.js';
import { backup } from './backup.js';
import { CLIENT_VERBS } from './client-verbs.js';
import { plans } from './billing.js';
import { Program } from './command.js';
import { completion } from './completion.js';
import { consoleLinks } from './console.js';
import { doctor } from './doctor.js';
import { engines } from './engines.js';
import { addExtensionVerbs } from './extension-verbs.js';
import { integrations } from './integrations.js';
import { keys } from './keys.js';
import { machines } from './machines.js';
import { members } from './members.js';
import { secretKey } from './secret-key.js';
import { secrets } from './secrets.js';
import { serviceAccounts } from './service-accounts.js';
import { scimTokens } from './scim-tokens.js';
import { signingKey } from './signing-key.js';
import { storage } from './storage.js';
import { users } from './users.js';
import { workspaces } from './workspaces.js';

/** Parses a command line, carries it out and prints the answer. Throws a `CommanderError` for a wrong line. */
export function program(extensions: ExtensionSet): Command {
  const root = new Program(extensions)
    .description("Operates a Millwright service. In a checkout, 'millwright' is 'npm run --silent cli --'.")
    .version(VERSION, '--version', 'print the version')
    .addHelpText('after', `\nOf those who give work (each has --help): ${CLIENT_VERBS.join(', ')}`);
  const group = (name: string, description: string) => root.command(name).description(description);
  const workspace = group('workspace', 'the tenants');
  workspaces(workspace);
  plans(workspace);
  users(group('user', 'the people'));
  members(group('member', 'who belongs to a workspace'));
  serviceAccounts(group('service-account', 'programs that belong to a workspace'));
  keys(group('key', 'keys of people and service accounts'), extensions.scopes);
  consoleLinks(group('console', 'the page on which people work'));
  integrations(group('integration', 'connections to providers whose events start automations'));
  automations(group('automation', 'tasks that are made by a schedule or an event'));
  machines(group('machine', 'the hosts on which tasks are worked on'));
  audit(group('audit', 'the log of who did what'));
  storage(group('storage', 'where files are kept'), extensions);
  secrets(group('secret', 'values that tasks use and never see'));
  secretKey(group('secret-key', 'what secrets are encrypted with'), extensions);
  signingKey(group('signing-key', 'what proofs are signed with'));
  scimTokens(group('scim-token', 'how directories keep the members of workspaces'));
  engines(group('engine', 'agent programs that drive tasks'), extensions);
  backup(root, extensions, VERSION);
  doctor(root, extensions);
  adopt(root);
  completion(root);
  for (const extension of extensions.list) addExtensionVerbs(root, extension);
  return root;
}
