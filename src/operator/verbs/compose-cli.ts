// Apart from compose.ts: what the service imports besides (HTTP, models, sandbox, Bull) takes seconds to load.
import type { ModuleMetadata } from '@nestjs/common';
import { AuditReader } from '../../access/audit/audit-reader.js';
import { AuditVerifier } from '../../access/audit/verifier.js';
import { ConsoleSessions } from '../../access/auth/console-sessions.js';
import { ScimTokens } from '../../access/provisioning/scim-tokens.js';
import { SignInIdentities } from '../../access/sign-in/identities.service.js';
import { CredentialsService } from '../../access/auth/credentials.service.js';
import { KeysService } from '../../access/auth/keys.service.js';
import { SessionCookies } from '../../access/auth/session-cookies.js';
import { ConfigModule } from '../../platform/config/config.module.js';
import type { Env } from '../../platform/config/env.js';
import { ENTITIES } from '../entities.js';
import { historiesOf } from '../migrations/index.js';
import { DatabaseModule, type Prepare, type Recognise } from '../../platform/database/database.module.js';
import { EventLogModule } from '../../platform/events/event-log.module.js';
import { NoticesModule } from '../../platform/notices/notices.module.js';
import { OffboardingModule } from '../../resources/tasks/offboarding/offboarding.module.js';
import type { ExtensionSet } from '../../platform/plugins/extension-set.js';
import { AutomationStates } from '../../resources/automations/automation-states.js';
import { OperatorAutomations } from '../../resources/automations/operator-automations.js';
import { RunRecords } from '../../resources/automations/run-records.js';
import { BillingAccounts } from '../../resources/billing/billing-accounts.js';
import { ConnectionsModule } from '../../resources/integrations/connections.module.js';
import { PluginsModule } from '../../platform/plugins/plugins.module.js';
import { BindingRules } from '../../resources/secrets/binding-rules.js';
import { OperatorSecrets } from '../../resources/secrets/operator-secrets.js';
import { WebhookPurge } from '../../resources/webhooks/webhook-purge.js';
import { StorageQuota } from '../../resources/files/storage-quota.js';
import { WorkspacesModule } from '../../access/workspaces/workspaces.module.js';

/** Most verbs need the secret of the installation and none of its files: an operator's machine may have no DATA_DIR of it. */
const knowsSecret: Recognise = (installation) => installation.compare({ withFolder: false });

/** What verbs use of the modules that serve HTTP. */
const USED = [
  ...[CredentialsService, KeysService, SessionCookies, ConsoleSessions, AuditReader, AuditVerifier],
  ...[StorageQuota, BillingAccounts, AutomationStates, OperatorAutomations, RunRecords, WebhookPurge],
  ...[BindingRules, OperatorSecrets, ScimTokens, SignInIdentities],
];

/**
 * The modules of the operator command: no workers, no HTTP. With the embedded database it joins the running server.
 * @param prepare what is done with the database in place of the migrations.
 * @param recognise what has to be of the installation, in place of the secret alone.
 */
export function composeCli(
  env: Env,
  extensions: ExtensionSet,
  { prepare, recognise = knowsSecret }: { prepare?: Prepare; recognise?: Recognise } = {},
): Required<Pick<ModuleMetadata, 'imports' | 'providers'>> {
  const ground = [
    ConfigModule.with(env, extensions),
    DatabaseModule.with({
      entities: extensions.entitiesBeside(ENTITIES),
      migrations: historiesOf(extensions),
      join: true,
      recognise,
      ...(prepare && { prepare }),
    }),
    NoticesModule,
    EventLogModule,
    PluginsModule,
  ];
  return {
    imports: [...ground, WorkspacesModule, ConnectionsModule, OffboardingModule, ...extensions.operatorModules],
    providers: USED,
  };
}
