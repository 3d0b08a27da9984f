import type { ApiClient } from '#kube';
import { type Informer, KubeError, type Watcher } from '#kube/roles.ts';
import { LeaderElector } from '#runtime/leadership/leader-elector.ts';
import { resolveLeaseTimes } from '#runtime/leadership/lease.ts';
import { WriteFence } from '#runtime/leadership/write-fence.ts';
import type { Clock } from '#util/clock.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { settle } from '../fake-clock.ts';
import type { SeededRandom } from '../model/seeded-random.ts';
import { freshMetrics, silentLogger } from '../silent-telemetry.ts';
import { LeaseServer } from './lease-server.ts';

interface Happening {
  readonly atMs: number;
  readonly run: () => void;
}

/** How requests of one process fare. */
export interface Network {
  /** One way, in ms of the harness. Undefined: it never comes. */
  readonly delayMs: (way: 'there' | 'back') => number | undefined;
  /** Until the watch shows a change; undefined: it does not. @default as `delayMs('back')` */
  readonly watchDelayMs?: () => number | undefined;
}

/** One Lease and several processes, in a time of its own: their clocks differ, messages take long or are lost, processes freeze. */
export class LeaseHarness {
  readonly server = new LeaseServer();
  readonly random: SeededRandom;
  readonly members = new Set<Member>();
  readonly #happenings = new Set<Happening>();
  nowMs = 0;
  /** Called when a process has ended, however that came. */
  onLeft: () => void = () => {};

  constructor(random: SeededRandom) {
    this.random = random;
  }

  at(afterMs: number, run: () => void): () => void {
    const happening = { atMs: this.nowMs + afterMs, run };
    this.#happenings.add(happening);
    return () => this.#happenings.delete(happening);
  }

  join(options: MemberOptions): Member {
    const member = new Member(this, options);
    this.members.add(member);
    return member;
  }

  /** Lets time pass; `check` is called after each thing that happens. */
  async run(forMs: number, check: () => void = () => {}): Promise<void> {
    const endMs = this.nowMs + forMs;
    await settle();
    for (;;) {
      const next = this.#next(endMs);
      if (next === undefined) break;
      this.#happenings.delete(next);
      this.nowMs = Math.max(this.nowMs, next.atMs);
      next.run();
      await settle();
      check();
    }
    this.nowMs = endMs;
  }

  /** Who may write now. A frozen process does nothing until it continues: it is asked then. */
  get writers(): readonly Member[] {
    return [...this.members].filter((member) => member.mayWrite);
  }

  #next(endMs: number): Happening | undefined {
    let first: Happening | undefined;
    for (const happening of this.#happenings) {
      if (happening.atMs <= endMs && (first === undefined || happening.atMs < first.atMs))
        first = happening;
    }
    return first;
  }
}

export interface MemberOptions {
  readonly name: string;
  readonly network: Network;
  /** How fast its clock runs. @default 1 */
  readonly rate?: number;
  /** What its clock on the wall says at the beginning. @default 0 */
  readonly wallMs?: number;
}

/** One process. */
export class Member {
  readonly name: string;
  readonly fence: WriteFence;
  readonly elector: LeaderElector;
  readonly ended: Promise<void>;
  isDead = false;
  lostBecause: string | undefined;
  readonly #harness: LeaseHarness;
  readonly #network: Network;
  readonly #stop = new AbortController();
  #frozen: (() => void)[] | undefined;

