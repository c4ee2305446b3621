// Sends sequences of generated requests, several at a time, and makes the first failing one as small as it can.
import fc from 'fast-check';
import { Contract, type Document } from '../harness/contract.js';
import { until } from '../harness/until.js';
import { Operations } from './operations.js';
import { problemOf } from './properties.js';
import { piecesOf, rawProblem, type RawStory, rawStory, tell } from './raw-stories.js';
import { curl, requestOf, type Sent } from './request.js';
import { Scene } from './scene.js';
import { Statistics } from './statistics.js';
import { sequence } from './sequences.js';
import type { Step } from './steps.js';
import { type Got, Transport } from './transport.js';
import type { World } from './world.js';

/** Stories that are under way at the same time. */
const LANES = 8;
/** Stories that are made of one seed. */
const BATCH = 25;
/** How often a failing story is tried in a smaller form, and for how long: a request that hangs takes its time. */
const ATTEMPTS = 300;
const SHRINKING_MS = 60_000;

/** What was sent, to be printed when something is wrong. */
type Line = () => string;

const PAUSED = /"status":"queued","statusReason":\{"code":"paused"/;

export class Fuzzer {
  readonly statistics = new Statistics();
  private sent = 0;
  private batches = 0;
  private failure: { lane: number; since: number; attempts: number; report: string } | null = null;
  private readonly operations: Operations;
  private readonly contract: Contract;
  private readonly transport: Transport;
  private readonly sequences: fc.Arbitrary<Step[]>;

  private constructor(
    private readonly world: World,
    document: Document,
    readonly seed: number,
  ) {
    this.operations = new Operations(document);
    this.contract = new Contract(document);
    this.transport = new Transport(world.service.url);
    this.sequences = sequence(this.operations);
  }

  static async make(world: World, seed: number): Promise<Fuzzer> {
    const document = (await (await fetch(`${world.service.url}/openapi.json`)).json()) as Document;
    return new Fuzzer(world, document, seed);
  }

  get operationNames(): string[] {
    return this.operations.all.map(({ name }) => name);
  }

  /**
   * Sends so many requests; rejects with the smallest failing story that was found. The n-th batch of stories is made of
   * the seed plus n and nothing else; what it meets also depends on the seven others that are under way.
   */
  async run(requests: number): Promise<void> {
    const goal = this.sent + requests;
    const lane = async (number: number): Promise<void> => {
      while (this.sent < goal && this.failure === null) await this.batch(this.batches++, number);
    };
    await Promise.all(Array.from({ length: LANES }, (_, number) => lane(number)));
    this.transport.close();
    if (this.failure !== null) throw new Error(this.failure.report);
  }

  private async batch(number: number, lane: number): Promise<void> {
    const story = fc.oneof({ weight: 3, arbitrary: this.sequences }, { weight: 1, arbitrary: rawStory });
    const property = fc.asyncProperty(story, (told) => this.play(told, lane, number));
    // The product spreads neighbouring seeds; fast-check takes 32 bits.
    const seed = Math.imul(this.seed + number, 0x9e3779b1);
    await fc.check(property, { seed, numRuns: BATCH });
  }

  /** Sends what a story has; throws at the first answer that should not be. */
  private async play(story: Step[] | RawStory, lane: number, batch: number): Promise<void> {
    if (this.failure !== null && (this.failure.lane !== lane || this.exhausted(this.failure))) return;
    const log: Line[] = [];
    try {
      if (Array.isArray(story)) await this.playSteps(story, log);
      else await this.playRaw(story, log);
    } catch (error) {
      const lines = log.map((line) => line());
      this.failure = {
        ...(this.failure ?? this.first(lane, batch)),
        report: this.report(error as Error, batch, lines),
      };
      throw error;
    }
  }

  private first(lane: number, batch: number) {
    console.error(`A story of batch ${batch} failed; making it smaller.`);
    return { lane, since: Date.now(), attempts: 0 };
  }

  /** A service that is gone fails any story: then the first one that met it is the best there is. */
  private exhausted(failure: { since: number; attempts: number }): boolean {
    failure.attempts += 1;
    const late = failure.attempts > ATTEMPTS || Date.now() - failure.since > SHRINKING_MS;
    return late || this.world.service.ended;
  }

  private report({ message }: Error, batch: number, lines: string[]): string {
    const { ended, log } = this.world.service;
    const again = `MILLWRIGHT_SEED=${this.seed + batch} MILLWRIGHT_FUZZ_REQUESTS=1 npm run test:fuzz begins with it.`;
    const last = ended ? ['The service has ended. Its last words:', log.slice(-2000)] : [];
    return [message, '', ...last, `${again} The smallest story:`, ...lines].join('\n');
  }

  private async playRaw(story: RawStory, log: Line[]): Promise<void> {
    const { service, people } = this.world;
    const pieces = piecesOf(story, new URL(service.url).host, people.secrets['member'] ?? '');
    log.push(() => `raw, "${story.request}" with "${story.defect}", then ${story.end}: ${JSON.stringify(pieces).slice(0, 2000)}`);
    this.sent += 1;
    const heard = await tell(service.url, pieces, story.end);
    this.statistics.count(`raw ${story.defect}`, Number(heard.slice(9, 12)));
    const problem = rawProblem(heard);
    if (problem !== null) throw new Error(`${problem}\n${heard.slice(0, 2000)}`);
  } // prettier-ignore

  private async playSteps(steps: Step[], log: Line[]): Promise<void> {
    const scene = new Scene(this.world.shared, this.world.foreign);
    for (const step of steps) await this.act(step, scene, log);
  }

  private async act(step: Step, scene: Scene, log: Line[]): Promise<void> {
    if (step.settle) await this.settle(scene, log);
    const sent = requestOf(step, scene, this.operations, this.world.people);
    await Promise.all(Array.from({ length: step.times }, () => this.exchange(sent, scene, log)));
  }

  private async exchange(sent: Sent, scene: Scene, log: Line[]): Promise<Got> {
    log.push(() => curl(sent, this.world.service.url));
    this.sent += 1;
    const got = await this.transport.send(sent).catch((error: unknown) => {
      throw new Error(`${sent.method} ${sent.path}: ${(error as Error).message}`);
    });
    this.statistics.count(sent.operation, got.status);
    const problem = problemOf(sent, got, this.contract);
    if (problem !== null) {
      throw new Error(`${sent.method} ${sent.path} answered ${got.status}. ${problem}\n${got.text.slice(0, 2000)}`);
    }
    // The content of a file is whatever somebody uploaded.
    const isRecord = got.headers.get('content-type') === 'application/json; charset=utf-8' && !sent.path.includes('/content');
    if (got.status < 300 && isRecord && got.text !== '') scene.learn(JSON.parse(got.text), sent.path);
    return got;
  } // prettier-ignore

  /** Waits until the newest task of the sequence works no more: it is over, gone, paused, or has a question. */
  private async settle(scene: Scene, log: Line[]): Promise<void> {
    const id = scene.own['taskId']?.at(-1);
    if (id === undefined) return;
    const path = `/v1/tasks/${id}`;
    const headers: [string, string][] = [['Authorization', `Bearer ${this.world.people.secrets['owner']}`]];
    const expected = { known: true, allowed: true };
    const asked: Sent = { method: 'GET', path, headers, body: null, operation: 'GET /v1/tasks/{taskId}', expected };
    const atRest = async () => {
      const got = await this.exchange(asked, scene, []);
      return got.status !== 200 || !/"status":"(queued|running)"/.test(got.text) || PAUSED.test(got.text);
    };
    log.push(() => curl(asked, this.world.service.url));
    await until(`task ${id} to be at rest`, atRest, { within: 150_000, every: 25 });
  }
}
