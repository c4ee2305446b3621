// How plugins, chores and handlers are found: among the providers of all modules, by what a decorator has said of them.
import { type DiscoveryService, MetadataScanner } from '@nestjs/core';

type Wrapper = ReturnType<DiscoveryService['getProviders']>[number];

/** The providers of the running application, each once, also where several modules have it. */
export function providersOf(discovery: DiscoveryService): Map<object, Wrapper> {
  const found = new Map<object, Wrapper>();
  for (const wrapper of discovery.getProviders()) {
    const provider: unknown = wrapper.instance;
    if (typeof provider === 'object' && provider !== null && !found.has(provider)) found.set(provider, wrapper);
  }
  return found;
}

/** Whether a provider is made once, and not for each request or for each that injects it. */
export const isSingleton = (wrapper: Wrapper): boolean => wrapper.isDependencyTreeStatic() && !wrapper.isTransient;

/**
 * The methods that have a mark; `name` is `Class.method`. Throws when one is of a provider that is no singleton.
 * @param kind what such a method is, for that error: `chore`.
 */
export function markedMethods<Method extends (...args: never[]) => unknown, Mark>(
  discovery: DiscoveryService,
  kind: string,
  markOf: (method: object) => Mark | undefined,
) {
  const scanner = new MetadataScanner();
  return [...providersOf(discovery)].flatMap(([provider, wrapper]) => {
    const prototype = Object.getPrototypeOf(provider) as Record<string, Method> | null;
    return scanner.getAllMethodNames(prototype).flatMap((method) => {
      const body = prototype?.[method];
      const mark = body && markOf(body);
      if (body === undefined || mark === undefined) return [];
      const name = `${provider.constructor.name}.${method}`;
      if (isSingleton(wrapper)) return [{ provider, method, name, mark, call: body.bind(provider) as Method }];
      throw new Error(`The ${kind} ${name} is of a provider that is made anew: a singleton is expected.`);
    });
  });
}
