import type { DefinitionManifest, ManifestCheck } from '#check';
import type { CoverageRecorder } from '#compile';
import {
  type OperatorTest,
  type Position,
  type TestFailure,
  type TestObjects,
  type TestStep,
  testHub,
} from '#definition';
import type { ApiRequest } from '#kube';
import type { Sandbox } from '#sandbox';
import { errorAnswer, errorLogger, isInternalRequest, Simulation, TestClusters } from '#simulation';
import type { KubeObject } from '#util/kube-object.ts';
import { isInstallManager } from '#util/stored-names.ts';
import { expectDenied } from './expect-denied.ts';
import { checkExpectation, type Failure } from './expectations.ts';
import { unmetConditions } from './unmet-conditions.ts';

/** The files of a test, read before it runs. */
export interface TestFiles {
  /** The definitions that the test begins with. */
  readonly definitions: readonly DefinitionManifest[];
  /** Reads the definitions of a step's `definition`. */
  loadDefinitions(path: string): Promise<readonly DefinitionManifest[]>;
  /** Reads the objects of an `apply` or `given` with `file`. */
  loadObjects(path: string): Promise<readonly KubeObject[]>;
}

/** A step that failed. */
export interface StepFailure extends Failure {
  /** Name of the step; undefined where the test failed before its first step. */
  readonly step?: string;
  /** Of the expectation in the test's file; undefined where no place is to blame. */
  readonly position?: Position;
  /** Conditions that are not true when the step fails, one a line; of its first failure only. @default none */
  readonly conditions?: readonly string[];
  /** What to do about it. @default none */
  readonly hint?: string;
  /** More about what was found, a line each. @default none */
  readonly details?: readonly string[];
}

/** Plain data: a test can run in another thread. */
export interface TestResult {
  /** Name of the test's file. */
  readonly file: string;
  readonly name: string;
  /** Number of steps of the test. */
  readonly steps: number;
  /** Steps that a real cluster cannot do. @default 0 */
  readonly skippedSteps?: number;
  /** Objects that a generated test has converted. @default undefined: it is a test with steps */
  readonly objects?: number;
  /** Why the whole test was skipped. @default undefined: it has run */
  readonly skipped?: string;
  /** Empty: the test has passed. */
  readonly failures: readonly StepFailure[];
  /** Time that has passed, in ms: simulated, or on a real cluster. */
  readonly tookMs: number;
  /** Whether the cluster was a real one. @default false */
  readonly isReal?: boolean;
}

/** Time in which nothing may be written for the operators to count as idle, in ms of simulated time. */
const idleMs = 30_000;

export interface RunTestOptions {
  /** Ends the test after the step that runs; a test that was ended has failed. @default undefined: it runs to its end */
  readonly signal?: AbortSignal;
  /** Checks definition files. @default a check with the schemas of the built-in kinds */
  readonly check?: ManifestCheck;
  /** Records what the test reaches. @default undefined: nothing is recorded */
  readonly coverage?: CoverageRecorder;
}

/** Runs one test on a cluster of its own. Never throws for a failure of the test. */
export async function runTest(
  test: OperatorTest,
  files: TestFiles,
  options: RunTestOptions = {},
): Promise<TestResult> {
  const run = new TestRun(test, files, options);
  try {
    return await run.run();
  } finally {
    await run.close();
  }
}

class TestRun {
  readonly #test: OperatorTest;
  readonly #files: TestFiles;
  readonly #logged: string[] = [];
  /** Objects that the operators have created or changed. */
  readonly #created = new Map<string, CreatedObject>();
  readonly #signal: AbortSignal | undefined;
  readonly #simulation: Simulation;
  readonly #clusters: TestClusters;
  /** Method and path of each write since the step began. */
  #writes: string[] = [];
  /** Those of them that the server did not reject. */
  #done: string[] = [];
  #failing: TestFailure | undefined;
  #failuresLeft = 0;

