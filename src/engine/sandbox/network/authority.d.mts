export declare class Authority {
  constructor(name: string);
  readonly certificate: string;
  host(host: string): { cert: string; key: string };
}
