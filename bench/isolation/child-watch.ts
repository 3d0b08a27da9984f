import type { Readable } from 'node:stream';
import type { KubeObject } from '#util/kube-object.ts';
import type { PlaneClient } from '../../test/support/control-plane/index.ts';

/** Sees the children of the good definitions on one watch, each with the value it was rendered with. */
export class ChildWatch {
  readonly #client: PlaneClient;
  readonly #stop = new AbortController();
  /** By `name=value`: when it was first seen. */
  readonly #seenMs = new Map<string, number>();
  #reading: Promise<void> = Promise.resolve();

  constructor(client: PlaneClient) {
    this.#client = client;
  }

  async start(): Promise<void> {
    const stream = await this.#open();
    this.#reading = this.#readOn(stream);
  }

  #open() {
    const { signal } = this.#stop;
    const path = '/api/v1/configmaps?labelSelector=bench%3Dgood&watch=1&resourceVersion=0';
    return this.#client.openStream({ method: 'GET', path, signal });
  }

  /** When the child was seen with that value, on `performance.now()`; undefined when it was not. */
  seenMs(name: string, value: string): number | undefined {
    return this.#seenMs.get(`${name}=${value}`);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#reading;
  }

  /** A server under load ends a watch that it cannot serve in time: what came meanwhile is seen when the next one is open. */
  async #readOn(first: Readable): Promise<void> {
    try {
      for (let stream = first; ; stream = await this.#open()) await this.#read(stream);
    } catch (error) {
      if (!this.#stop.signal.aborted) throw error;
    }
  }

  async #read(stream: Readable): Promise<void> {
    let rest = '';
    stream.setEncoding('utf8');
    for await (const chunk of stream) {
      const nowMs = performance.now();
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.#note(JSON.parse(line), nowMs);
    }
  }

  #note({ object }: { readonly object: KubeObject }, nowMs: number): void {
    const { value } = (object.data ?? {}) as { readonly value?: string };
    const key = `${object.metadata.name}=${value}`;
    if (!this.#seenMs.has(key)) this.#seenMs.set(key, nowMs);
  }
}
