import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { Env } from '../config/env.js';
import { isSingleton, providersOf } from '../plugins/providers.js';
import { handlerMarkOf, type HandlerMark, isDeclared, JobWork } from './job-handler.js';

export type KnownHandler = HandlerMark & { readonly work: JobWork };

/** The handlers of this process, found at boot. A wrong one stops the boot. */
@Injectable()
export class JobHandlers implements OnModuleInit {
  private readonly found = new Map<string, KnownHandler>();

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly env: Env,
  ) {}

  onModuleInit(): void {
    for (const [work, wrapper] of providersOf(this.discovery)) {
      const mark = handlerMarkOf(work);
      if (mark === undefined) continue;
      const { name } = work.constructor;
      if (!isJobWork(work)) {
        throw new Error(
          `The handler ${name} of the queue '${mark.queue}' is no JobWork: let the class extend JobWork.`,
        );
      }
      if (!isSingleton(wrapper)) {
        throw new Error(`The handler ${name} is a provider that is made anew: a singleton is expected.`);
      }
      const other = this.found.get(mark.queue)?.work;
      if (other !== undefined) {
        throw new Error(
          `The queue '${mark.queue}' has two handlers, ${other.constructor.name} and ${name}: ` +
            `rename it in the @JobHandler of one, or take one out of its module.`,
        );
      }
      this.found.set(mark.queue, { ...mark, work });
    }
  }

  get all(): readonly KnownHandler[] {
    return [...this.found.values()];
  }

  /** Throws unless the queue has a handler: in this process when it works, else anywhere in the program. */
  expect(queue: string): void {
    if (this.env.runsWork ? this.found.has(queue) : isDeclared(queue)) return;
    throw new Error(
      `The queue '${queue}' has no handler: a provider of the class @JobHandler('${queue}') … extends JobWork is expected in a module. ` +
        `Known queues: ${[...this.found.keys()].sort().join(', ') || 'none'}.`,
    );
  }
}

function isJobWork(provider: object): provider is JobWork {
  return provider instanceof JobWork;
}
