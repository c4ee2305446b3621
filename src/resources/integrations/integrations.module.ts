// Integrations: the catalogue of providers, what is connected, and the address at which providers deliver events.
import { Module } from '@nestjs/common';
import { RateLimitModule } from '../../access/rate-limit/rate-limit.module.js';
import { CatalogueModule } from './catalogue/catalogue.module.js';
import { ConnectionsController } from './connections.controller.js';
import { ConnectionsModule } from './connections.module.js';
import { HookBodies } from './hooks/hook-bodies.js';
import { HookLog } from './hooks/hook-log.js';
import { HookTest } from './hooks/hook-test.js';
import { HookVerifier } from './hooks/hook-verifier.js';
import { HooksController } from './hooks/hooks.controller.js';
import { HooksService } from './hooks/hooks.service.js';
import { IntegrationsController } from './integrations.controller.js';
import { IntegrationsService } from './integrations.service.js';
import { MemberConnections } from './member-connections.js';

@Module({
  imports: [CatalogueModule, ConnectionsModule, RateLimitModule],
  controllers: [IntegrationsController, ConnectionsController, HooksController],
  providers: [IntegrationsService, MemberConnections, HooksService, HookBodies, HookLog, HookTest, HookVerifier],
  exports: [CatalogueModule, ConnectionsModule],
})
export class IntegrationsModule {}