  constructor(harness: LeaseHarness, { name, network, rate = 1, wallMs = 0 }: MemberOptions) {
    this.name = name;
    this.#harness = harness;
    this.#network = network;
    const clock = this.#clock(rate, wallMs);
    this.fence = new WriteFence(clock);
    const times = resolveLeaseTimes();
    this.elector = new LeaderElector({
      cluster: {
        api: { request: (request, signal) => this.#request(request, signal) },
        ...this.#watcher(),
      },
      namespace: 'system',
      name: 'homeostat',
      identity: name,
      times,
      fence: this.fence,
      clock,
      random: { fraction: () => harness.random.fraction(), text: () => '' },
      logger: silentLogger(),
      metrics: freshMetrics(),
      onLost: (reason) => {
        this.lostBecause = reason;
        this.kill();
      },
    });
    this.ended = this.elector.run(this.#stop.signal);
  }

  get isFrozen(): boolean {
    return this.#frozen !== undefined;
  }

  get mayWrite(): boolean {
    return !this.isDead && !this.isFrozen && this.fence.isOpen;
  }

  /** As SIGTERM, after the last pass has ended. */
  stop(): Promise<void> {
    this.#stop.abort(new Error('stopped'));
    return this.ended;
  }

  /** As SIGKILL. */
  kill(): void {
    this.isDead = true;
    if (this.#harness.members.delete(this)) this.#harness.onLeft();
  }

  /** As SIGSTOP: nothing runs in it, and time passes. */
  freeze(): void {
    this.#frozen ??= [];
  }

  /** As SIGCONT: what has come meanwhile is worked on, in any order. `first`: what the process does before all that. */
  thaw(first: () => void = () => {}): void {
    const missed = this.#frozen ?? [];
    this.#frozen = undefined;
    first();
    const { random } = this.#harness;
    while (missed.length > 0) {
      const [one] = missed.splice(Math.floor(random.fraction() * missed.length), 1);
      if (!this.isDead) one?.();
    }
  }

  /** Runs in the process, as soon as it can. */
  #inside(run: () => void): void {
    if (this.isDead) return;
    if (this.#frozen === undefined) run();
    else this.#frozen.push(run);
  }

  #clock(rate: number, wallMs: number): Clock {
    const harness = this.#harness;
    const startedMs = harness.nowMs;
    const monotonicMs = () => 1_000 + (harness.nowMs - startedMs) * rate;
    const after = (ms: number, callback: () => void) => {
      let isOff = false;
      const fire = () => this.#inside(() => !isOff && callback());
      const cancel = harness.at(Math.max(0, ms) / rate, fire);
      return () => {
        isOff = true;
        cancel();
      };
    };
    return {
      monotonicMs,
      nowMs: () => wallMs + monotonicMs(),
      after,
      sleep: (ms, signal) =>
        new Promise((resolve, reject) => {
          if (signal.aborted) return reject(signal.reason);
          const cancel = after(ms, resolve);
          signal.addEventListener('abort', () => {
            cancel();
            reject(signal.reason);
          });
        }),
    };
  }

  #request: ApiClient['request'] = (request, signal) => {
    const { delayMs } = this.#network;
    const harness = this.#harness;
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () =>
        reject(new KubeError('aborted', 'aborted', { status: 0 })),
      );
      const answer = (give: () => void) => {
        const backMs = delayMs('back');
        if (backMs !== undefined) harness.at(backMs, () => this.#inside(give));
      };
      const thereMs = delayMs('there');
      if (thereMs === undefined) return;
      harness.at(thereMs, () => {
        try {
          const body = harness.server.handle(request);
          answer(() => resolve({ status: 200, body }));
        } catch (error) {
          answer(() => reject(error));
        }
      });
    });
  };

  #watcher(): Pick<Watcher, 'acquire'> {
    const { server } = this.#harness;
    const { delayMs, watchDelayMs = () => delayMs('back') } = this.#network;
    return {
      acquire: (query) => {
        let shown: KubeObject | undefined = server.object;
        const informer: Pick<Informer, 'query' | 'state' | 'get' | 'subscribe' | 'release'> = {
          query,
          state: { kind: 'synced' },
          get: () => shown && ({ object: shown, cluster: undefined, appliedBy: [] } as never),
          subscribe: (listener) =>
            server.onChange(() => {
              const { object } = server;
              const afterMs = watchDelayMs();
              if (afterMs === undefined) return;
              this.#harness.at(afterMs, () =>
                this.#inside(() => {
                  shown = object;
                  listener({ namespace: 'system', name: 'homeostat', initial: false });
                }),
              );
            }),
          release: () => {},
        };
        return informer as Informer;
      },
    };
  }
}
