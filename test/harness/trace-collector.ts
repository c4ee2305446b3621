// A collector of traces: takes OTLP over HTTP as JSON (opentelemetry.io/docs/specs/otlp), and keeps the spans.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CollectedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: Record<string, unknown> }[];
  status: { code: number };
  service: string;
}

type Attributes = CollectedSpan['attributes'];
interface Export {
  resourceSpans: { resource: { attributes: Attributes }; scopeSpans: { spans: Omit<CollectedSpan, 'service'>[] }[] }[];
}

export class TraceCollector {
  readonly spans: CollectedSpan[] = [];
  /** All that was sent. */
  text = '';

  private constructor(
    readonly url: string,
    readonly stop: () => Promise<void>,
  ) {}

  static async start(): Promise<TraceCollector> {
    const server = createServer((req, res) => {
      const chunks: Buffer[] = [];
      req.on('data', (chunk: Buffer) => chunks.push(chunk));
      req.on('end', () => {
        const right = req.url === '/v1/traces' && req.headers['content-type'] === 'application/json';
        if (right) collector.take(Buffer.concat(chunks).toString());
        res.writeHead(right ? 200 : 404, { 'Content-Type': 'application/json' }).end('{}');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const stop = () => new Promise<void>((resolve) => server.close(() => resolve()));
    const collector = new TraceCollector(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop);
    return collector;
  }

  private take(text: string): void {
    this.text += text;
    for (const { resource, scopeSpans } of (JSON.parse(text) as Export).resourceSpans) {
      const service = String(attributesOf(resource)['service.name']);
      for (const { spans } of scopeSpans) this.spans.push(...spans.map((span) => ({ ...span, service })));
    }
  }
}

/** Attributes by their keys. */
export function attributesOf({ attributes }: { attributes: Attributes }): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
