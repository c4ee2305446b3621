// Seams and plugins: how a class anywhere in the program, ours or a stranger's, becomes the implementation of a seam.
import { Injectable, type Type } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { ConfigurationError } from '../config/env.js';
import { providersOf } from './providers.js';

/** A seam is an abstract class; it doubles as the injection token and as the contract in sentences. */
export type Seam<T> = abstract new (...args: never[]) => T;

const PLUGIN = Symbol('millwright:plugin');

interface PluginMark {
  seam: Seam<unknown>;
  name: string;
}

/** The names that classes of this process have by {@link Plugin}, whether or not a module provides them. */
const DECLARED = new Map<Seam<unknown>, Set<string>>();

/**
 * Marks a provider as the implementation `name` of `seam`. The provider is an ordinary Nest provider of any module.
 *
 * @example
 * ```ts
 * @Plugin(AgentTool, 'lookup_ticket')
 * export class LookupTicketTool extends AgentTool { … }
 * ```
 */
export function Plugin<T>(seam: Seam<T>, name: string): ClassDecorator {
  return (target) => {
    Reflect.defineMetadata(PLUGIN, { seam, name } satisfies PluginMark, target);
    DECLARED.set(seam, (DECLARED.get(seam) ?? new Set()).add(name));
    Injectable()(target as unknown as Type<unknown>);
  };
}

/** The names of a seam's implementations, whether or not this process provides them. */
export const declaredNames = <T>(seam: Seam<T>): ReadonlySet<string> => DECLARED.get(seam) ?? new Set();

/**
 * Refuses a name that no class of a seam has, before anything of the application is made: {@link PluginRegistry.chosen} comes
 * when the database runs. Throws {@link ConfigurationError}.
 * @param others further values that the variable takes.
 */
export function checkChoice<T>(seam: Seam<T>, variable: string, name: string, others: string[] = []): void {
  const names = declaredNames(seam);
  if (!names.has(name) && !others.includes(name)) throw unknownName(variable, [...others, ...[...names].sort()]);
}

const unknownName = (variable: string, names: string[]) =>
  new ConfigurationError(`${variable}: one of ${names.join(', ')} is expected.`);

/** Finds every plugin of the running application. Usable from `onModuleInit` on. */
@Injectable()
export class PluginRegistry {
  constructor(private readonly discovery: DiscoveryService) {}

  /** All implementations of a seam by name. Two of one name are a wiring mistake: it throws and names both classes. */
  all<T>(seam: Seam<T>): Map<string, T> {
    const found = new Map<string, T>();
    for (const instance of providersOf(this.discovery).keys()) {
      const mark = Reflect.getMetadata(PLUGIN, instance.constructor) as PluginMark | undefined;
      if (mark?.seam !== seam) continue;
      const other = found.get(mark.name) as object | undefined;
      if (other !== undefined) {
        throw new Error(
          `Two plugins of ${seam.name} are called '${mark.name}': ${other.constructor.name} and ` +
            `${instance.constructor.name}. Rename one in its @Plugin(${seam.name}, '…').`,
        );
      }
      found.set(mark.name, instance as T);
    }
    return found;
  }

  /**
   * The implementation that a variable of the environment names. Throws {@link ConfigurationError}, with the variable and the
   * names that exist, when there is none; `others` are further values that the variable takes.
   */
  chosen<T>(seam: Seam<T>, variable: string, name: string, others: string[] = []): T {
    const all = this.all(seam);
    const found = all.get(name);
    if (found === undefined) throw unknownName(variable, [...others, ...[...all.keys()].sort()]);
    return found;
  }

  /** One implementation by name; throws and lists the names that exist. */
  get<T>(seam: Seam<T>, name: string): T {
    const all = this.all(seam);
    const found = all.get(name);
    if (found === undefined) {
      throw new Error(
        `No plugin of ${seam.name} is called '${name}'. Known: ${[...all.keys()].sort().join(', ') || 'none'}. ` +
          `Add the module that provides it to src/extensions.ts.`,
      );
    }
    return found;
  }
}
