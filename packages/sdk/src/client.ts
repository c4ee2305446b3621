import { Agents } from './agents.js';
import { Automations } from './automations.js';
import { Environments } from './environments.js';
import { follow, isEvent } from './follow.js';
import {
  Audit,
  Auth,
  Billing,
  Files,
  Integrations,
  Keys,
  Members,
  Models,
  PersonalNotices,
  Projects,
  ServiceAccounts,
  Uploads,
  McpServers,
  Web,
} from './resources.js';
import { Repositories, RepositoryConnections } from './repositories.js';
import { Secrets } from './secrets.js';
import { Skills } from './skills.js';
import { Tasks } from './tasks.js';
import { type ClientOptions, Transport } from './transport.js';
import type { WorkspaceEvent } from './types.js';
import { Webhooks } from './webhooks.js';

export interface WorkspaceEventsOptions {
  /** A position; without it what happens from now on. */
  after?: string;
  types?: readonly string[];
  projectId?: string;
  /** Each time that a connection stands. */
  onReady?: (() => void) | undefined;
  signal?: AbortSignal | undefined;
}

/** A client of a service: one property per resource. */
export class Millwright {
  readonly agents: Agents;
  readonly audit: Audit;
  readonly auth: Auth;
  readonly automations: Automations;
  readonly billing: Billing;
  readonly environments: Environments;
  readonly files: Files;
  readonly integrations: Integrations;
  readonly keys: Keys;
  readonly members: Members;
  readonly serviceAccounts: ServiceAccounts;
  readonly models: Models;
  readonly projects: Projects;
  readonly repositories: Repositories;
  readonly repositoryConnections: RepositoryConnections;
  readonly secrets: Secrets;
  readonly skills: Skills;
  readonly tasks: Tasks;
  readonly uploads: Uploads;
  readonly notices: PersonalNotices;
  readonly mcpServers: McpServers;
  readonly web: Web;
  readonly webhooks: Webhooks;
  /** Where the service is. */
  readonly baseUrl: string;
  readonly #transport: Transport;

  constructor(options: ClientOptions = {}) {
    const transport = new Transport(options);
    this.#transport = transport;
    this.baseUrl = transport.baseUrl;
    this.agents = new Agents(transport);
    this.audit = new Audit(transport);
    this.auth = new Auth(transport);
    this.automations = new Automations(transport);
    this.billing = new Billing(transport);
    this.environments = new Environments(transport);
    this.files = new Files(transport);
    this.integrations = new Integrations(transport);
    this.keys = new Keys(transport);
    this.members = new Members(transport);
    this.serviceAccounts = new ServiceAccounts(transport);
    this.models = new Models(transport);
    this.projects = new Projects(transport);
    this.repositories = new Repositories(transport);
    this.repositoryConnections = new RepositoryConnections(transport);
    this.secrets = new Secrets(transport);
    this.skills = new Skills(transport);
    this.tasks = new Tasks(transport);
    this.uploads = new Uploads(transport);
    this.notices = new PersonalNotices(transport);
    this.mcpServers = new McpServers(transport);
    this.web = new Web(transport);
    this.webhooks = new Webhooks(transport);
  }

  /** What happens in the workspace, from now on or after a position, as {@link Tasks.events} does for a task. */
  async *events(options: WorkspaceEventsOptions = {}): AsyncGenerator<WorkspaceEvent, void> {
    const { after = 'latest', types, projectId, onReady, signal } = options;
    const query = { projectId, ...(types && { types: types.join(',') }) };
    for await (const frame of follow(this.#transport, { path: '/v1/events', after, query, signal })) {
      if (isEvent(frame)) yield frame as unknown as WorkspaceEvent;
      else if (frame.type === 'stream.ready') onReady?.();
    }
  }
}
