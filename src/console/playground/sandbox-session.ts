import { type CheckedDocument, createManifestCheck, type ManifestCheck } from '#check';
import { builtinDocuments, bundledSchemas, patternProblem } from '#compile';
import { answer, ConsoleService, diagnosticViews, openStream, ReconcileRecorder } from '#console';
import { type Diagnostic, parseYaml, printYaml, readObjects } from '#definition';
import { applySample, definitionChanges } from '#dev';
import { createClusterOn, type KubeCluster, KubeError } from '#kube';
import {
  ClusterRuntime,
  type DefinitionView as DefinitionState,
  type DesiredDefinition,
  isStarting,
  queuesOf,
  simulatedConversion,
} from '#runtime';
import { createSandbox, type Sandbox } from '#sandbox';
import {
  createDerivedApi,
  createSimulatedHttp,
  EditableSource,
  isHttpKind,
  permitHttp,
  SandboxClient,
  serveHttpKinds,
} from '#simulation';
import { type Logger, silentMetrics } from '#telemetry';
import { checkObjects, ObjectCheck } from '#testing';
import type { Clock } from '#util/clock.ts';
import { type Gvk, gvkKey, gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { nextTurn } from '#util/next-turn.ts';
import type { Random } from '#util/random.ts';
import { FairTimeSlicer } from '#util/time-slicer.ts';
import type { DiagnosticView, ManifestText, PreviewView, ResourceRef } from '#web';
import type { FileCheck } from '#web/browser/index.ts';
import { type ApplyReport, isSampleFile } from './messages.ts';
import type { PageAnswers } from './serve-page.ts';

export interface SandboxSessionOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Of Homeostat. */
  readonly version: string;
}

/** Definitions that have not started by then are reported as they are. */
const startLimitMs = 15_000;
const flow = { name: 'dev', priority: 'object' } as const;

/** A Kubernetes API with simulated controllers, the runtime of definitions, and the answers for the pages about both. */
export class SandboxSession implements PageAnswers {
  readonly #options: SandboxSessionOptions;
  readonly #check: ManifestCheck = createManifestCheck(bundledSchemas());
  readonly #sandbox: Sandbox;
  readonly #cluster: KubeCluster;
  readonly #consoleCluster: KubeCluster;
  readonly #source = new EditableSource([]);
  readonly #runtime: ClusterRuntime;
  readonly #service: ConsoleService;
  readonly #stopper = new AbortController();
  readonly #ended: Promise<void>;
  readonly #published: Promise<void>;
  #files: readonly ManifestText[] = [];
  /** Objects of the samples. */
  #samples: readonly KubeObject[] = [];
  #objectCheck: { readonly check: ObjectCheck; readonly key: string } | undefined;
  /** One apply at a time. */
  #turns: Promise<unknown> = Promise.resolve();

