// Spans of the OpenTelemetry SDK, sent by OTLP over HTTP as JSON. Only `tracing.module.ts` imports this, and only when it is asked for.
import { Logger } from '@nestjs/common';
import {
  type Attributes,
  type Context,
  defaultTextMapGetter,
  ROOT_CONTEXT,
  type Span as SdkSpan,
  SpanKind,
  SpanStatusCode,
  type Tracer,
} from '@opentelemetry/api';
import { ExportResultCode, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';

/** What a stop waits for the collector: the process has 10 s, most of which running work may need (reference §16). */
const LAST_SENDING_MS = 2000;

export interface SpanFacts {
  /** The `traceparent` of the span that this one belongs to (W3C Trace Context). Null, absent or malformed: it begins a trace. */
  parent?: string | null | undefined;
  /** What a caller's own tracing system adds to its `traceparent`. */
  state?: string | undefined;
  /** Whether it answers a request of another process. */
  server?: boolean;
  /** Milliseconds since 1970; now when not given. */
  began?: number;
  /** Ids, counts and names of the service's own. Never what people, models or tools wrote. */
  attributes?: Attributes;
}

/** A stretch of work that a collector is told of when it ends. */
export class Span {
  constructor(private readonly span: SdkSpan) {}

  /** For a span that belongs to this one: in another process, or later. */
  get traceparent(): string {
    const { traceId, spanId, traceFlags } = this.span.spanContext();
    return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
  }

  rename(name: string): void {
    this.span.updateName(name);
  }

  /** @param failure the kind of error that ended it; never a message, which may quote what somebody wrote. */
  end(attributes: Attributes = {}, failure?: string): void {
    this.span.setAttributes(attributes);
    if (failure !== undefined) {
      this.span.setAttribute('error.type', failure);
      this.span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.span.end();
  }
}

/** Where spans go. */
export class Collector {
  private readonly provider: TracerProvider;
  private readonly tracer: Tracer;
  private readonly propagator = new W3CTraceContextPropagator();

  /** @param endpoint the base address of the collector; `/v1/traces` is below it. */
  constructor(endpoint: string, service: string, role: string) {
    const exporter = new TellingExporter({ url: `${endpoint}/v1/traces`, timeoutMillis: LAST_SENDING_MS });
    this.provider = new TracerProvider({
      resource: resourceFromAttributes({ 'service.name': service, 'millwright.role': role }),
      spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: 1000 })],
    });
    this.tracer = this.provider.getTracer('millwright');
  }

  begin(name: string, { parent, state, server = false, began, attributes = {} }: SpanFacts = {}): Span {
    const kind = server ? SpanKind.SERVER : SpanKind.INTERNAL;
    const start = began === undefined ? {} : { startTime: began };
    return new Span(this.tracer.startSpan(name, { kind, attributes, ...start }, this.contextOf(parent, state)));
  }

  /** Sends what is left, within two seconds. Never rejects. */
  async stop(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise((resolve) => (timer = setTimeout(resolve, LAST_SENDING_MS)));
    await Promise.race([this.provider.shutdown().catch(() => undefined), late]);
    clearTimeout(timer);
  }

  private contextOf(traceparent: string | null | undefined, tracestate: string | undefined): Context {
    if (traceparent === null || traceparent === undefined) return ROOT_CONTEXT;
    return this.propagator.extract(ROOT_CONTEXT, { traceparent, tracestate }, defaultTextMapGetter);
  }
}

/** Says in the log, once, that spans do not arrive, and once that they do again. */
class TellingExporter extends OTLPTraceExporter {
  private readonly logger = new Logger('Tracing');
  private failing = false;

  override export(...[spans, done]: Parameters<OTLPTraceExporter['export']>): void {
    super.export(spans, (result) => {
      const failed = result.code === ExportResultCode.FAILED;
      if (failed && !this.failing) {
        this.logger.warn(`Traces do not reach OTEL_EXPORTER_OTLP_ENDPOINT, and are dropped: ${result.error?.message}`);
      } else if (!failed && this.failing) this.logger.log('Traces reach OTEL_EXPORTER_OTLP_ENDPOINT again.');
      this.failing = failed;
      done(result);
    });
  }
}