  constructor(test: OperatorTest, files: TestFiles, { signal, ...options }: RunTestOptions) {
    this.#signal = signal;
    this.#test = test;
    this.#files = files;
    this.#simulation = new Simulation({
      definitions: files.definitions,
      ...options,
      apis: test.apis,
      derivesApis: test.apis.length === 0,
      logger: errorLogger((line) => this.#logged.push(line)),
      onRequest: (request, member) => this.#onRequest(request, member),
      onAnswer: (request, status, member) => this.#onAnswer(request, status, member),
    });
    this.#clusters = new TestClusters(this.#simulation);
  }

  async run(): Promise<TestResult> {
    const startMs = this.#simulation.clock.nowMs();
    const { name, source, steps } = this.#test;
    const failures = await this.#runAll();
    return {
      file: source.file,
      name,
      steps: steps.length,
      failures: failures.map((failure) => ({
        ...failure,
        position: source.valueAt(failure.pointer),
      })),
      tookMs: this.#simulation.clock.nowMs() - startMs,
    };
  }

  async close(): Promise<void> {
    await this.#simulation.close();
  }

  async #runAll(): Promise<readonly StepFailure[]> {
    const { given, steps } = this.#test;
    try {
      for (const objects of given) await this.#apply(objects);
    } catch (error) {
      return [{ pointer: '/spec/given', message: messageOf(error), mismatches: [] }];
    }
    await this.#simulation.start();
    const notStarted = await this.#simulation.untilStarted();
    if (notStarted !== undefined)
      return [{ pointer: '/spec', message: notStarted, mismatches: [] }];
    for (const step of steps) {
      if (this.#signal?.aborted === true)
        return [{ pointer: step.pointer, message: 'The test was stopped', mismatches: [] }];
      const failures = await this.#runStep(step);
      if (failures.length > 0) return this.#explained(failures, step);
    }
    return [];
  }

  async #runStep(step: TestStep): Promise<readonly Failure[]> {
    this.#writes = [];
    this.#logged.length = 0;
    this.#simulation.apis.forgetRequests();
    try {
      await this.#act(step);
    } catch (error) {
      return [{ pointer: step.pointer, message: messageOf(error), mismatches: [] }];
    }
    const failures = await this.#whenExpected(step);
    if (failures.length > 0) return failures;
    return this.#checkQuiet(step);
  }

  async #explained(
    failures: readonly Failure[],
    { name }: TestStep,
  ): Promise<readonly StepFailure[]> {
    const desired = this.#simulation.runtime?.desired ?? [];
    const kinds = desired.map(({ located }) => located.definition.kind.gvk);
    const conditions = await unmetConditions(this.#clusters.of(testHub), kinds);
    return failures.map((failure, index) => ({
      ...{ ...failure, step: name },
      ...(index === 0 && conditions.length > 0 && { conditions }),
    }));
  }

  async #act(step: TestStep): Promise<void> {
    const simulation = this.#simulation;
    const { patch, fail, outcome, clusters, cluster: place } = step;
    if (clusters !== undefined) {
      this.#clusters.setReachable(clusters.stop, false);
      this.#clusters.setReachable(clusters.start, true);
    }
    if (step.api !== undefined) {
      const change = await this.#clusters.placeOf(testHub).values.resolve(step.api);
      simulation.apis.get(change.name).change(change);
    }
    const { denied } = step;
    for (const objects of step.apply) await this.#apply(objects, denied);
    // A member may be one of the objects.
    const cluster = this.#clusters.of(place);
    if (outcome !== undefined) this.#sandboxOf(place).setPodOutcome(outcome.pods, outcome.is);
    this.#failing = fail;
    this.#failuresLeft = fail?.times ?? 0;
    if (patch !== undefined)
      await expectDenied(denied, () =>
        cluster.patch(patch.target, patch.merge, patch.as ?? 'kubectl'),
      );
    for (const reference of step.delete)
      await expectDenied(denied, () => cluster.delete(reference));
    if (step.restart) await this.#restart();
    if (step.definition !== undefined)
      simulation.reload(await this.#files.loadDefinitions(step.definition));
    if (step.advanceMs > 0) await simulation.advance(step.advanceMs);
  }

  async #apply({ cluster, ...objects }: TestObjects, denied?: string): Promise<void> {
    const all = 'file' in objects ? await this.#files.loadObjects(objects.file) : [objects.object];
    for (const object of all)
      await expectDenied(denied, () => this.#clusters.apply(object, cluster));
  }

  #sandboxOf(cluster: string): Sandbox {
    const { sandbox, members } = this.#simulation;
    return cluster === testHub ? sandbox : members.get(cluster).sandbox;
  }

  async #restart(): Promise<void> {
    await this.#simulation.stop();
    await this.#simulation.start();
    const notStarted = await this.#simulation.untilStarted();
    if (notStarted !== undefined) throw new Error(notStarted);
  }

  /** Lets time pass until all expectations are true. Returns those that are not, or are not any more, in time. */
  async #whenExpected({ expect, withinMs }: TestStep): Promise<readonly Failure[]> {
    const simulation = this.#simulation;
    const endMs = simulation.clock.monotonicMs() + withinMs;
    await simulation.idle();
    for (;;) {
      const failures = await this.#check(expect);
      if (failures.length === 0) return [];
      if (!simulation.clock.runNextTimer(endMs)) return failures;
      await simulation.idle();
    }
  }

  async #check(expect: TestStep['expect']): Promise<readonly Failure[]> {
    const observed = {
      placeOf: (cluster: string) => this.#clusters.placeOf(cluster),
      writes: this.#writes.length,
      left: () => this.#left(),
      apis: this.#simulation.apis,
    };
    const failures: Failure[] = [];
    for (const expectation of expect) {
      const failure = await checkExpectation(expectation, observed);
      if (failure !== undefined) failures.push(failure);
    }
    return failures;
  }

  /** After each step the operators become idle, and what was true stays true. */
  async #checkQuiet(step: TestStep): Promise<readonly Failure[]> {
    const simulation = this.#simulation;
    await simulation.advance(idleMs);
    const at = { pointer: step.pointer, mismatches: [] };
    this.#writes = [];
    await simulation.advance(idleMs);
    if (this.#writes.length > 0)
      return [{ ...at, message: `The operators do not become idle: ${listOf(this.#writes)}` }];
    this.#done = [];
    if (step.fail === undefined) await this.#restart();
    await simulation.advance(idleMs);
    // What the server rejects is sent once more: an object of another owner is in no cache of a new process.
    if (this.#done.length > 0)
      return [{ ...at, message: `A second reconcile writes again: ${listOf(this.#done)}` }];
    if (this.#logged.length > 0)
      return [{ ...at, message: `The operators logged an error: ${this.#logged[0]}` }];
    return this.#check(step.expect.filter(({ kind }) => kind !== 'writes' && kind !== 'requests'));
  }

  #onRequest(request: ApiRequest, member: string | undefined) {
    if (request.method === 'GET' || isInternalRequest(request)) return undefined;
    const failing = this.#failing;
    const cluster = member ?? testHub;
    if (failing !== undefined && this.#failuresLeft > 0 && isMeant(request, cluster, failing)) {
      this.#failuresLeft -= 1;
      return errorAnswer(failing.with);
    }
    this.#writes.push(writeText(request, cluster));
    return undefined;
  }

  #onAnswer(request: ApiRequest, status: number, cluster: string = testHub): void {
    if (request.method === 'GET' || status >= 300 || isInternalRequest(request)) return;
    const object = { path: request.path, cluster };
    this.#done.push(writeText(request, cluster));
    if (isChildApply(request)) this.#created.set(titleOf(object), object);
  }

  async #left(): Promise<readonly string[]> {
    const left: string[] = [];
    const { members } = this.#simulation;
    for (const [title, { path, cluster }] of this.#created) {
      const api = cluster === testHub ? this.#simulation : members.get(cluster).api;
      if ((await api.get(path)) !== undefined) left.push(title);
    }
    return left;
  }
}

