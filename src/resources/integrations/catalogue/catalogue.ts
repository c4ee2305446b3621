import { Injectable, type OnModuleInit } from '@nestjs/common';
import { PluginRegistry } from '../../../platform/plugins/plugin.js';
import { type IntegrationDescription, IntegrationProvider } from '../integration-provider.js';
import { matchesTrigger } from './matches-trigger.js';

const SLUG = /^[a-z][a-z0-9_-]{0,39}$/;
const EVENT = /^[a-z0-9_]+(\.[a-z0-9_]+)*$/;

/** Every provider of the running application (reference §13). */
@Injectable()
export class Catalogue implements OnModuleInit {
  private providers: Map<string, IntegrationProvider> | undefined;

  constructor(private readonly plugins: PluginRegistry) {}

  /** A provider whose description cannot be stops the boot. */
  onModuleInit(): void {
    for (const [name, provider] of this.all()) {
      const problem = problemOf(name, provider.describe());
      if (problem !== null) throw new Error(`The integration ${provider.constructor.name} ${problem}.`);
    }
  }

  get(slug: string): IntegrationProvider | undefined {
    return this.all().get(slug);
  }

  /** By slug. */
  list(): IntegrationDescription[] {
    return [...this.all().values()].map((provider) => provider.describe());
  }

  /** Whether there is an event that this `triggerEvent` (`<slug>.<event>`, `*` for the action) names. */
  matches(triggerEvent: string): boolean {
    return this.list().some(({ slug, triggerEvents }) =>
      triggerEvents.some(({ name }) => matchesTrigger(triggerEvent, slug, name)),
    );
  }

  private all(): Map<string, IntegrationProvider> {
    this.providers ??= new Map([...this.plugins.all(IntegrationProvider)].sort(([a], [b]) => (a < b ? -1 : 1)));
    return this.providers;
  }
}

/** The end of a sentence, or null. */
function problemOf(name: string, { slug, triggerEvents }: IntegrationDescription): string | null {
  if (slug !== name) return `is '${name}' in @Plugin and '${slug}' by its slug`;
  if (!SLUG.test(slug)) return `needs a slug of small letters, digits, _ and -, at most 40, not '${slug}'`;
  const names = triggerEvents.map((event) => event.name);
  const wrong = names.find((event) => !EVENT.test(event));
  if (wrong !== undefined)
    return `has an event '${wrong}'; small letters, digits and _ with points between are expected`;
  const twice = names.find((event, index) => names.indexOf(event) !== index);
  return twice === undefined ? null : `has the event '${twice}' twice`;
}
