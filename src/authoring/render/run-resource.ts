import type { DefinitionManifest } from '#check';
import type { CoverageRecorder } from '#compile';
import { type LocatedDefinition, type OperatorDefinition, testHub } from '#definition';
import type { ApiRequest } from '#kube';
import type { ApiAnswer } from '#sandbox';
import type { TestCluster } from '#simulation';
import { memberFor, needsRuntime, Simulation, TestClusters } from '#simulation';
import { silentLogger } from '#telemetry';
import type { JsonObject } from '#util/json.ts';
import { conditionsOf, type KubeObject } from '#util/kube-object.ts';

export interface RunResourceOptions {
  /** Without errors and conflicts. */
  readonly definitions: readonly LocatedDefinition[];
  /** Their files. */
  readonly manifests: readonly DefinitionManifest[];
  readonly resource: KubeObject;
  /**
   * Objects that exist before, such as those that the definition reads. A `Cluster` is a simulated member; others are in the cluster of the
   * resource.
   */
  readonly given: readonly KubeObject[];
  /** Do simulated controllers make children ready? Else what reads them waits. */
  readonly simulatesControllers: boolean;
  /** See `SimulationOptions`. */
  readonly onRequest?: (request: ApiRequest, member?: string) => ApiAnswer | undefined;
  /** See `SimulationOptions`. */
  readonly coverage?: CoverageRecorder;
  /** Called before the operators start again, once, for a resource that has failed. @default they do not start again */
  readonly onRestart?: () => void;
  /** Called when nothing happens any more. True: it has changed something, so it waits again. @default no action */
  readonly whenReady?: (simulation: Simulation) => Promise<boolean>;
}

/** Where the resource is when it is used. */
export interface RunResource {
  readonly simulation: Simulation;
  /** Undefined: it does not exist. */
  readonly found: JsonObject | undefined;
  /** Name of the member that it is in. Undefined: it is on the hub. */
  readonly member: string | undefined;
}

/** Simulated time in which the resource must become ready, in ms. */
const limitMs = 600_000;
/** Simulated time that passes after a failure that a retry does not mend, in ms. */
const stalledMs = 5_000;

/**
 * Runs definitions on a simulated cluster until the resource is ready, or nothing happens any more. A resource of a definition that runs in
 * members is in one: the first given `Cluster` that it selects, or a new one.
 * @param definition of the resource
 * @param use is called with the resource then; the simulation ends with it
 * @throws KubeError when the API server rejects an object
 */
export async function runResource<T>(
  options: RunResourceOptions,
  definition: OperatorDefinition,
  use: (run: RunResource) => Promise<T>,
): Promise<T> {
  const { resource, given, onRestart, whenReady } = options;
  const operators = new RunOperators(options, definition);
  const { simulation, clusters } = operators;
  const member = memberFor(definition, given);
  const place = member?.metadata.name ?? testHub;
  try {
    if (member !== undefined) await clusters.apply(member);
    for (const object of given) await clusters.apply(object, place);
    await operators.start();
    const cluster = clusters.of(place);
    await cluster.apply(resource);
    let found = await untilReady(simulation, cluster, resource);
    while (await whenReady?.(simulation)) found = await untilReady(simulation, cluster, resource);
    if (onRestart !== undefined && isStalled(found)) {
      onRestart();
      await simulation.stop();
      await operators.start();
      await simulation.idle();
    }
    return await use({ simulation, found, member: member?.metadata.name });
  } finally {
    await simulation.close();
  }
}

/** Definitions on a simulated cluster. Those that use members or objects behind HTTP need the whole runtime. */
class RunOperators {
  readonly simulation: Simulation;
  readonly clusters: TestClusters;
  readonly #definitions: readonly LocatedDefinition[];
  readonly #name: string;
  readonly #needsRuntime: boolean;

  constructor(
    { definitions, manifests, simulatesControllers, onRequest, coverage }: RunResourceOptions,
    { name }: OperatorDefinition,
  ) {
    this.#needsRuntime = definitions.some(({ definition }) => needsRuntime(definition));
    this.#definitions = definitions;
    this.#name = name;
    this.simulation = new Simulation({
      logger: silentLogger,
      simulatesControllers,
      derivesApis: true,
      hasEvents: definitions.some(readsEvents),
      definitions: this.#needsRuntime ? manifests : [],
      ...(onRequest && { onRequest }),
      ...(coverage && { coverage }),
    });
    this.clusters = new TestClusters(this.simulation);
  }

  async start(): Promise<void> {
    const { simulation } = this;
    if (this.#needsRuntime) {
      await simulation.start();
      await simulation.untilStarted();
      return;
    }
    const runners = simulation.startDefinitions(this.#definitions);
    const isRunning = () =>
      runners.views.some((view) => view.name === this.#name && view.state.kind === 'running');
    await simulation.advanceUntil(isRunning, limitMs);
  }
}

/** Whether a definition reads the Events of operators and controllers. */
function readsEvents({ definition: { kind, reads } }: LocatedDefinition): boolean {
  return [kind, ...reads].some(({ gvk }) => gvk.kind === 'Event');
}

/** The resource when it is ready, or when nothing happens any more. */
export async function untilReady(
  simulation: Simulation,
  cluster: TestCluster,
  resource: KubeObject,
): Promise<JsonObject | undefined> {
  const endMs = simulation.clock.monotonicMs() + limitMs;
  await simulation.idle();
  for (;;) {
    const found = await cluster.find(resource);
    const ready = conditionsOf(found).find(({ type }) => type === 'Ready');
    if (ready?.status === 'True') return found;
    if (isStalled(found)) {
      // Other children become ready meanwhile.
      await simulation.advance(stalledMs);
      return cluster.find(resource);
    }
    if (!simulation.clock.runNextTimer(endMs)) return found;
    await simulation.idle();
  }
}

export function isStalled(found: JsonObject | undefined): boolean {
  return conditionsOf(found).some(({ type, status }) => type === 'Stalled' && status === 'True');
}
