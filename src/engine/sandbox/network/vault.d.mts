import type { Finder } from './mask.mjs';

export interface HeaderPlace {
  header: string;
  form: 'bearer' | 'basic' | 'token' | 'raw';
  /** The user name in Basic; null: any. */
  user: string | null;
}
export interface QueryPlace {
  query: string;
}
export interface VaultBinding {
  /** A name in small letters, `*.` and a name for one label before it, or an address. */
  host: string;
  port: number;
  /** Null: all. */
  methods: string[] | null;
  /** Patterns: `*` for one segment, `**` for any; null: all. */
  paths: string[] | null;
  place: HeaderPlace | QueryPlace;
}
export interface VaultSecret {
  name: string;
  placeholder: string;
  /** Null when it is deleted. */
  value: string | null;
  /** False while a person has to allow its use: requests that would use it are refused. */
  approved: boolean;
  bindings: VaultBinding[];
}
export interface Asked {
  host: string;
  port: number;
  method: string;
  target: string;
  headers: string[];
}
export declare const PLACEHOLDER_LENGTH: number;
export declare class Vault {
  constructor(secrets: readonly VaultSecret[], finder?: Finder);
  readonly finder: Finder;
  binds(host: string, port: number): boolean;
  leads(host: string, port: number): boolean;
  checkBody(bytes: Buffer): void;
  put(asked: Asked): { target: string; headers: string[]; used: string[] };
}
export declare function leadsTo(binding: VaultBinding, host: string, port: number): boolean;
