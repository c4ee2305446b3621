import type { List } from './list.js';
import { Resource, segment } from './resources.js';
import type { CallOptions, Request } from './transport.js';
import type {
  Automation,
  AutomationRehearsal,
  AutomationRun,
  ChangeAutomation,
  CreateAutomation,
  Deleted,
} from './types.js';

export class Automations extends Resource {
  create(body: CreateAutomation, options?: CallOptions): Promise<Automation> {
    return this.one('automation', { method: 'POST', path: '/v1/automations', body, keyed: true, ...options });
  }
  /** Checks all that `create` checks and makes nothing. `samplePayload`: would an event with it start a run? */
  rehearse(
    body: Omit<CreateAutomation, 'dryRun' | 'samplePayload'> & { samplePayload?: object },
    options?: CallOptions,
  ): Promise<AutomationRehearsal> {
    return this.transport.json({
      method: 'POST',
      path: '/v1/automations',
      body: { ...body, dryRun: true },
      ...options,
    });
  }
  get(id: string, options?: CallOptions): Promise<Automation> {
    return this.one('automation', { method: 'GET', path: path(id), ...options });
  }
  update(id: string, body: ChangeAutomation, options?: CallOptions): Promise<Automation> {
    return this.one('automation', { method: 'PATCH', path: path(id), body, ...options });
  }
  delete(id: string, options?: CallOptions): Promise<Deleted> {
    return this.deleted(path(id), options);
  }
  list(query?: { limit?: number }, options?: CallOptions): List<Automation> {
    return this.all('/v1/automations', 'automations', query, options);
  }
  pause(id: string, options?: CallOptions): Promise<Automation> {
    return this.one('automation', post(id, '/pause', options));
  }
  resume(id: string, options?: CallOptions): Promise<Automation> {
    return this.one('automation', post(id, '/resume', options));
  }
  /** Makes a task of it at once. */
  run(id: string, options?: CallOptions): Promise<AutomationRun> {
    return this.one('run', { ...post(id, '/run', options), keyed: true });
  }
  runs(id: string, query?: { limit?: number }, options?: CallOptions): List<AutomationRun> {
    return this.all(`${path(id)}/runs`, 'runs', query, options);
  }
}

const path = (id: string): string => `/v1/automations/${segment(id)}`;
const post = (id: string, rest: string, options?: CallOptions): Request => ({
  method: 'POST',
  path: `${path(id)}${rest}`,
  ...options,
});
