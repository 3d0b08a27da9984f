import {
  checkedOnce,
  createManifestCheck,
  type DefinitionManifest,
  type ManifestCheck,
} from '#check';
import {
  builtinDocuments,
  bundledSchemas,
  type CoverageRecorder,
  loadBuiltinDescriptions,
  patternProblem,
} from '#compile';
import { type LocatedDefinition, parseYaml, printYaml, type TestHttpApi } from '#definition';
import { type ApiRequest, createClusterOn, type KubeCluster } from '#kube';
import {
  type ClusterRuntime,
  clusterGvk,
  type DefinitionView,
  ensureClusterKind,
  hasPendingPolicies,
  isStarting,
} from '#runtime';
import { type ApiAnswer, createSandbox, type Sandbox } from '#sandbox';
import { type Logger, silentMetrics } from '#telemetry';
import type { Gvk } from '#util/gvk.ts';
import type { Random } from '#util/random.ts';
import { DefinitionRunners, type DefinitionRunnersOptions } from './definition-runners.ts';
import { EditableSource } from './editable-source.ts';
import { createDerivedApi, permitHttp } from './http/derived-apis.ts';
import { serveHttpKinds, usesHttp } from './http/needs-runtime.ts';
import { SimulatedApis } from './http/simulated-apis.ts';
import { SimulatedMembers } from './members/simulated-members.ts';
import { SandboxClient } from './sandbox-client.ts';
import { createSeededRandom } from './seeded-random.ts';
import { SimulationClock } from './simulation-clock.ts';
import { createTestApi, type TestApi } from './test-api.ts';

export interface SimulationOptions {
  /** Definition files; `file` is shown in diagnostics. They are checked before: files with errors are not run. */
  readonly definitions: readonly DefinitionManifest[];
  readonly logger: Logger;
  /** Checks definition files. @default a check with the schemas of the built-in kinds */
  readonly check?: ManifestCheck;
  /** Records what the definitions evaluate. @default undefined: nothing is recorded */
  readonly coverage?: CoverageRecorder;
  /** Simulated HTTP APIs, for objects behind HTTP. @default none */
  readonly apis?: readonly TestHttpApi[];
  /** Whether other APIs are derived from the objects that use them. @default false: they cannot be reached */
  readonly derivesApis?: boolean;
  /** @default 1 */
  readonly seed?: number;
  /** Cluster state to start with, see `Sandbox.snapshotText`. @default an empty cluster */
  readonly state?: string;
  /** Do simulated controllers create Pods, complete Jobs and so on? @default true */
  readonly simulatesControllers?: boolean;
  /** Is there any controller, of workloads, namespaces or garbage? @default true */
  readonly controllers?: boolean;
  /** Do operators and controllers record Events? @default true */
  readonly hasEvents?: boolean;
  /** Time at the start, in ms since the epoch. @default 2026-01-01T00:00:00Z */
  readonly startMs?: number;
  /** Prefix of all paths as HTTP clients see it. @default '' */
  readonly basePath?: string;
  /**
   * Called before each request of the operators. An answer that it returns takes the place of the server's.
   * `member`: name of the member cluster that it is sent to; undefined: to the hub.
   */
  readonly onRequest?: (request: ApiRequest, member?: string) => ApiAnswer | undefined;
  /** Called with the HTTP status of each answer to the operators. */
  readonly onAnswer?: (request: ApiRequest, status: number, member?: string) => void;
}

/** Turns of the event loop without any activity after which nothing is under way: there are no sockets and no files. */
const idleTurns = 4;
/** Time for the definitions to start, in ms of simulated time. */
const startLimitMs = 60_000;

/** Operators on a sandbox with a clock of its own, all in this process: the engine of production, without a network and without waiting. */
export class Simulation {
  readonly clock: SimulationClock;
  readonly sandbox: Sandbox;
  /** The client of the simulation's user, who may do everything. */
  readonly client: SandboxClient;
  /** The clusters that objects of kind `Cluster` lead to. */
  readonly members: SimulatedMembers;
  /** The APIs that objects behind HTTP are sent to. */
  readonly apis: SimulatedApis;
  readonly #options: SimulationOptions;
  readonly #api: TestApi;
  readonly #schemas = bundledSchemas();
  readonly #check: ManifestCheck;
  readonly #random: Random;
  readonly #source: EditableSource;
  #requests = 0;
  #run: RunningOperators | undefined;
  #runtime: ClusterRuntime | undefined;

