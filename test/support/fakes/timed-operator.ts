import { Controller } from '#controller';
import { settle } from '../fake-clock.ts';
import { freshMetrics, silentLogger } from '../silent-telemetry.ts';
import type { OperatorHarness } from './operator-harness.ts';

/** What happened, with the time since the start in seconds. */
interface Timed {
  readonly atS: number;
  readonly what: string;
}

interface TimedOptions {
  readonly baseDelayMs?: number;
  readonly maxDelayMs?: number;
}

/** An operator whose keys the real work queue runs, on the clock of its harness. Events arrive within `stepMs`. */
export class TimedOperator<Harness extends OperatorHarness = OperatorHarness> {
  readonly harness: Harness;
  readonly controller: Controller;
  readonly #stopper = new AbortController();
  readonly #happened: Timed[] = [];
  #startMs = 0;
  #seen = 0;

  constructor(harness: Harness, delays: TimedOptions = {}) {
    this.harness = harness;
    this.controller = new Controller({
      name: 'timed',
      clock: harness.clock,
      logger: silentLogger(),
      metrics: freshMetrics(),
      ...delays,
      reconciler: {
        reconcile: (key, context) => {
          this.#note('run');
          return harness.operator.reconcile(key, context);
        },
      },
    });
    harness.onEnqueue = (key, priority) => this.controller.enqueue(key, priority);
  }

  async start(): Promise<void> {
    await this.harness.start();
    void this.controller.run(this.#stopper.signal);
    await this.#rest();
    this.restart();
  }

  /** Forgets what has happened: time counts from now on. */
  restart(): void {
    this.#happened.length = 0;
    this.#startMs = this.harness.clock.monotonicMs();
    this.harness.cluster.requests.length = 0;
    this.#seen = 0;
  }

  stop(): void {
    this.#stopper.abort();
    this.harness.operator.stop();
  }

  /** Lets time pass. `each`: what others do after each step. */
  async pass(seconds: number, { stepMs = 1_000, each = () => undefined }: PassOptions = {}) {
    await this.#rest();
    for (let passedMs = 0; passedMs < seconds * 1_000; passedMs += stepMs) {
      await this.harness.clock.advance(stepMs);
      each(Math.round(this.#nowS()));
      await this.#rest();
    }
  }

  /** Times of the reconciles, in seconds. */
  get runs(): readonly number[] {
    return this.#happened.filter(({ what }) => what === 'run').map(({ atS }) => atS);
  }

  /** Times of the requests of a verb, in seconds. */
  sent(verb: string): readonly number[] {
    this.#noteRequests();
    return this.#happened.filter(({ what }) => what === verb).map(({ atS }) => atS);
  }

  /** Until nothing happens without time. */
  async #rest(): Promise<void> {
    do {
      for (let turn = 0; turn < 5; turn++) await settle();
      this.#noteRequests();
    } while (this.harness.deliver());
  }

  #noteRequests(): void {
    const { requests } = this.harness.cluster;
    for (const { verb } of requests.slice(this.#seen)) this.#note(verb);
    this.#seen = requests.length;
  }

  #note(what: string): void {
    this.#happened.push({ atS: this.#nowS(), what });
  }

  #nowS(): number {
    return Math.round(this.harness.clock.monotonicMs() - this.#startMs) / 1_000;
  }
}

interface PassOptions {
  /** @default 1_000 */
  readonly stepMs?: number;
  readonly each?: (second: number) => void;
}
