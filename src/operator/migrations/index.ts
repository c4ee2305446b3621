// Every migration of the product. As the entities, they lie in the highest layer, which may know all tables and all functions.
import type { MigrationSet } from '../../platform/database/migrate.js';
import { Core1763683200001 } from './0001-core.js';
import { Projects1763769600002 } from './0002-projects.js';
import { ModesPoliciesAccounts1763683200005 } from './0005-modes-policies-accounts.js';
import { Endings1763856000006 } from './0006-endings.js';
import { Claims1764547200007 } from './0007-claims.js';
import { Approvals1764633600008 } from './0008-approvals.js';
import { EndingsOfTurns1795305600009 } from './0009-endings-of-turns.js';
import { OneQueueIndex1795392000010 } from './0010-one-queue-index.js';
import { ReadUpTo1795478400011 } from './0011-read-up-to.js';
import { KeyLastUse1795564800012 } from './0012-key-last-use.js';
import { HoldMembership1795564800013 } from './0013-hold-membership.js';
import { StorageUsage1795651200014 } from './0014-storage-usage.js';
import { Automations1795737600015 } from './0015-automations.js';
import { Events1795823400016 } from './0016-events.js';
import { Jobs1795824000017 } from './0017-jobs.js';
import { UsageLedger1795824000018 } from './0018-usage-ledger.js';
import { Audit1795824100019 } from './0019-audit.js';
import { Traces1795824300021 } from './0021-traces.js';
import { WaitingPayloads1796428800023 } from './0023-waiting-payloads.js';
import { Context1796515200024 } from './0024-context.js';
import { Repositories1796688000026 } from './0026-repositories.js';
import { ResultsForModels1796774400027 } from './0027-results-for-models.js';
import { ShownFiles1796947200029 } from './0029-shown-files.js';
import { Webhooks1797292800033 } from './0033-webhooks.js';
import { TaskLists1797379200034 } from './0034-task-lists.js';
import { ReadMessages1797465600035 } from './0035-read-messages.js';
import { StructuredOutput1797552000036 } from './0036-structured-output.js';
import { ConsoleSessions1797638400037 } from './0037-console-sessions.js';
import { Waits1797724800038 } from './0038-waits.js';
import { UsageLanes1797984000041 } from './0041-usage-lanes.js';
import { Installation1798070400042 } from './0042-installation.js';
import { SaidInStatements1798156800043 } from './0043-said-in-statements.js';
import { RepositoryConnections1798243200044 } from './0044-repository-connections.js';
import { RepositoryList1798243300045 } from './0045-repository-list.js';
import { PersonalNotices1798243500047 } from './0047-personal-notices.js';
import { Titles1798243600048 } from './0048-titles.js';
import { TaskNetwork1798243700049 } from './0049-task-network.js';
import { RepositoriesOfAutomations1798243800050 } from './0050-repositories-of-automations.js';
import { PullRequestStates1798243900051 } from './0051-pull-request-states.js';
import { Invitations1798244000052 } from './0052-invitations.js';
import { ListsOfManyTasks1798244100053 } from './0053-lists-of-many-tasks.js';
import { Pause1798244200054 } from './0054-pause.js';
import { ReportsOfManyEntries1798244400056 } from './0056-reports-of-many-entries.js';
import { ConnectionsThatWereNotReached1798244500057 } from './0057-connections-that-were-not-reached.js';
import { Snapshots1798244600058 } from './0058-snapshots.js';
import { Forks1798244700059 } from './0059-forks.js';
import { Machines1798244800060 } from './0060-machines.js';
import { FoldersAhead1798244900061 } from './0061-folders-ahead.js';
import { Secrets1798245000062 } from './0062-secrets.js';
import { SecretUses1798245100063 } from './0063-secret-uses.js';
import { LastingKeys1798245200064 } from './0064-lasting-keys.js';
import { Environments1798245300065 } from './0065-environments.js';
import { EnvironmentsOfTasks1798245400066 } from './0066-environments-of-tasks.js';
import { EnvironmentBuildUses1798245500067 } from './0067-environment-build-uses.js';
import { EnvironmentTrials1798245600068 } from './0068-environment-trials.js';
import { NetworkUses1798245800070 } from './0070-network-uses.js';
import { SecretsOfAutomations1798245900071 } from './0071-secrets-of-automations.js';
import { ApprovalsOfSecrets1798246000072 } from './0072-approvals-of-secrets.js';
import { SigningKeys1798246100073 } from './0073-signing-keys.js';
import { TaskChecks1798246200074 } from './0074-task-checks.js';
import { ChecksBeforeAndAgain1798246400076 } from './0076-checks-before-and-again.js';
import { TaskCommands1798247100083 } from './0083-task-commands.js';
import { Web1798246500077 } from './0077-web.js';
import { Skills1798246600078 } from './0078-skills.js';
import { SkillsOfTasks1798246700079 } from './0079-skills-of-tasks.js';
import { Agents1798246800080 } from './0080-agents.js';
import { Evaluations1798246900081 } from './0081-evaluations.js';
import { TasksOfTasks1798247000085 } from './0085-tasks-of-tasks.js';
import { LocksOfChildren1798247200087 } from './0087-locks-of-children.js';
import { McpServers1798247500089 } from './0089-mcp-servers.js';
import { McpOffers1798247600090 } from './0090-mcp-offers.js';
import { ToolsOfApprovals1798247700091 } from './0091-tools-of-approvals.js';
import { EngineSessions1798334100092 } from './0092-engine-sessions.js';
import { SignIn1798334200093 } from './0093-sign-in.js';
import { DeviceCodes1798334300094 } from './0094-device-codes.js';
import { Payments1798334400095 } from './0095-payments.js';
import { MeterReports1798334500096 } from './0096-meter-reports.js';
import { Provisioning1798334600097 } from './0097-provisioning.js';
import { RefusedMeterReports1798334700098 } from './0098-refused-meter-reports.js';