  constructor(options: SandboxSessionOptions) {
    const { clock, random, logger, version } = options;
    this.#options = options;
    const { kubernetesVersion, ...schemas } = builtinDocuments();
    this.#sandbox = createSandbox({
      clock,
      random,
      schemas,
      kubernetesVersion,
      patternProblem,
      parseYaml: (text) => parseYaml(text, 'kubectl'),
      printYaml,
      controllers: true,
      runsPods: true,
      onInternalError: (err) => logger.error({ err }, 'The sandbox failed'),
    });
    this.#cluster = this.#connect('homeostat');
    this.#consoleCluster = this.#connect('homeostat-console');
    const records = new ReconcileRecorder({
      clock,
      random,
      queues: () => queuesOf(this.#runtime.view),
    });
    this.#runtime = new ClusterRuntime({
      clock,
      random,
      logger,
      metrics: silentMetrics,
      cluster: this.#cluster,
      timeSlicer: new FairTimeSlicer({ defer: (callback) => void nextTurn().then(callback) }),
      sources: [this.#source],
      check: this.#check,
      observer: records,
      allowBreakingChanges: true,
      conversion: simulatedConversion,
      readsObjects: true,
      guardedNamespaces: new Set(),
      definitionsNamespace: undefined,
      name: 'playground',
      withdrawalDelays: { stopMs: 500, deleteMs: 1_000 },
      ownControllers: [
        createSimulatedHttp({
          ...{ clock, random, logger, metrics: silentMetrics, cluster: this.#cluster },
          transport: createDerivedApi(this.#sandbox),
          permitHttp: () => permitHttp(this.#sandbox),
        }),
      ],
      onFindings: () => undefined,
    });
    this.#service = new ConsoleService({
      clock,
      random,
      logger,
      records,
      check: this.#check,
      cluster: this.#consoleCluster,
      info: { home: 'playground', version, cluster: 'playground', canEdit: true },
      // Sources are edited beside the pages.
      files: {
        read: async (path) => this.#files.find(({ file }) => file === path)?.text,
      },
    });
    this.#published = this.#until(() => this.#runtime.isPublished);
    this.#ended = this.#runtime.run(this.#stopper.signal);
  }

  async answer(question: string, body: unknown, signal: AbortSignal): Promise<unknown> {
    if (question === 'apply') return this.apply((body as { files: readonly ManifestText[] }).files);
    if (question === 'check-file') return this.checkFile(body as ManifestText, signal);
    // Until then, the kind of definitions is not served.
    await this.#published;
    return answer(this.#service, question, body, signal);
  }

  open(body: unknown, signal: AbortSignal): AsyncIterable<unknown> {
    return openStream(this.#service, body, signal);
  }

  /** Runs the definitions of these files, and applies the samples. Objects that are no longer in a sample are deleted. */
  apply(files: readonly ManifestText[]): Promise<ApplyReport> {
    const turn = this.#turns.then(() => this.#apply(files));
    this.#turns = turn.catch(() => undefined);
    return turn;
  }

  /** The diagnostics of a file, and what it would change if it were applied. */
  async checkFile(manifest: ManifestText, signal: AbortSignal): Promise<FileCheck> {
    const { file, text } = manifest;
    const isSample = isSampleFile(file);
    const diagnostics = isSample
      ? this.#checkSample(manifest)
      : await this.#service.check(manifest);
    // Of a stopped sandbox, expressions are not evaluated before the user applies them.
    const isRunning = this.#files.length > 0;
    const isApplied = this.#files.some((each) => each.file === file && each.text === text);
    if (!isRunning || isApplied || diagnostics.some(({ severity }) => severity === 'error'))
      return { diagnostics, preview: undefined };
    const preview = isSample
      ? await this.#previewSample(text, signal)
      : await this.#service.preview({ kind: 'definition', manifest }, signal);
    return { diagnostics, preview };
  }

  /** Ends everything. */
  async close(): Promise<void> {
    this.#stopper.abort(new Error('The session has ended'));
    await this.#ended;
    await Promise.all([this.#cluster.close(), this.#consoleCluster.close()]);
    this.#sandbox.stop();
    this.#objectCheck?.check.close();
  }

  async #apply(files: readonly ManifestText[]): Promise<ApplyReport> {
    const { signal } = this.#stopper;
    const before = this.#runtime.desired;
    const definitions = files.filter(({ file }) => !isSampleFile(file));
    this.#files = files;
    this.#source.replace(definitions);
    const documents = definitions.flatMap((file) => this.#check(file).documents);
    await this.#untilStarted(documents);
    const now = this.#runtime.desired;
    const report = { done: [...definitionChanges(before, now)], problems: this.#problems() };
    await this.#applySamples(
      files.filter(({ file }) => isSampleFile(file)),
      report,
      signal,
    );
    return {
      ...report,
      definitions: now.map(({ located }) => located.definition.name),
      resources: this.#samples
        .filter((object) => now.some((each) => serves(each, object)))
        .map((object) => this.#refOf(object)),
    };
  }

  /** Waits until each valid definition runs in this revision, or is rejected. */
  #untilStarted(documents: readonly CheckedDocument[]): Promise<void> {
    const wanted = documents.flatMap(({ plan, located }) =>
      plan === undefined || located === undefined ? [] : [located.definition],
    );
    return this.#until(() =>
      wanted.every(({ name, revision }) => {
        const view = this.#runtime.view.definitions.find((each) => each.name === name);
        return view !== undefined && isSettled(view, revision);
      }),
    );
  }

  /** Waits for a state of the runtime, or for the time limit. */
  #until(isDone: () => boolean): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stopper;
    return new Promise((resolve) => {
      const end = () => {
        unsubscribe();
        cancel();
        signal.removeEventListener('abort', end);
        resolve();
      };
      const unsubscribe = this.#runtime.onChange(() => {
        if (isDone()) end();
      });
      const cancel = clock.after(startLimitMs, end);
      signal.addEventListener('abort', end, { once: true });
      if (isDone()) end();
    });
  }

  /** Why definitions do not run. */
  #problems(): string[] {
    return this.#runtime.view.definitions.flatMap(({ name, state, rejection }) => {
      const message =
        rejection?.message ??
        (state.kind === 'rejected' || state.kind === 'failing' || state.kind === 'waiting'
          ? state.message
          : undefined);
      return message === undefined ? [] : [`Definition "${name}": ${message}`];
    });
  }

  async #applySamples(
    files: readonly ManifestText[],
    { done, problems }: { readonly done: string[]; readonly problems: string[] },
    signal: AbortSignal,
  ): Promise<void> {
    const before = this.#samples;
    const read = files.map(({ file, text }) => readObjects(text, file));
    const isRead = read.every(({ diagnostics }) => !diagnostics.some(isError));
    this.#samples = read.flatMap(({ objects }) => objects.map(({ object }) => object));
    const attempt = async (object: KubeObject, work: () => Promise<string>) => {
      const title = `${object.kind} "${object.metadata.name}"`;
      try {
        done.push(`${await work()} ${title}`);
      } catch (error) {
        if (!(error instanceof KubeError)) throw error;
        problems.push(`${title}: ${error.message}`);
      }
    };
    if (this.#samples.some(isHttpKind))
      await serveHttpKinds(this.#cluster, this.#options.clock, signal);
    for (const object of this.#samples)
      await attempt(object, () => applySample(this.#cluster, object, signal));
    const kept = new Set(this.#samples.map(keyOfObject));
    // A file with errors says nothing about the objects that it lost.
    if (!isRead) return;
    for (const object of before.filter((each) => !kept.has(keyOfObject(each))))
      await attempt(object, () => this.#delete(object, signal));
  }

  async #delete(object: KubeObject, signal: AbortSignal): Promise<string> {
    const { apiVersion, kind, ...place } = this.#refOf(object);
    const ref = { gvk: gvkOf(apiVersion, kind), ...place };
    const stored = await this.#cluster.get(ref, { flow }, signal);
    const uid = stored?.object.metadata.uid;
    if (uid !== undefined) await this.#cluster.delete(ref, { flow, uid }, signal);
    return 'Deleted';
  }

  #refOf({ apiVersion, kind, metadata: { name, namespace = 'default' } }: KubeObject): ResourceRef {
    const isNamespaced = this.#cluster.resourceFor(gvkOf(apiVersion, kind))?.namespaced === true;
    return { apiVersion, kind, name, ...(isNamespaced && { namespace }) };
  }

  #checkSample({ file, text }: ManifestText): readonly DiagnosticView[] {
    const { objects, diagnostics } = readObjects(text, file);
    const found = diagnostics.some(isError) ? [] : checkObjects(objects, this.#currentCheck());
    return diagnosticViews([...diagnostics, ...found]);
  }

  /** Of the objects that a definition serves; the others change only themselves. */
  async #previewSample(text: string, signal: AbortSignal): Promise<PreviewView> {
    const { desired } = this.#runtime;
    const previews: PreviewView[] = [];
    for (const { object } of readObjects(text, 'sample').objects) {
      if (!desired.some((each) => serves(each, object))) continue;
      const { namespace } = this.#refOf(object);
      const metadata = { ...object.metadata, ...(namespace !== undefined && { namespace }) };
      const resource = printYaml({ ...object, metadata });
      previews.push(await this.#service.preview({ kind: 'resource', text: resource }, signal));
    }
    return {
      diagnostics: previews.flatMap(({ diagnostics }) => diagnostics),
      resources: previews.flatMap(({ resources }) => resources),
      problems: previews.flatMap(({ problems }) => problems),
    };
  }

  /** The check with the kinds of the definitions that run. */
  #currentCheck(): ObjectCheck {
    const definitions = this.#runtime.desired.map(({ located }) => located);
    const key = definitions.map(({ definition }) => definition.revision).join();
    if (this.#objectCheck?.key !== key) {
      this.#objectCheck?.check.close();
      this.#objectCheck = { key, check: new ObjectCheck(definitions) };
    }
    return this.#objectCheck.check;
  }

  #connect(userAgent: string): KubeCluster {
    const { clock, random, logger } = this.#options;
    const schemas = bundledSchemas();
    return createClusterOn(new SandboxClient({ sandbox: this.#sandbox, userAgent }), {
      clock,
      random,
      logger,
      metrics: silentMetrics,
      knownSchema: (gvk: Gvk) => schemas.schemaFor(gvk),
    });
  }
}

function isSettled(view: DefinitionState, wanted: string): boolean {
  if (isStarting(view) || view.next !== undefined) return false;
  return view.revision === wanted || view.rejection !== undefined;
}

function isError({ severity }: Diagnostic): boolean {
  return severity === 'error';
}

function serves({ located }: DesiredDefinition, { apiVersion, kind }: KubeObject): boolean {
  return gvkKey(located.definition.kind.gvk) === gvkKey(gvkOf(apiVersion, kind));
}

function keyOfObject({ apiVersion, kind, metadata }: KubeObject): string {
  return [apiVersion, kind, metadata.namespace ?? '', metadata.name].join(' ');
}
