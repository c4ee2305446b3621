import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Env } from '../../platform/config/env.js';
import type { SignInConfig } from '../../platform/config/sign-in.js';
import { discover, type Provider, reasonOf } from './provider.js';

/** Between two looks at a provider that answers, and at one that does not. Milliseconds. */
const [PACE, PACE_OF_FAILURE] = [600_000, 30_000];

/**
 * The provider of `signIn`, looked at from the boot on: one that is away keeps nobody from booting, nor from working with a key. Without
 * `signIn` it does nothing.
 */
@Injectable()
export class SignInProvider implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('SignIn');
  private provider: Provider | null = null;
  private looking: Promise<boolean> | null = null;
  private answered: boolean | null = null;
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;

  constructor(private readonly env: Env) {}

  /** Null: nobody signs in by a provider here. */
  get config(): SignInConfig | null {
    return (this.env.servesConsole ? this.env.file.signIn : undefined) ?? null;
  }

  onApplicationBootstrap(): void {
    void this.look();
  }

  onApplicationShutdown(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  /** Whether it answered when it was asked last; null without `signIn`. */
  async answers(): Promise<boolean | null> {
    if (this.config === null) return null;
    return this.looking ?? this.answered ?? this.look();
  }

  /** The provider, asked anew where it did not answer before. Null: it does not answer. */
  async current(): Promise<Provider | null> {
    if (this.provider === null || this.answered === false) await this.look();
    return this.answered === true ? this.provider : null;
  }

  /** For who has asked it and got no answer. */
  missed(): void {
    this.answered = false;
  }

  /** All who ask at once wait for one look. */
  private look(): Promise<boolean> {
    this.looking ??= this.read().finally(() => (this.looking = null));
    return this.looking;
  }

  private async read(): Promise<boolean> {
    const { config } = this;
    const secret = this.env.signInSecret;
    if (config === null || secret === null) return false;
    clearTimeout(this.timer);
    const before = this.answered;
    try {
      this.provider = await discover(config, secret);
      this.answered = true;
      if (before === false) this.logger.log(`${config.issuer} answers again: people can sign in.`);
    } catch (error) {
      this.answered = false;
      if (before !== false)
        this.logger.warn(
          `${config.issuer} does not answer as an OpenID Connect provider (${reasonOf(error)}): nobody can sign in by it. Keys work.`,
        );
    }
    const pace = this.answered ? PACE : PACE_OF_FAILURE;
    if (!this.stopped) this.timer = setTimeout(() => void this.look(), pace).unref();
    return this.answered;
  }
}
