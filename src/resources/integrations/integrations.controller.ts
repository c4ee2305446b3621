import { Controller, Get, Param } from '@nestjs/common';
import { z } from 'zod';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Auth } from '../../access/auth/auth.decorator.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { deliverySchema, deliveryView, integrationSchema } from './integration.view.js';
import { IntegrationsService } from './integrations.service.js';

@Controller('v1/integrations')
export class IntegrationsController {
  constructor(private readonly integrations: IntegrationsService) {}

  @Get()
  @Endpoint({
    summary: 'List the integrations',
    description: "All that exist, with the state of the workspace's connections and of the caller's own.",
    policy: 'metadata_read',
    scopes: ['integrations:read'],
    answer: z.strictObject({ integrations: z.array(integrationSchema) }),
  })
  async list(@Auth() auth: AuthContext) {
    return { integrations: await this.integrations.list(auth) };
  }

  @Get(':integrationSlug')
  @Endpoint({
    summary: 'Read an integration',
    policy: 'metadata_read',
    scopes: ['integrations:read'],
    answer: z.strictObject({ integration: integrationSchema }),
  })
  async get(@Auth() auth: AuthContext, @Param('integrationSlug') slug: string) {
    return { integration: await this.integrations.get(auth, slug) };
  }

  @Get(':integrationSlug/deliveries')
  @Endpoint({
    summary: 'List the last deliveries of an integration',
    description: "The last 100 of the workspace's connection and of the caller's own, the newest first.",
    policy: 'resource_read',
    scopes: ['integrations:read'],
    answer: z.strictObject({ deliveries: z.array(deliverySchema) }),
  })
  async deliveries(@Auth() auth: AuthContext, @Param('integrationSlug') slug: string) {
    return { deliveries: (await this.integrations.deliveries(auth, slug)).map(deliveryView) };
  }
}
