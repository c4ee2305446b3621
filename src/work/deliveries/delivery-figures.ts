import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { FIGURES } from './deliveries.sql.js';

/** What waits to be sent, for Prometheus. */
@Injectable()
export class DeliveryFigures implements OnModuleInit {
  private reading: Promise<{ waiting: number; age: number } | undefined> | undefined;

  constructor(
    private readonly database: Database,
    private readonly metrics: Metrics,
  ) {}

  onModuleInit(): void {
    const gauge = (name: string, help: string, figure: 'waiting' | 'age') =>
      this.metrics.gauge(name, help, null, async () => {
        const found = await this.read();
        return found === undefined ? [] : [['', found[figure]]];
      });
    gauge('webhook_deliveries_waiting', 'Deliveries of webhooks that are due and not being sent.', 'waiting');
    gauge('webhook_deliveries_age_seconds', 'How long the first of them has been due.', 'age');
  }

  /** One statement for all gauges of one scrape. Without a database they are missing. */
  private read(): Promise<{ waiting: number; age: number } | undefined> {
    this.reading ??= this.database.reports
      .run(FIGURES())
      .then(([found]) => found)
      .catch(() => undefined)
      .finally(() => (this.reading = undefined));
    return this.reading;
  }
}
