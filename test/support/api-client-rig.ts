import assert from 'node:assert/strict';
import { afterEach } from 'node:test';
import type { ApiRequest } from '#kube/client/api-client.ts';
import {
  type ApiClientOptions,
  type ClosableApiClient,
  createApiClient,
} from '#kube/client/create-api-client.ts';
import type { Credentials } from '#kube/config/cluster-config.ts';
import { KubeError } from '#kube/kube-error.ts';
import { FakeClock, settle } from './fake-clock.ts';
import { type Script, ScriptedServer } from './scripted-server.ts';
import { freshMetrics, silentLogger } from './silent-telemetry.ts';

export const flow = { name: 'a', priority: 'object' } as const;
export const get: ApiRequest = { method: 'GET', path: '/a', flow };
export const patch: ApiRequest = { method: 'PATCH', path: '/a', body: { a: 1 }, flow };
export const never = new AbortController().signal;

export interface RigClientOptions extends Partial<Omit<ApiClientOptions, 'config'>> {
  /** @default no credentials */
  readonly load?: (why: { readonly wasRejected: boolean }) => Promise<Credentials>;
}

/** An API client before servers whose answers a test decides. */
export interface ApiClientRig {
  /** A server that is stopped after the test. */
  serve(script: Script): Promise<ScriptedServer>;
  /** A client that is closed after the test. */
  clientFor(server: string, options?: RigClientOptions): ClosableApiClient;
}

/** For within a `describe`. */
export function useApiClientRig(): ApiClientRig {
  const ends: (() => Promise<void>)[] = [];

  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  return {
    async serve(script) {
      const server = await ScriptedServer.start(script);
      ends.push(() => server.stop());
      return server;
    },
    clientFor(server, options = {}) {
      const { load = async () => ({ headers: {} }), ...rest } = options;
      const client = createApiClient({
        config: { server, namespace: 'default', credentials: { load } },
        clock: new FakeClock(),
        logger: silentLogger(),
        metrics: freshMetrics(),
        ...rest,
      });
      ends.push(() => client.close());
      return client;
    },
  };
}

/** What the work failed with. */
export async function failure(work: Promise<unknown>): Promise<KubeError> {
  const error = await work.then(
    () => undefined,
    (found: unknown) => found,
  );
  assert.ok(error instanceof KubeError, `Expected a KubeError, found ${String(error)}`);
  return error;
}

/** Resolves when the server has got so many requests. */
export async function arrived(server: ScriptedServer, count: number): Promise<void> {
  while (server.requests.length < count) await settle();
}

/** A fake clock that notes the pauses that were asked for. */
export class PausingClock extends FakeClock {
  readonly pauses: number[] = [];

  override sleep(ms: number, signal: AbortSignal): Promise<void> {
    this.pauses.push(ms);
    return super.sleep(ms, signal);
  }

  /** Resolves when so many pauses have begun. */
  async untilPaused(count: number): Promise<void> {
    while (this.pauses.length < count) await settle();
  }
}

/** A fake clock that counts the deadlines of 30 seconds: the head of a stream has one, and its rejection another. */
export class DeadlineClock extends FakeClock {
  #set = 0;

  override after(ms: number, callback: () => void): () => void {
    if (ms === 30_000) this.#set += 1;
    return super.after(ms, callback);
  }

  async untilSet(count: number): Promise<void> {
    while (this.#set < count) await settle();
  }
}
