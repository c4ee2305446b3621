import type { List } from './list.js';
import { Collection } from './resources.js';
import type { CallOptions } from './transport.js';
import type { Automation, AutomationRehearsal, AutomationRun, ChangeAutomation, CreateAutomation } from './types.js';

export class Automations extends Collection {
  protected readonly root = '/v1/automations';

  create(body: CreateAutomation, options?: CallOptions): Promise<Automation> {
    return this.one('automation', { method: 'POST', path: this.root, body, keyed: true, ...options });
  }
  /** Checks all that `create` checks and makes nothing. `samplePayload`: would an event with it start a run? */
  rehearse(
    body: Omit<CreateAutomation, 'dryRun' | 'samplePayload'> & { samplePayload?: object },
    options?: CallOptions,
  ): Promise<AutomationRehearsal> {
    return this.transport.json({
      method: 'POST',
      path: this.root,
      body: { ...body, dryRun: true },
      ...options,
    });
  }
  get(id: string, options?: CallOptions): Promise<Automation> {
    return this.one('automation', { method: 'GET', path: this.path(id), ...options });
  }
  update(id: string, body: ChangeAutomation, options?: CallOptions): Promise<Automation> {
    return this.one('automation', { method: 'PATCH', path: this.path(id), body, ...options });
  }
  list(query?: { limit?: number }, options?: CallOptions): List<Automation> {
    return this.all(this.root, 'automations', query, options);
  }
  pause(id: string, options?: CallOptions): Promise<Automation> {
    return this.one('automation', this.post(id, '/pause', options));
  }
  resume(id: string, options?: CallOptions): Promise<Automation> {
    return this.one('automation', this.post(id, '/resume', options));
  }
  /** Makes a task of it at once. */
  run(id: string, options?: CallOptions): Promise<AutomationRun> {
    return this.one('run', { ...this.post(id, '/run', options), keyed: true });
  }
  runs(id: string, query?: { limit?: number }, options?: CallOptions): List<AutomationRun> {
    return this.all(this.path(id, '/runs'), 'runs', query, options);
  }
}
