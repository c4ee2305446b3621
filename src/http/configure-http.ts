import type { INestApplication } from '@nestjs/common';
import type { Env } from '../config/env.js';

/** What must be set on the application before it listens; the program and the test harness both call it. */
export function configureHttp(app: INestApplication, env: Env): void {
  void app;
  void env;
}
