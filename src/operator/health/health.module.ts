// What an operator watches: whether the process lives, whether it can work, and its figures.
import { Module } from '@nestjs/common';
import { HealthController } from './health.controller.js';
import { MetricsController } from './metrics.controller.js';
import { MetricsServer } from './metrics-server.js';
import { Readiness } from './readiness.js';
import { SignInProviderModule } from '../../access/sign-in/sign-in-provider.module.js';
import { RateLimitModule } from '../../access/rate-limit/rate-limit.module.js';
import { FilesModule } from '../../resources/files/files.module.js';
import { ServiceFigures } from './service-figures.js';

@Module({
  imports: [RateLimitModule, FilesModule, SignInProviderModule],
  controllers: [HealthController, MetricsController],
  providers: [Readiness, ServiceFigures, MetricsServer],
})
export class HealthModule {}
