import { Injectable } from '@nestjs/common';
import { Env } from '../../config/env.js';
import { EndpointExplorer } from '../endpoint-explorer.js';

/** The OpenAPI document of this process. It is made once, at the first request for it: most processes get none. */
@Injectable()
export class OpenApi {
  private made: Promise<string> | undefined;

  constructor(
    private readonly endpoints: EndpointExplorer,
    private readonly env: Env,
  ) {}

  /** As JSON. */
  text(): Promise<string> {
    return (this.made ??= this.make());
  }

  private async make(): Promise<string> {
    const { openApiDocument } = await import('./openapi-document.js');
    return JSON.stringify(openApiDocument(this.endpoints.routes, this.env.variables.PUBLIC_URL ?? ''));
  }
}