  /** @throws Error when `state` is no cluster state. */
  constructor(options: SimulationOptions) {
    this.#options = options;
    this.clock = new SimulationClock(options.startMs);
    this.#check = checkedOnce(options.check ?? createManifestCheck(this.#schemas));
    this.#source = new EditableSource(options.definitions);
    this.#random = createSeededRandom(options.seed ?? 1);
    const { state, seed = 1, basePath = '', onRequest, onAnswer } = options;
    this.sandbox = this.#createSandbox({
      random: this.#random,
      basePath,
      ...(state !== undefined && { snapshot: state }),
    });
    this.members = new SimulatedMembers({
      createSandbox: (index) =>
        this.#createSandbox({ random: createSeededRandom(seed + memberSeed + index) }),
      shared: this.#sharedOptions(),
      onRequest: (request, member) => onRequest?.(request, member),
      onAnswer: (request, status, member) => onAnswer?.(request, status, member),
      onActivity: () => this.#noteActivity(),
    });
    this.apis = new SimulatedApis({
      apis: options.apis ?? [],
      clock: this.clock,
      onActivity: () => this.#noteActivity(),
      ...(options.derivesApis === true && { otherwise: createDerivedApi(this.sandbox) }),
    });
    this.sandbox.onChange(() => this.#noteActivity());
    this.client = new SandboxClient({ sandbox: this.sandbox, userAgent: 'kubectl' });
    this.#api = createTestApi(this.client);
  }

  #createSandbox(
    own: Pick<Parameters<typeof createSandbox>[0], 'random' | 'basePath' | 'snapshot'>,
  ): Sandbox {
    const { kubernetesVersion, ...schemas } = builtinDocuments();
    const { simulatesControllers = true, controllers = true, hasEvents, logger } = this.#options;
    return createSandbox({
      clock: this.clock,
      schemas,
      kubernetesVersion,
      patternProblem,
      parseYaml: (text) => parseYaml(text, 'kubectl'),
      printYaml,
      loadDescriptions: loadBuiltinDescriptions,
      controllers,
      runsPods: simulatesControllers,
      ...(hasEvents !== undefined && { hasEvents }),
      ...own,
      onInternalError: (err) => logger.error({ err }, 'The sandbox failed'),
    });
  }

  /** The runtime of the operators; undefined while none runs. */
  get runtime(): ClusterRuntime | undefined {
    return this.#runtime;
  }

  /** Starts the operators. They work as soon as {@link idle} or {@link advance} is awaited. */
  async start(): Promise<void> {
    const { createClusterOperators } = await import('./cluster-operators.ts');
    if (this.#usesHttp) await this.serveHttpKinds();
    const { coverage } = this.#options;
    this.#runtime = this.#start((shared) =>
      createClusterOperators({
        ...shared,
        sources: [this.#source],
        check: this.#check,
        ...(coverage && { coverage }),
        connect: this.members.connectOperators,
        transport: this.apis,
        permitHttp: () => permitHttp(this.sandbox),
      }),
    );
  }

  /** The kinds are served before, as by the chart: a definition that brings them applies their objects again when their schemas are known. */
  get #usesHttp(): boolean {
    return this.#options.definitions.some((manifest) =>
      this.#check(manifest).documents.some(
        ({ located }) => located !== undefined && usesHttp(located.definition),
      ),
    );
  }

  /** Like {@link start}, with these definitions in place of the files, and without objects of kind `OperatorDefinition`: it takes less time. */
  startDefinitions(definitions: readonly LocatedDefinition[]): DefinitionRunners {
    const { coverage } = this.#options;
    return this.#start(
      (shared) =>
        new DefinitionRunners({
          ...shared,
          definitions,
          ...(coverage && { coverage }),
        }),
    );
  }

  #start<T extends Operators>(create: (shared: OperatorOptions) => T): T {
    const { onRequest, onAnswer } = this.#options;
    const client = new SandboxClient({
      sandbox: this.sandbox,
      userAgent: 'homeostat',
      onRequest: (request) => {
        this.#noteActivity();
        return onRequest?.(request);
      },
      ...(onAnswer && { onAnswer }),
    });
    const shared = this.#sharedOptions();
    const cluster = createClusterOn(client, { ...shared, instance: 'homeostat' });
    const operators = create({ ...shared, cluster });
    const stopper = new AbortController();
    this.#run = { cluster, stopper, ended: operators.run(stopper.signal) };
    return operators;
  }

  /** Lets time pass until every definition runs or waits, also in its members. Returns why one does not; undefined: all do. */
  async untilStarted(): Promise<string | undefined> {
    const views = () => this.runtime?.view.definitions ?? [];
    await this.advanceUntil(() => views().length > 0 && !views().some(isPreparing), startLimitMs);
    const stopped = views().find(
      ({ state }) => state.kind !== 'running' && state.kind !== 'waiting',
    );
    if (views().length === 0) return 'There is no definition to run';
    if (stopped === undefined) return undefined;
    const { state, name } = stopped;
    const reason = 'message' in state ? state.message : state.kind;
    return `Definition "${name}" does not run: ${reason}`;
  }

  /** A cluster of the simulation's user. It works while {@link drive}, {@link idle} or {@link advance} is awaited. The caller closes it. */
  connect(): KubeCluster {
    const client = new SandboxClient({ sandbox: this.sandbox, userAgent: 'kubectl' });
    return createClusterOn(client, this.#sharedOptions());
  }

  /** Serves the kind `Cluster`, as the chart does or a definition that needs it. @throws KubeError */
  serveClusters(): Promise<void> {
    return this.#asUser(async (cluster, signal) => {
      if ((await cluster.lookUp(clusterGvk, signal)) !== undefined) return;
      await ensureClusterKind(cluster, this.clock, signal);
    });
  }

  /** Serves the kinds of objects behind HTTP, as the chart does or a definition that needs them. @throws KubeError */
  serveHttpKinds(): Promise<void> {
    return this.#asUser((cluster, signal) => serveHttpKinds(cluster, this.clock, signal));
  }

  async #asUser(work: (cluster: KubeCluster, signal: AbortSignal) => Promise<void>): Promise<void> {
    const cluster = this.connect();
    const { signal } = new AbortController();
    await this.drive(work(cluster, signal)).finally(() => cluster.close());
  }

  /** Replaces all definition files, as if they were saved. */
  reload(definitions: readonly DefinitionManifest[]): void {
    this.#noteActivity();
    this.#source.replace(definitions);
  }

  /** Stops the operators as a process that ends; objects stay. Resolves when nothing of them runs. */
  async stop(): Promise<void> {
    const run = this.#run;
    if (run === undefined) return;
    run.stopper.abort(new Error('The simulation has stopped'));
    const closed = run.ended.then(() => run.cluster.close());
    // Events are sent for up to two seconds.
    await this.drive(closed);
    this.#run = undefined;
    this.#runtime = undefined;
  }

  /** Resolves when nothing is under way that needs no time to pass. */
  async idle(): Promise<void> {
    let quiet = 0;
    let before = this.#activity;
    while (quiet < idleTurns) {
      await nextTurn();
      quiet = before === this.#activity ? quiet + 1 : 0;
      before = this.#activity;
    }
  }

  /** Lets time pass, in ms: all timers that are due run, each when what the one before has caused is done. */
  async advance(ms: number): Promise<void> {
    const limitMs = this.clock.monotonicMs() + ms;
    await this.idle();
    while (this.clock.runNextTimer(limitMs)) await this.idle();
    await this.idle();
  }

  /** Lets time pass until `isDone`, for `limitMs` at most. Returns whether it is done. */
  async advanceUntil(isDone: () => boolean, limitMs: number): Promise<boolean> {
    const endMs = this.clock.monotonicMs() + limitMs;
    await this.idle();
    while (!isDone()) {
      if (!this.clock.runNextTimer(endMs)) return isDone();
      await this.idle();
    }
    return true;
  }

  /** Sends a request of the simulation's user. @throws KubeError */
  request(request: Omit<ApiRequest, 'flow'>): Promise<unknown> {
    return this.#api.request(request);
  }

  /** An object, or undefined where there is none. @throws KubeError for any other failure. */
  get(path: string): Promise<unknown> {
    return this.#api.get(path);
  }

  /** Ends everything. */
  async close(): Promise<void> {
    await this.stop();
    this.sandbox.stop();
    this.members.stop();
    this.clock.stop();
  }

  /** Lets time pass until the promise is settled, for a minute at most, and returns what it resolves with. */
  async drive<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const settled = promise.finally(() => {
      isSettled = true;
    });
    settled.catch(() => undefined);
    await this.advanceUntil(() => isSettled, 60_000);
    return settled;
  }

  #sharedOptions() {
    const { clock } = this;
    const { logger, hasEvents = true } = this.#options;
    // What the server would answer.
    const knownSchema = (gvk: Gvk) => this.#schemas.schemaFor(gvk);
    const shouldSendEvents = () => hasEvents;
    const reporting = { logger, metrics: silentMetrics, shouldSendEvents };
    return { clock, random: this.#random, ...reporting, knownSchema };
  }

  get #activity(): number {
    return this.#requests + this.clock.activity;
  }

  #noteActivity(): void {
    this.#requests += 1;
  }
}

function isPreparing(view: DefinitionView): boolean {
  return isStarting(view) || hasPendingPolicies(view);
}

/** Added to the seed of the simulation for those of its members, whose UIDs must differ. */
const memberSeed = 1_000;

interface Operators {
  run(signal: AbortSignal): Promise<void>;
}

type OperatorOptions = Pick<
  DefinitionRunnersOptions,
  'cluster' | 'clock' | 'random' | 'logger' | 'metrics'
>;

interface RunningOperators {
  readonly cluster: KubeCluster;
  readonly stopper: AbortController;
  readonly ended: Promise<void>;
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
