import { checkDefinitions, type DefinitionManifest, type ManifestCheck } from '#check';
import { bundledSchemas, type OperatorPlan } from '#compile';
import {
  type OperatorDefinition,
  type OperatorTest,
  type TestObjects,
  type TestStep,
  testParts,
  usesClusters,
} from '#definition';
import {
  type ApiRequest,
  type ClusterConfig,
  createKubeCluster,
  type KubeCluster,
  KubeError,
} from '#kube';
import { definitionLabel } from '#reconcile';
import {
  createTestApi,
  ExpectedValues,
  errorLogger,
  isCluster,
  isInternalRequest,
  type TestApi,
  TestCluster,
} from '#simulation';
import { createMetricRegistry } from '#telemetry';
import type { Clock } from '#util/clock.ts';
import { gvkOf } from '#util/gvk.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { Random } from '#util/random.ts';
import { testLabel } from '#util/stored-names.ts';
import { ClusterOperators } from './cluster-operators.ts';
import { compareSubset } from './compare-subset.ts';
import { checkExpectation, type Failure, type FailureSubject } from './expectations.ts';
import { withoutSecretValues } from './hidden-values.ts';
import {
  isChildApply,
  messageOf,
  type StepFailure,
  type TestFiles,
  type TestResult,
} from './run-test.ts';
import { crdPath } from './validation/check-server.ts';

export interface RealClusterOptions {
  readonly config: ClusterConfig;
  readonly clock: Clock;
  readonly random: Random;
  readonly check: ManifestCheck;
}

interface CrdSpec {
  readonly group: string;
  readonly names: { readonly plural: string };
  readonly versions: readonly { readonly name: string; readonly served: boolean }[];
}

/** Between two checks of the expectations of a step, in ms. */
const pollMs = 200;
/** For how long nothing may be written before writes are counted, in ms. */
const quietMs = 1_000;
/** For the start of the operators, and for the deletion of what a test leaves, in ms. */
const patienceMs = 60_000;

/**
 * Runs tests on a real cluster: each in a namespace of its own, with the operators in this process. {@link close} removes the CRDs that
 * the tests have needed and that were not there before.
 */
export class RealClusterTests {
  readonly #options: RealClusterOptions;
  readonly #user: KubeCluster;
  readonly #api: TestApi;
  /** Names of CRDs that were missing. */
  readonly #ownCrds = new Set<string>();