/**
 * In the order of their timestamps, as they run. A new one is added at the end; none is ever changed. A function of the database is taken from its
 * file `*.function.ts`: one that has changed is taken again by a new migration (docs/decisions/0076).
 */
export const MIGRATIONS = [
  Core1763683200001,
  ModesPoliciesAccounts1763683200005,
  Projects1763769600002,
  Endings1763856000006,
  Claims1764547200007,
  Approvals1764633600008,
  EndingsOfTurns1795305600009,
  OneQueueIndex1795392000010,
  ReadUpTo1795478400011,
  KeyLastUse1795564800012,
  HoldMembership1795564800013,
  StorageUsage1795651200014,
  Automations1795737600015,
  Events1795823400016,
  Jobs1795824000017,
  UsageLedger1795824000018,
  Audit1795824100019,
  Traces1795824300021,
  WaitingPayloads1796428800023,
  Context1796515200024,
  Repositories1796688000026,
  ResultsForModels1796774400027,
  ShownFiles1796947200029,
  Webhooks1797292800033,
  TaskLists1797379200034,
  ReadMessages1797465600035,
  StructuredOutput1797552000036,
  ConsoleSessions1797638400037,
  Waits1797724800038,
  UsageLanes1797984000041,
  Installation1798070400042,
  SaidInStatements1798156800043,
  RepositoryConnections1798243200044,
  RepositoryList1798243300045,
  PersonalNotices1798243500047,
  Titles1798243600048,
  TaskNetwork1798243700049,
  RepositoriesOfAutomations1798243800050,
  PullRequestStates1798243900051,
  Invitations1798244000052,
  ListsOfManyTasks1798244100053,
  Pause1798244200054,
  ReportsOfManyEntries1798244400056,
  ConnectionsThatWereNotReached1798244500057,
  Snapshots1798244600058,
  Forks1798244700059,
  Machines1798244800060,
  FoldersAhead1798244900061,
  Secrets1798245000062,
  SecretUses1798245100063,
  LastingKeys1798245200064,
  Environments1798245300065,
  EnvironmentsOfTasks1798245400066,
  EnvironmentBuildUses1798245500067,
  EnvironmentTrials1798245600068,
  NetworkUses1798245800070,
  SecretsOfAutomations1798245900071,
  ApprovalsOfSecrets1798246000072,
  SigningKeys1798246100073,
  TaskChecks1798246200074,
  ChecksBeforeAndAgain1798246400076,
  Web1798246500077,
  Skills1798246600078,
  SkillsOfTasks1798246700079,
  Agents1798246800080,
  Evaluations1798246900081,
  TasksOfTasks1798247000085,
  TaskCommands1798247100083,
  LocksOfChildren1798247200087,
  McpServers1798247500089,
  McpOffers1798247600090,
  ToolsOfApprovals1798247700091,
  EngineSessions1798334100092,
  SignIn1798334200093,
  DeviceCodes1798334300094,
  Payments1798334400095,
  MeterReports1798334500096,
  Provisioning1798334600097,
  RefusedMeterReports1798334700098,
];

/** The histories of a process, in the order in which they run: the service's own, then those of its extensions. */
export const historiesOf = (extensions: { migrations: readonly MigrationSet[] }): readonly MigrationSet[] => [
  { table: 'migrations', migrations: MIGRATIONS },
  ...extensions.migrations,
];
