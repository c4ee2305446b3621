// What the service counts about itself, for Prometheus (reference §16). One registry per application, so that two in one
// process do not share their figures.
import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { RequestHandler } from 'express';
import { notesOf } from '../http/request-notes.js';

// From what a cached read takes to what a client gives up at. Seconds.
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

@Injectable()
export class Metrics {
  readonly registry = new Registry();

  readonly modelCalls = this.counter('model_calls_total', 'Calls of models, each try by itself.', 'model', 'outcome');
  readonly modelTokens = this.counter('model_tokens_total', 'Tokens of answered calls.', 'model', 'kind');
  readonly sandboxStarts = this.counter('sandbox_starts_total', 'Sandboxes: one for each command.', 'outcome');
  readonly webFetches = this.counter('web_fetches_total', 'Pages that agents asked for.', 'outcome');
  readonly mcpCalls = this.counter('mcp_calls_total', 'Calls of tools of MCP servers.', 'server', 'outcome');
  readonly mcpCallSeconds = new Histogram({
    name: 'millwright_mcp_call_seconds',
    help: 'Calls of tools of MCP servers, from the call to its result.',
    labelNames: ['server'],
    buckets: SECONDS,
    registers: [this.registry],
  });
  readonly engineStarts = this.counter('engine_starts_total', 'Starts of agent programs.', 'engine', 'outcome');
  readonly engineStartSeconds = new Histogram({
    name: 'millwright_engine_start_seconds',
    help: 'From the start of an agent program until it has a session.',
    labelNames: ['engine'],
    buckets: SECONDS,
    registers: [this.registry],
  });
  readonly engineMemory = new Gauge({
    name: 'millwright_engine_memory_bytes',
    help: 'What the program of an engine took when it was last tried.',
    labelNames: ['engine'],
    registers: [this.registry],
  });
  readonly runsEnded = this.counter('runs_ended_total', 'Runs that this process brought to an end.', 'outcome');
  readonly jobsEnded = this.counter('jobs_ended_total', 'Jobs that left this process.', 'queue', 'outcome');
  readonly chores = this.counter('chore_runs_total', 'Chores that this process carried out.', 'chore', 'outcome');

  readonly environmentBuilds = this.counter(
    'environment_builds_total',
    'Builds of environments that ended.',
    'outcome',
  );
  readonly environmentStarts = this.counter(
    'environment_starts_total',
    'Tasks whose folders began as a build: from a spare copy, from a copy that was made then, or from the storage.',
    'way',
  );
  readonly environmentBuildSeconds = new Histogram({
    name: 'millwright_environment_build_seconds',
    help: 'From the beginning of a build of an environment to its end.',
    buckets: [1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1200, 1800],
    registers: [this.registry],
  });

  readonly occurrencesMissed = this.counter(
    'automation_occurrences_missed_total',
    'Occurrences that came due while no worker ran, and were recorded as skipped or left out.',
  );
  readonly fireLag = new Histogram({
    name: 'millwright_automation_fire_lag_seconds',
    help: 'From the time at which an occurrence is due to the commit of its run.',
    buckets: SECONDS,
    registers: [this.registry],
  });

  private readonly requests = new Histogram({
    name: 'millwright_http_request_duration_seconds',
    help: 'Requests by route, from the arrival of their head to the end of the answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: SECONDS,
    registers: [this.registry],
  });
  /** One series each, found without prom-client's hashing of labels. */
  private readonly series = new Map<string, Histogram.Internal<'method' | 'route' | 'status'>>();

  /** Times every request of a client. */
  readonly middleware: RequestHandler = (req, res, next) => {
    if (notesOf(req).within !== undefined) return next();
    const began = performance.now();
    res.once('close', () => {
      const { path } = (req.route as { path?: string } | undefined) ?? {};
      const status = res.writableFinished ? String(res.statusCode) : 'aborted';
      this.seriesOf(path === undefined ? 'none' : req.method, path ?? 'none', status).observe(
        (performance.now() - began) / 1000,
      );
    });
    next();
  };

  /** A figure that is kept elsewhere and read when Prometheus asks. `read` gives label values and numbers. */
  gauge(name: string, help: string, label: string | null, read: () => Promise<[string, number][]>): void {
    new Gauge({
      name: `millwright_${name}`,
      help,
      labelNames: label === null ? [] : [label],
      registers: [this.registry],
      async collect() {
        this.reset();
        for (const [value, figure] of await read()) this.set(label === null ? {} : { [label]: value }, figure);
      },
    });
  }

  /** A total that is kept elsewhere. */
  total(name: string, help: string, read: () => number): void {
    new Counter({
      name: `millwright_${name}`,
      help,
      registers: [this.registry],
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  }

  /** A total that the caller counts: keep it, and call its `inc`. */
  counter<const L extends string>(name: string, help: string, ...labelNames: L[]): Counter<L> {
    return new Counter({ name: `millwright_${name}`, help, labelNames, registers: [this.registry] });
  }

  // A method that no route has, and a path that is none, come from outside: as labels they would be without end.
  private seriesOf(method: string, route: string, status: string) {
    const key = `${method} ${route} ${status}`;
    let found = this.series.get(key);
    if (found === undefined) {
      found = this.requests.labels(method, route.replace(/:(\w+)/g, '{$1}'), status);
      this.series.set(key, found);
    }
    return found;
  }
}

/** One read for all gauges of one scrape. */
export function oncePerScrape<T>(read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | undefined;
  return () => (reading ??= read().finally(() => (reading = undefined)));
}
