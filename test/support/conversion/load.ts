import type { PlaneClient } from '../control-plane/index.ts';
import type { DialKind } from './dial-kind.ts';

/** Clients that read and write objects in both versions without a pause, and what failed of that. */
export class ConversionLoad {
  readonly failures: string[] = [];
  readonly #kind: DialKind;
  readonly #client: PlaneClient;
  readonly #stopper = new AbortController();
  readonly #workers: Promise<void>[] = [];
  #requests = 0;

  constructor(kind: DialKind, client: PlaneClient) {
    this.#kind = kind;
    this.#client = client;
  }

  /** How many requests have ended. */
  get requests(): number {
    return this.#requests;
  }

  start(workers = 3): void {
    for (let worker = 0; worker < workers; worker++) this.#workers.push(this.#work(worker));
  }

  /** Waits for more requests. */
  async more(count: number): Promise<void> {
    const end = this.#requests + count;
    while (this.#requests < end) await this.#client.sleep(20);
  }

  /** Ends the clients. Returns what failed. */
  async stop(): Promise<readonly string[]> {
    this.#stopper.abort();
    await Promise.all(this.#workers);
    return this.failures;
  }

  async #work(worker: number): Promise<void> {
    const name = `load-${worker}`;
    const kind = this.#kind;
    for (let round = 1; !this.#stopper.signal.aborted; round++) {
      await this.#try(() =>
        this.#client.apply(kind.dial('v1alpha1', name, { size: round }), { fieldManager: 'a' }),
      );
      await this.#try(() => this.#client.get(kind.objects('v1', name)));
      await this.#try(() => this.#client.get(kind.objects('v1alpha1', name)));
      await this.#try(() =>
        this.#client.patch(`${kind.objects('v1', name)}/status`, { status: { text: `${round}` } }),
      );
      // From etcd, not from the cache of a version.
      const list = `${kind.objects('v1alpha1')}?resourceVersionMatch=Exact&resourceVersion=`;
      await this.#try(async () => {
        const now = await this.#client.must<{ metadata: { resourceVersion: string } }>({
          ...{ method: 'GET', path: kind.objects('v1') },
        });
        await this.#client.list(list + now.metadata.resourceVersion);
      });
    }
  }

  async #try(act: () => Promise<unknown>): Promise<void> {
    try {
      await act();
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (this.failures.length < 5) this.failures.push(message);
    }
    this.#requests += 1;
  }
}
