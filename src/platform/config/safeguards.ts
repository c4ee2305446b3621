import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';

/** Whole sentences. */
export interface Facts {
  inForce?: readonly string[];
  missing?: readonly string[];
}

/**
 * What keeps tenants, commands and this process apart, and within which bounds: one list of what is in force here, one of what is
 * missing. Each part says what it has set up from its `onModuleInit`, or earlier. The boot prints both; `/health/ready` and
 * `doctor` show them to everybody. So a sentence holds figures and names of mechanisms: no secret, nothing of a tenant, and no path where it can do without.
 */
@Injectable()
export class Safeguards implements OnApplicationBootstrap {
  private readonly facts = { inForce: [] as string[], missing: [] as string[] };

  report({ inForce = [], missing = [] }: Facts): void {
    this.facts.inForce.push(...inForce);
    this.facts.missing.push(...missing);
  }

  get inForce(): readonly string[] {
    return this.facts.inForce;
  }

  get missing(): readonly string[] {
    return this.facts.missing;
  }

  /** As the service itself: a terminal shows its lines while it boots. */
  onApplicationBootstrap(): void {
    const logger = new Logger('Millwright');
    if (this.inForce.length > 0) logger.log(`In force: ${this.inForce.join(' ')}`);
    if (this.missing.length > 0) logger.warn(`Missing: ${this.missing.join(' ')}`);
  }
}
