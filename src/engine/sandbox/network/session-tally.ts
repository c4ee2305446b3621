import type { Logger } from '@nestjs/common';
import type { Metrics } from '../../../platform/metrics/metrics.js';
import type { NetworkUse } from './network-use.js';

type Sums = Pick<NetworkUse, 'connections' | 'failed' | 'bytesIn' | 'bytesOut'>;

/** Refused hosts that a line of the log names. */
const MOST_NAMES = 20;

/** The counters of the network. */
export function networkMetrics(metrics: Metrics) {
  return {
    bytes: metrics.counter('sandbox_network_bytes_total', 'Bytes between sandboxes and hosts.', 'direction'),
    connections: metrics.counter(
      'sandbox_network_connections_total',
      'Connections that sandboxes asked for.',
      'outcome',
    ),
  };
}

/** What a session did with the network, for the counters as it comes, and for the log at its end. */
export class SessionTally {
  private readonly hosts = new Map<string, Sums>();
  private readonly names = new Set<string>();
  private refused = 0;

  constructor(private readonly metrics: ReturnType<typeof networkMetrics>) {}

  add(uses: readonly NetworkUse[]): void {
    const { bytes, connections } = this.metrics;
    for (const use of uses) {
      bytes.inc({ direction: 'in' }, use.bytesIn);
      bytes.inc({ direction: 'out' }, use.bytesOut);
      connections.inc({ outcome: 'made' }, use.connections);
      connections.inc({ outcome: 'failed' }, use.failed);
      connections.inc({ outcome: 'refused' }, use.refused);
      this.refused += use.refused;
      if (use.refused > 0 && this.names.size < MOST_NAMES) this.names.add(use.host);
      if (use.connections + use.failed + use.bytesIn + use.bytesOut > 0) this.sum(use);
    }
  }

  /** @param dropped connections beyond those that a session may have at once. */
  log(logger: Logger, taskId: string, dropped: number): void {
    for (const [host, { connections, failed, bytesIn, bytesOut }] of this.hosts) {
      const msg = `Task ${taskId} had ${connections} connections to ${host}: ${bytesIn} bytes in, ${bytesOut} out, ${failed} failed.`;
      logger.log({ taskId, host, connections, failed, bytesIn, bytesOut, msg });
    }
    this.metrics.connections.inc({ outcome: 'dropped' }, dropped);
    const { refused } = this;
    if (refused + dropped === 0) return;
    const hosts = [...this.names];
    const msg = `Task ${taskId} was refused ${refused} connections or requests to hosts (${hosts.join(' ')}), and ${dropped} connections that were too many at once.`;
    logger.log({ taskId, refused, dropped, hosts, msg });
  }

  private sum(use: NetworkUse): void {
    const sums = this.hosts.get(use.host) ?? { connections: 0, failed: 0, bytesIn: 0, bytesOut: 0 };
    this.hosts.set(use.host, sums);
    for (const field of ['connections', 'failed', 'bytesIn', 'bytesOut'] as const) sums[field] += use[field];
  }
}
