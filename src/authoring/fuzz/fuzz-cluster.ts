import type { DefinitionManifest, ManifestCheck } from '#check';
import { type TestHttpApi, testHub } from '#definition';
import type { ApiRequest } from '#kube';
import { childLabel, definitionLabel, ownerUidLabel } from '#reconcile';
import type { ApiAnswer } from '#sandbox';
import type { TestApi, TestCluster } from '#simulation';
import { errorAnswer, errorLogger, isInternalRequest, Simulation, TestClusters } from '#simulation';
import { canonicalJson } from '#util/canonical-json.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';

export interface FuzzClusterOptions {
  readonly definitions: readonly DefinitionManifest[];
  readonly check: ManifestCheck;
  /** Objects that exist before the operators start. A `Cluster` is a simulated member; others are in the cluster of the resources. */
  readonly given: readonly KubeObject[];
  /** Simulated HTTP APIs. Without any, they are derived from the objects that use them. */
  readonly apis: readonly TestHttpApi[];
  /** Where the resources are: name of a `Cluster`, or the hub. */
  readonly place: string;
  readonly seed: number;
}

/** A child as the operator last applied it. */
export interface AppliedChild {
  /** Id in the definition. */
  readonly id: string;
  /** UID of its resource. */
  readonly ownerUid: string;
  /** Name of a `Cluster`, or the hub. */
  readonly cluster: string;
  readonly path: string;
  readonly manifest: KubeObject;
}

/** Time without a write after which the operators count as idle, in ms of simulated time: longer than Pods take to terminate (30 s). */
const idleMs = 60_000;
/**
 * Time of restarts, in ms. It ends before the next full minute, at which schedules run: all times of a history are full minutes.
 */
const restartsMs = 50_000;
/** Time in which operators have reconciled everything after their start, in ms. */
const startMs = 10_000;
/** Simulated time in which the operators must become idle, in ms. */
const settleLimitMs = 15 * 60_000;

/** A simulated cluster that records the requests of its operators. */
export class FuzzCluster {
  readonly simulation: Simulation;
  readonly #clusters: TestClusters;
  readonly #place: string;
  /** Messages of logged errors. */
  readonly logged: string[] = [];
  /** Last applied children by cluster and path. */
  readonly #applied = new Map<string, AppliedChild>();
  #writes: string[] = [];
  /** Written statuses, without times, since {@link settle} began. */
  #statuses: string[] = [];
  #failure: { readonly code: number; left: number } | undefined;

  private constructor(options: FuzzClusterOptions) {
    const { definitions, check, seed, place, apis } = options;
    this.simulation = new Simulation({
      definitions,
      check,
      seed,
      apis,
      derivesApis: apis.length === 0,
      logger: errorLogger((line) => this.logged.push(line)),
      onRequest: (request, member) => this.#onRequest(request, member ?? testHub),
    });
    this.#clusters = new TestClusters(this.simulation);
    this.#place = place;
  }

  /** The cluster of the resources. */
  get objects(): TestCluster {
    return this.#clusters.of(this.#place);
  }

  /** Starts a cluster with its operators. @throws KubeError for a given object that the server rejects */
  static async start(options: FuzzClusterOptions): Promise<FuzzCluster> {
    const cluster = new FuzzCluster(options);
    for (const object of options.given) await cluster.#clusters.apply(object, options.place);
    await cluster.simulation.start();
    await cluster.settle();
    return cluster;
  }