  constructor(options: RealClusterOptions) {
    this.#options = options;
    this.#user = createKubeCluster({
      ...options,
      logger: errorLogger(() => {}),
      metrics: createMetricRegistry(),
    });
    this.#api = createTestApi(this.#user.api);
  }

  /** @throws KubeError when the server cannot be reached, or does not accept the user. */
  connect(signal: AbortSignal): Promise<void> {
    return this.#user.start(signal);
  }

  /** Never throws for a failure of the test. The signal ends the test; what it created is deleted. */
  async run(test: OperatorTest, files: TestFiles, signal: AbortSignal): Promise<TestResult> {
    const { clock } = this.#options;
    const head = { file: test.source.file, name: test.name, steps: test.steps.length };
    const startMs = clock.monotonicMs();
    const obstacle = this.#obstacle(test, files);
    const result = { ...head, failures: [], tookMs: 0, isReal: true };
    if (obstacle !== undefined) return { ...result, skipped: obstacle };
    const run = new ClusterRun(test, files, {
      ...this.#options,
      api: this.#api,
      admit: (definition) => this.#admit(definition),
      ownsCrd: (path) => [...this.#ownCrds].some((name) => path.endsWith(`/${name}`)),
    });
    const failures = [...(await run.run(signal))];
    await run.close().catch((error: unknown) => {
      failures.push({ pointer: '/spec', message: messageOf(error), mismatches: [] });
    });
    return {
      ...result,
      failures: failures.map((failure) => ({
        ...failure,
        position: test.source.valueAt(failure.pointer),
      })),
      skippedSteps: test.steps.filter(needsSandbox).length,
      tookMs: clock.monotonicMs() - startMs,
    };
  }

  /**
   * Removes the CRDs that were not there before, and closes the connections.
   * @throws Error when a CRD is kept, because others use it by now
   */
  async close(): Promise<void> {
    const kept: string[] = [];
    try {
      for (const name of this.#ownCrds) {
        const path = `${crdPath}/${name}`;
        if (await this.#hasResources(path)) kept.push(name);
        else await deleteAndWait(this.#api, path, this.#options.clock);
      }
    } finally {
      await this.#user.close();
    }
    if (kept.length > 0)
      throw new Error(
        `The CustomResourceDefinition "${kept.join('", "')}" is kept: it has resources that no test created`,
      );
  }

  /** Whether a CRD still has resources. Those of tests are deleted with the namespaces of the tests. */
  async #hasResources(path: string): Promise<boolean> {
    const crd = await this.#api.get(path);
    const { group, names, versions } = (isJsonObject(crd) ? crd.spec : {}) as Partial<CrdSpec>;
    const version = versions?.find(({ served }) => served)?.name;
    if (group === undefined || names === undefined || version === undefined) return false;
    const list = await this.#api.get(`/apis/${group}/${version}/${names.plural}`);
    return isJsonObject(list) && Array.isArray(list.items) && list.items.length > 0;
  }

  /** Why a test cannot run without changing more than its namespace. */
  #obstacle(test: OperatorTest, { definitions }: TestFiles): string | undefined {
    const { check } = this.#options;
    const { accepted } = checkDefinitions(definitions, { schemas: bundledSchemas(), check });
    const wide = accepted.find(({ plan }) => plan.scope === 'Cluster');
    if (wide !== undefined)
      return `The resources of definition "${wide.plan.name}" belong to no namespace`;
    if (test.apis.length > 0) return 'It has simulated HTTP APIs, which only the sandbox has';
    const { created, references, clusters } = testParts(test);
    const federated = accepted.find(({ plan }) => usesClusters(plan.definition));
    if (federated !== undefined)
      return `Definition "${federated.plan.name}" uses member clusters, which only the sandbox has`;
    if (clusters.length > 0 || created.some(({ value }) => isCluster(value)))
      return 'It has member clusters, which only the sandbox has';
    const elsewhere = created.find(({ value: { metadata } }) =>
      isJsonObject(metadata) ? metadata.namespace !== undefined : false,
    );
    const wideKind = created.find(
      ({ value: { apiVersion, kind } }) =>
        bundledSchemas().isNamespaced(gvkOf(String(apiVersion), String(kind))) === false,
    );
    if (wideKind !== undefined)
      return `It creates a ${wideKind.value.kind}, which belongs to no namespace`;
    if (elsewhere !== undefined || references.some(({ value }) => value.split('/').length > 2))
      return 'It uses a second namespace';
    return undefined;
  }

  /**
   * Why a definition cannot run on this cluster; undefined: it can. Its CRD is installed by its operator, and removed at the end, or it
   * is there and equal.
   */
  async #admit({ name: definition, kind }: OperatorDefinition): Promise<string | undefined> {
    const path = `/apis/homeostat.dev/v1alpha1/operatordefinitions/${definition}`;
    if ((await this.#api.get(path)) !== undefined)
      return `The cluster has definition "${definition}", whose operator would change the resources of the test, too; use a cluster without it`;
    if (kind.source !== 'crd') return undefined;
    const { crd } = kind;
    const { name } = crd.metadata;
    if (this.#ownCrds.has(name)) return undefined;
    const live = await this.#api.get(`${crdPath}/${name}`);
    if (!isJsonObject(live)) {
      this.#ownCrds.add(name);
      return undefined;
    }
    const labels = (live as unknown as KubeObject).metadata.labels ?? {};
    const isEqual = compareSubset(crd.spec as JsonObject, live.spec, undefined).length === 0;
    const isOurs = labels[definitionLabel] === definition;
    if (isEqual && isOurs) return undefined;
    return `The cluster has another CustomResourceDefinition "${name}", which is never changed; use a cluster without it`;
  }
}

/**
 * What only a simulated cluster can do. Such a step still applies, patches and deletes, because later steps build on it, unless it expects a
 * rejection: no policy is written for a test.
 */
export function needsSandbox({ outcome, fail, advanceMs, denied }: TestStep): boolean {
  return outcome !== undefined || fail !== undefined || advanceMs > 0 || denied !== undefined;
}

interface ClusterRunOptions extends RealClusterOptions {
  readonly api: TestApi;
  /** Why a definition cannot run on the cluster. */
  readonly admit: (definition: OperatorDefinition) => Promise<string | undefined>;
  /** Is this the path of a CRD that was installed for the tests? */
  readonly ownsCrd: (path: string) => boolean;
}

class ClusterRun {
  readonly #test: OperatorTest;
  readonly #files: TestFiles;
  readonly #options: ClusterRunOptions;
  readonly #namespace: string;
  readonly #cluster: TestCluster;
  readonly #values: ExpectedValues;
  readonly #logged: string[] = [];
  readonly #created = new Set<string>();
  #definitions: readonly DefinitionManifest[];
  #plans: readonly OperatorPlan[] = [];
  #operators: ClusterOperators | undefined;
  #writes = 0;
  #lastWriteMs = 0;

  constructor(test: OperatorTest, files: TestFiles, options: ClusterRunOptions) {
    this.#test = test;
    this.#files = files;
    this.#options = options;
    this.#definitions = files.definitions;
    this.#namespace = `homeostat-test-${options.random.text(8, 'bcdfghjklmnpqrstvwxz0123456789')}`;
    this.#cluster = new TestCluster(options.api, this.#namespace);
    this.#values = new ExpectedValues(this.#cluster);
  }

  async run(signal: AbortSignal): Promise<readonly StepFailure[]> {
    const { api } = this.#options;
    try {
      const metadata = {
        name: this.#namespace,
        labels: { [testLabel]: labelValue(this.#test.name) },
      };
      const body = { apiVersion: 'v1', kind: 'Namespace', metadata };
      await api.request({ method: 'POST', path: '/api/v1/namespaces', body });
      for (const objects of this.#test.given) await this.#apply(objects);
      await this.#start(signal);
    } catch (error) {
      return [{ pointer: '/spec', message: messageOf(error), mismatches: [] }];
    }
    for (const step of this.#test.steps) {
      const failures = await this.#runStep(step, signal);
      if (failures.length > 0) return failures.map((failure) => ({ ...failure, step: step.name }));
    }
    return [];
  }

  /** Deletes the resources while the operators run, then the namespace. */
  async close(): Promise<void> {
    const { api, clock } = this.#options;
    const definitions = this.#operators?.definitions ?? [];
    try {
      for (const { definition } of definitions) {
        const { gvk } = definition.kind;
        const kind = await this.#cluster.kindNamed(gvk.kind);
        if (kind === undefined) continue;
        const resources = await this.#cluster.list(kind);
        await Promise.all(
          resources.map(async ({ metadata }) =>
            deleteAndWait(api, await this.#cluster.pathOf(`${gvk.kind}/${metadata.name}`), clock),
          ),
        );
      }
    } finally {
      await this.#operators?.stop();
      await deleteAndWait(api, `/api/v1/namespaces/${this.#namespace}`, clock);
    }
  }

  async #start(signal: AbortSignal): Promise<void> {
    const { check, admit, clock } = this.#options;
    const { accepted } = checkDefinitions(this.#definitions, { schemas: bundledSchemas(), check });
    this.#plans = accepted.map(({ plan }) => plan);
    for (const { located } of accepted) {
      const obstacle = await admit(located.definition);
      if (obstacle !== undefined) throw new Error(obstacle);
    }
    const operators = new ClusterOperators({
      ...this.#options,
      namespace: this.#namespace,
      definitions: accepted.map(({ located }) => located),
      onError: (line) => this.#logged.push(line),
      onWrite: (request) => this.#onWrite(request),
    });
    this.#operators = operators;
    const endMs = clock.monotonicMs() + patienceMs;
    while (!operators.isRunning) {
      const isOver = operators.isRejected || clock.monotonicMs() > endMs;
      if (isOver) throw new Error(operators.problem ?? 'The operators do not start');
      await clock.sleep(pollMs, signal);
    }
  }

  /** @throws Error for a write of a CRD that was there before */
  #onWrite(request: ApiRequest): void {
    if (request.path.startsWith(crdPath) && !this.#options.ownsCrd(request.path))
      throw new Error('The CustomResourceDefinition was there before and is not changed');
    if (isInternalRequest(request) || request.path.includes('/events')) return;
    this.#writes += 1;
    this.#lastWriteMs = this.#options.clock.monotonicMs();
    if (isChildApply(request)) this.#created.add(request.path);
  }

  async #runStep(step: TestStep, signal: AbortSignal): Promise<readonly Failure[]> {
    this.#writes = 0;
    this.#logged.length = 0;
    const at = { pointer: step.pointer, mismatches: [] };
    try {
      await this.#act(step, signal);
      // What the sandbox would do is missing.
      if (needsSandbox(step)) return await this.#whenExpected({ ...step, expect: [] }, signal);
      const failures = await this.#whenExpected(step, signal);
      if (failures.length > 0) return failures;
    } catch (error) {
      const message = signal.aborted ? 'The test was stopped' : messageOf(error);
      return [{ ...at, message }];
    }
    const [logged] = this.#logged;
    return logged === undefined
      ? []
      : [{ ...at, message: `The operators logged an error: ${logged}` }];
  }

  async #act(step: TestStep, signal: AbortSignal): Promise<void> {
    if (step.denied === undefined) await this.#change(step);
    if (!step.restart && step.definition === undefined) return;
    if (step.definition !== undefined)
      this.#definitions = await this.#files.loadDefinitions(step.definition);
    await this.#operators?.stop();
    await this.#start(signal);
  }

  async #change({ apply, patch, delete: deleted }: TestStep): Promise<void> {
    for (const objects of apply) await this.#apply(objects);
    if (patch !== undefined)
      await this.#cluster.patch(patch.target, patch.merge, patch.as ?? 'kubectl');
    for (const reference of deleted) await this.#cluster.delete(reference);
  }

  async #apply(objects: TestObjects): Promise<void> {
    const all = 'file' in objects ? await this.#files.loadObjects(objects.file) : [objects.object];
    for (const object of all) await this.#cluster.apply(object);
  }

  /** Checks until all expectations are true, and the operators have written nothing for a moment. */
  async #whenExpected(
    step: Pick<TestStep, 'expect' | 'withinMs'>,
    signal: AbortSignal,
  ): Promise<readonly Failure[]> {
    const { clock } = this.#options;
    this.#lastWriteMs = clock.monotonicMs();
    const endMs = clock.monotonicMs() + step.withinMs;
    for (;;) {
      const failures = await this.#check(step);
      const nowMs = clock.monotonicMs();
      const isQuiet = nowMs - this.#lastWriteMs >= quietMs;
      if (failures.length === 0 && (isQuiet || nowMs >= endMs)) return [];
      if (failures.length > 0 && nowMs >= endMs) return failures;
      await clock.sleep(pollMs, signal);
    }
  }

  async #check({ expect }: Pick<TestStep, 'expect'>): Promise<readonly Failure[]> {
    const observed = {
      placeOf: () => ({ cluster: this.#cluster, values: this.#values }),
      writes: this.#writes,
      left: () => this.#left(),
      hide: (failure: Failure, about: FailureSubject) =>
        withoutSecretValues(failure, about, this.#plans),
    };
    const failures: Failure[] = [];
    for (const expectation of expect) {
      const failure = await checkExpectation(expectation, observed);
      if (failure !== undefined) failures.push(failure);
    }
    return failures;
  }

  async #left(): Promise<readonly string[]> {
    const left: string[] = [];
    for (const path of this.#created)
      if ((await this.#options.api.get(path)) !== undefined) left.push(path);
    return left;
  }
}

/** Deletes an object, and waits until it does not exist. @throws Error when it still exists after a minute */
async function deleteAndWait(api: TestApi, path: string, clock: Clock): Promise<void> {
  try {
    await api.request({ method: 'DELETE', path });
  } catch (error) {
    if (error instanceof KubeError && error.status === 404) return;
    throw error;
  }
  const endMs = clock.monotonicMs() + patienceMs;
  while ((await api.get(path)) !== undefined) {
    if (clock.monotonicMs() > endMs)
      throw new Error(`The cluster has not deleted "${path}" within ${patienceMs / 1_000} s`);
    await clock.sleep(pollMs, new AbortController().signal);
  }
}

/** A name as the value of a label. */
function labelValue(name: string): string {
  return name
    .replaceAll(/[^A-Za-z0-9_.-]/g, '-')
    .slice(0, 63)
    .replaceAll(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '');
}