interface CreatedObject {
  readonly path: string;
  /** Name of a `Cluster`, or the hub. */
  readonly cluster: string;
}

function titleOf({ path, cluster }: CreatedObject): string {
  return cluster === testHub ? path : `${path} in cluster "${cluster}"`;
}

function writeText({ method, path }: ApiRequest, cluster: string): string {
  return `${method} ${titleOf({ path, cluster })}`;
}

/** Writes for a message: each once, the first three. */
function listOf(writes: readonly string[]): string {
  const different = [...new Set(writes)];
  const more = different.length > 3 ? `, and ${different.length - 3} more` : '';
  return `${different.slice(0, 3).join(', ')}${more}`;
}

/** An apply of an object that is no CRD, and does not belong to the definition itself: those stay as long as it does. */
export function isChildApply({ method, path, contentType, query }: ApiRequest): boolean {
  const isApply = method === 'PATCH' && contentType === 'application/apply-patch+yaml';
  const isOwn = isInstallManager(query?.fieldManager ?? '');
  return isApply && !isOwn && !path.includes('/apiextensions.k8s.io/') && !path.endsWith('/status');
}

const verbs: Readonly<Record<string, string>> = {
  PATCH: 'patch',
  POST: 'create',
  DELETE: 'delete',
  GET: 'get',
};

function isMeant(
  { method, body }: ApiRequest,
  cluster: string,
  { requests }: TestFailure,
): boolean {
  const kind = (body as { readonly kind?: unknown } | undefined)?.kind;
  return (
    (requests.cluster === undefined || requests.cluster === cluster) &&
    (requests.verb === undefined || requests.verb === verbs[method]) &&
    (requests.kind === undefined || requests.kind === kind)
  );
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
