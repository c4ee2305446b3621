import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Env } from '../../config/env.js';
import { ExtensionSet } from '../../plugins/extension-set.js';
import { EndpointExplorer } from '../endpoint-explorer.js';

/**
 * The OpenAPI document of this process. Made at boot (70 ms of CPU, 2 MB), so that two schemas or routes of one name stop it;
 * a worker, which shows none, makes none.
 */
@Injectable()
export class OpenApi implements OnApplicationBootstrap {
  private made: Promise<string> | undefined;

  constructor(
    private readonly endpoints: EndpointExplorer,
    private readonly env: Env,
    private readonly extensions: ExtensionSet,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    if (this.env.servesApi) await this.text();
  }

  /** As JSON. */
  text(): Promise<string> {
    return (this.made ??= this.make());
  }

  private async make(): Promise<string> {
    const { openApiDocument } = await import('./openapi-document.js');
    const { PUBLIC_URL = '' } = this.env.variables;
    return JSON.stringify(openApiDocument(this.endpoints.routes, PUBLIC_URL, this.extensions));
  }
}
