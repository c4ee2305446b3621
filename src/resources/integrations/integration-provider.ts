// The seam of the providers whose events start automations (reference §13).
import type { IncomingHttpHeaders } from 'node:http';

export interface IntegrationDescription {
  /** The name of the plugin: small letters and digits, such as `github`. Stable: `triggerEvent` begins with it. */
  slug: string;
  /** As the provider writes it. */
  name: string;
  /** One sentence: which events start automations. */
  description: string;
  /** What the provider is for, such as `source_control`. */
  category: string;
  /** All events that {@link IntegrationProvider.parseEvent} gives, without the slug: `pull_request.opened`, `push`. */
  triggerEvents: { name: string; description: string }[];
  /** Whether the signature covers a time or the delivery id. If neither, a hash of the body stands in for the id (reference §13). */
  signsId: boolean;
  /**
   * What to do about deliveries that come as a form, for providers that send some: a sentence for the one who set the provider up. Events are
   * JSON.
   */
  form?: string;
  /** What a secret looks like, where not every text is one: `words` end the sentence "a secret of this provider is …". */
  secret?: { form: RegExp; words: string };
}

/** A delivery as it arrived. */
export interface HookRequest {
  /** Names in small letters, as Node gives them. */
  headers: IncomingHttpHeaders;
  /** The bytes that were signed; up to 25 MiB. */
  body: Buffer;
  /** The time by which freshness is judged. */
  receivedAt: Date;
}

/** What a verified delivery is: something that happened, or a question of the provider that is answered at once. */
export type Parsed =
  | {
      type: 'event';
      /** `<event>` or `<event>.<action>`, without the slug. One that the description does not list starts nothing. */
      event: string;
      /** The provider's own id of the delivery, the same when it is sent again; null when it has none. */
      deliveryId: string | null;
    }
  | {
      type: 'handshake';
      /** An object is sent as JSON, a string as plain text. */
      answer: { status: number; body: object | string };
    }
  | {
      type: 'malformed';
      /** What is wrong with it, in a sentence; it is answered with 400. */
      fault: string;
    };

/**
 * A provider of events, such as GitHub. All plugins of this seam are in the catalogue. A provider is called for each delivery, several
 * at once, and keeps no state between the calls.
 */
export abstract class IntegrationProvider {
  /** Always the same. */
  abstract describe(): IntegrationDescription;

  /**
   * Whether one of the secrets (two while they are exchanged, else one) signed the body, and the delivery is fresh where the signature
   * covers a time. It compares in constant time and answers false to anything that is missing or malformed; it throws for a defect alone.
   * Headers and body are a stranger's. A body of 25 MiB must not hold the event loop for 100 ms.
   */
  abstract verify(request: HookRequest, secrets: readonly string[]): boolean | Promise<boolean>;

  /** Of a verified delivery: what it is. `payload` is what its body holds, as JSON. It throws for a defect alone. */
  abstract parseEvent(headers: IncomingHttpHeaders, payload: unknown): Parsed;

  /**
   * A delivery by which people see that a connection works: the provider's own handshake, signed with this secret, for which
   * {@link parseEvent} gives a `handshake`. Left out where the provider has none: whatever else it sends might start automations.
   * @param at when it is sent.
   */
  testDelivery?(secret: string, at: Date): Pick<HookRequest, 'headers' | 'body'>;
}
