import { Injectable } from '@nestjs/common';

/** How long before its end a token is no longer used, in milliseconds: a clone may take ten minutes, and asks in its first one. */
const MARGIN_MS = 300_000;

interface Made {
  token: string;
  /** Milliseconds. */
  expiresAt: number;
}

/** The tokens that Apps were given, in this process alone. Each is used until five minutes before its end. */
@Injectable()
export class AppTokens {
  private readonly made = new Map<string, Made>();

  /** The token of a key that is good for a while yet; else `make` makes it. */
  async get(key: string, make: () => Promise<Made>): Promise<string> {
    const found = this.made.get(key);
    if (found !== undefined && usable(found)) return found.token;
    for (const [other, one] of this.made) if (!usable(one)) this.made.delete(other);
    const made = await make();
    this.made.set(key, made);
    return made.token;
  }

  forget(key: string): void {
    this.made.delete(key);
  }
}

const usable = ({ expiresAt }: Made) => expiresAt - MARGIN_MS > Date.now();