  /** Children of a resource that the operators have applied and that were not deleted since, in the order of their first apply. */
  childrenOf(ownerUid: string): readonly AppliedChild[] {
    return [...this.#applied.values()].filter((child) => child.ownerUid === ownerUid);
  }

  /** The API of a cluster, as its user. */
  apiOf(cluster: string): Pick<TestApi, 'get' | 'request'> {
    return cluster === testHub ? this.simulation : this.simulation.members.get(cluster).api;
  }

  /** Decides what all Pods do from now on. */
  setPodOutcome(is: 'ready' | 'never-ready' | 'fail'): void {
    const { sandbox, members } = this.simulation;
    for (const each of [sandbox, ...members.names.map((name) => members.get(name).sandbox)])
      each.setPodOutcome({}, is);
  }

  /** Lets the server answer the next writes of the operators with an error. */
  failNext(code: number, times: number): void {
    this.#failure = { code, left: times };
  }

  /**
   * Lets time pass until the operators are idle.
   * @returns the writes of the last minute if they do not become idle; else empty
   */
  async settle(): Promise<readonly string[]> {
    const { clock } = this.simulation;
    const endMs = clock.monotonicMs() + settleLimitMs;
    this.#statuses = [];
    do {
      this.#writes = [];
      await this.simulation.advance(idleMs);
      if (this.#writes.length === 0) {
        await this.#readApplied();
        return [];
      }
    } while (clock.monotonicMs() < endMs);
    return [...new Set(this.#writes)];
  }

  /**
   * Whether a status was written, replaced and written again at least twice while {@link settle} waited; with several members more often,
   * as Pods are replaced in each of them at the same time.
   */
  get hasFlapped(): boolean {
    const counts = new Map<string, number>();
    for (const status of this.#statuses) counts.set(status, (counts.get(status) ?? 0) + 1);
    const clusters = Math.max(1, this.simulation.members.names.length);
    return [...counts.values()].some((count) => count >= 3 * clusters);
  }

  /**
   * Restarts the operators, and lets a minute pass. Returns the writes that the restart has caused.
   * @param usesTime of a definition: the writes of a second restart count, because the first one finds that time has passed
   */
  async writesAfterRestart({
    usesTime,
  }: {
    readonly usesTime: boolean;
  }): Promise<readonly string[]> {
    if (usesTime) {
      // Durations of minutes have passed a moment after a full minute.
      await this.simulation.advance(1_000);
      await this.restart();
      await this.simulation.advance(startMs - 1_000);
    }
    this.#writes = [];
    await this.restart();
    await this.simulation.advance(restartsMs - (usesTime ? startMs : 0));
    const writes = [...new Set(this.#writes)];
    await this.simulation.advance(idleMs - restartsMs);
    return writes;
  }

  /** Stops the operators, and starts them again. */
  async restart(): Promise<void> {
    await this.simulation.stop();
    await this.simulation.start();
  }

  close(): Promise<void> {
    return this.simulation.close();
  }

  /** Children are also deleted by the garbage collector and by users, and an apply that would make one of another child may be rejected. */
  async #readApplied(): Promise<void> {
    for (const [key, child] of this.#applied) {
      const object = (await this.apiOf(child.cluster).get(child.path)) as KubeObject | undefined;
      const id = object?.metadata.labels?.[childLabel];
      if (object === undefined) this.#applied.delete(key);
      else if (id !== undefined && id !== child.id) this.#applied.set(key, { ...child, id });
    }
  }

  #onRequest(request: ApiRequest, cluster: string): ApiAnswer | undefined {
    if (request.method === 'GET' || isInternalRequest(request)) return undefined;
    const failure = this.#failure;
    if (failure !== undefined && failure.left > 0) {
      failure.left -= 1;
      return errorAnswer(failure.code);
    }
    this.#note(request, cluster);
    return undefined;
  }

  #note({ method, path, body }: ApiRequest, cluster: string): void {
    const key = titleOf({ cluster, path });
    this.#writes.push(`${method} ${key}`);
    if (method !== 'PATCH' || !isJsonObject(body)) return;
    if (path.endsWith('/status')) {
      this.#statuses.push(`${key} ${canonicalJson(withoutTimes(body.status))}`);
      return;
    }
    const manifest = body as unknown as KubeObject;
    const { labels = {} } = manifest.metadata ?? {};
    const id: unknown = labels[childLabel];
    if (typeof id === 'string' && labels[definitionLabel] !== undefined)
      this.#applied.set(key, {
        id,
        cluster,
        path,
        manifest,
        ownerUid: labels[ownerUidLabel] ?? '',
      });
    // A released object loses its labels, and stays by intention.
    if (id === null) this.#applied.delete(key);
  }
}

/** The path of an object, with its member cluster. */
export function titleOf({ cluster, path }: Pick<AppliedChild, 'cluster' | 'path'>): string {
  return cluster === testHub ? path : `${path} in cluster "${cluster}"`;
}

/** A status without the fields that differ between equal states. */
export function withoutTimes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutTimes);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value as JsonObject)
      .filter(([name]) => !/^(?:lastTransitionTime|lastUpdateTime|observedGeneration)$/.test(name))
      .map(([name, each]) => [name, withoutTimes(each)]),
  );
}
