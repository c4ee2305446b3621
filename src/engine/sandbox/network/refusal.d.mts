export declare class Refusal extends Error {
  constructor(status: number, message: string, code?: string);
  readonly status: number;
  readonly code: string;
}
export declare function asRefusal(error: Error): Refusal;
