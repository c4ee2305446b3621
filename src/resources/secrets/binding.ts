import type { VaultBinding } from '../../engine/sandbox/network/vault.mjs';

/** How a value stands in a header: `bearer` is `Bearer VALUE`, `token` is `token VALUE`, `basic` is Basic with it as the password. */
export const HEADER_FORMS = ['bearer', 'basic', 'token', 'raw'] as const;
export type HeaderForm = (typeof HEADER_FORMS)[number];

/** Where the value of a secret goes: in this place of requests to this host, and nowhere else (reference §24). The proxy reads it as it is stored. */
export type Binding = VaultBinding;
export type Place = Binding['place'];
