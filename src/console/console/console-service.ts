import { createManifestCheck, definitionRights, type ManifestCheck } from '#check';
import { bundledPlural, bundledSchemas, explainDefinition } from '#compile';
import { type LocatedDefinition, type LocatedObject, readObjects } from '#definition';
import { type ApiRequest, aggregatedDiscoveryTypes, type KubeCluster, KubeError } from '#kube';
import {
  type EvaluatedExpression,
  evaluateExpression,
  explainResource,
  planDefinition,
} from '#plan';
import { definitionGvk } from '#runtime';
import { type Logger, silentMetrics } from '#telemetry';
import type { Clock } from '#util/clock.ts';
import { deepEqual } from '#util/deep-equal.ts';
import { messageOf } from '#util/homeostat-error.ts';
import { isJsonObject } from '#util/json.ts';
import { jsonLines } from '#util/json-lines.ts';
import { type KubeObject, keyOf } from '#util/kube-object.ts';
import { pause } from '#util/pause.ts';
import type { Random } from '#util/random.ts';
import {
  BackendError,
  type BackendErrorCode,
  type Change,
  type ConsoleBackend,
  type ConsoleInfo,
  type DefinitionView,
  type DiagnosticView,
  type EvaluateRequest,
  type EvaluationView,
  type KubeRequest,
  type KubeResponse,
  type ManifestText,
  type ParsedText,
  type PreviewView,
  type QueueDepths,
  type ReconcileRecord,
  type ResourceRef,
  type ResourceView,
  type RightView,
  type WatchEvent,
  type WatchRequest,
} from '#web';
import { definitionGraph } from './definition-graph.ts';
import { printedSource, type SourceFiles, servesKind, sourceOf } from './definition-source.ts';
import { allowedPath, isEndless } from './kube-paths.ts';
import { maskSecrets, withoutManagedFields } from './mask-secrets.ts';
import { diagnosticViews, previewView, resourceView, valueText } from './plan-views.ts';

/** A resource whose reconciles are recorded. */
export interface RecordedResource extends ResourceRef {
  /** The member cluster of the resource. @default the cluster of the runtime */
  readonly cluster?: string;
}

/** The records of reconciles of a runtime. */
export interface ReconcileRecords {
  /** Why there are none, and what to do. Undefined: they can be read. Never rejects. */
  findProblem(signal: AbortSignal): Promise<string | undefined>;
  /** The work queues now. @throws BackendError */
  queues(signal: AbortSignal): Promise<QueueDepths>;
  /** Those that are recorded, oldest first, then each that ends. Ends when the signal aborts. */
  follow(resource: RecordedResource, signal: AbortSignal): AsyncIterable<ReconcileRecord>;
}

export interface ConsoleServiceOptions {
  readonly cluster: KubeCluster;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly info: Pick<ConsoleInfo, 'home' | 'version' | 'cluster' | 'canEdit'>;
  /** Where the keys of versions are. @default looked for */
  readonly runtimeNamespace?: string | undefined;
  /** The namespaces that the runtime guards. @default none */
  readonly guardedNamespaces?: ReadonlySet<string>;
  /** @default undefined: sources are read from the cluster, and cannot be written */
  readonly files?: SourceFiles;
  /** @default undefined: reconciles are not recorded */
  readonly records?: ReconcileRecords;
  /** Checks manifests. @default a check with the schemas of the built-in kinds */
  readonly check?: ManifestCheck;
}

const flow = { name: 'console', priority: 'object' } as const;
/** How often the work queues are looked at. */
const queuesMs = 1_000;
const fieldManager = 'homeostat-console';
const contentTypes = {
  merge: 'application/merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

/** Answers the questions of the pages with a cluster. Uses web standards only: it serves a process and a worker alike. */
export class ConsoleService implements ConsoleBackend {
  readonly #options: ConsoleServiceOptions;
  readonly #check: ManifestCheck;

  constructor(options: ConsoleServiceOptions) {
    this.#options = options;
    this.#check = options.check ?? createManifestCheck(bundledSchemas());
  }

  async info(signal: AbortSignal): Promise<ConsoleInfo> {
    const { info, files, records } = this.#options;
    const recordsProblem =
      records === undefined
        ? 'Reconciles are not recorded here'
        : await records.findProblem(signal);
    return {
      ...info,
      canSave: info.canEdit && files?.write !== undefined,
      hasRecords: recordsProblem === undefined,
      ...(recordsProblem !== undefined && { recordsProblem }),
    };
  }

  async request(request: KubeRequest, signal: AbortSignal): Promise<KubeResponse> {
    if (isEndless(request))
      throw new BackendError('invalid', 'A request has one response; a watch is a stream');
    const path = allowedPath(request);
    const { method, patch = 'merge', body, reveal = false } = request;
    if (path === undefined)
      throw new BackendError('forbidden', `The console does not pass on "${request.path}"`);
    const isWrite = method !== 'GET';
    if (isWrite) this.#requireEdits(path.name);
    const api: ApiRequest = {
      method,
      path: request.path,
      flow,
      query: { ...path.query, ...(method === 'PATCH' && { fieldManager }) },
      ...(path.isDiscovery && { accept: aggregatedDiscoveryTypes }),
      ...(body !== undefined && { body }),
      ...(method === 'PATCH' && { contentType: contentTypes[patch] }),
    };
    const response = await this.#send(api, signal);
    const isOne = path.name !== undefined;
    const shown = isOne ? response.body : withoutManagedFields(response.body);
    return { status: response.status, body: reveal && isOne ? shown : maskSecrets(shown) };
  }

  async *watch(
    request: WatchRequest,
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent, void, undefined> {
    const path = allowedPath(request);
    if (path === undefined || path.isDiscovery)
      throw new BackendError('forbidden', `The console does not pass on "${request.path}"`);
    const { api } = this.#options.cluster;
    try {
      const stream = await api.stream(
        { path: request.path, query: { ...path.query, watch: 'true' }, flow },
        signal,
      );
      try {
        for await (const event of jsonLines(stream.chunks)) {
          const { type, object } = event as WatchEvent;
          yield { type, object: maskSecrets(withoutManagedFields(object)) as KubeObject };
        }
      } finally {
        stream.close();
      }
    } catch (error) {
      throw backendError(error);
    }
  }

  async definition(name: string, signal: AbortSignal): Promise<DefinitionView> {
    const { cluster, files } = this.#options;
    const object = await this.#definitionObject(name, signal);
    const source = await sourceOf(object, { cluster, files }, signal).catch((error: unknown) => {
      throw backendError(error);
    });
    const { documents, diagnostics } = this.#check(source);
    const document = documents.find((each) => each.name === name);
    const located = document?.plan === undefined ? undefined : document.located;
    return {
      name,
      ...source,
      diagnostics: diagnosticViews(diagnostics),
      ...(located !== undefined && {
        graph: definitionGraph(explainDefinition(located, bundledSchemas())),
      }),
      rights:
        document?.plan === undefined
          ? []
          : rightViews(definitionRights([document.plan], bundledPlural).rules),
    };
  }

  async check(manifest: ManifestText): Promise<readonly DiagnosticView[]> {
    return diagnosticViews(this.#check(manifest).diagnostics);
  }

  async parse(text: string): Promise<ParsedText> {
    const { objects, diagnostics } = readObjects(text, 'resource');
    const views = diagnosticViews(diagnostics);
    const [first, second] = objects;
    if (first === undefined || views.some(({ severity }) => severity === 'error'))
      return { diagnostics: views };
    if (second !== undefined) {
      const message = `Expected one object, found ${objects.length}`;
      return {
        diagnostics: [
          ...views,
          { severity: 'error', message, ...second.source.valueAt(second.pointer) },
        ],
      };
    }
    return { object: first.object, diagnostics: views };
  }

  async explain(resource: ResourceRef, signal: AbortSignal): Promise<ResourceView> {
    const located = await this.#definitionFor(resource, signal);
    const found = await explainResource(
      located,
      keyOfRef(resource),
      this.#planOptions,
      signal,
    ).catch((error: unknown) => {
      throw backendError(error);
    });
    return resourceView(definite(found, resource));
  }

  async preview(change: Change, signal: AbortSignal): Promise<PreviewView> {
    try {
      if (change.kind === 'definition')
        return await this.#previewDefinitions(change.manifest, signal);
      const { objects } = readObjects(change.text, 'resource');
      const [found] = objects;
      if (found === undefined) throw new BackendError('failed', 'The text is no object');
      return await this.#previewResource(found, signal);
    } catch (error) {
      throw backendError(error);
    }
  }

  async evaluate(
    { resource, expression }: EvaluateRequest,
    signal: AbortSignal,
  ): Promise<EvaluationView> {
    const located = await this.#definitionFor(resource, signal);
    const found = await evaluateExpression(
      located,
      { key: keyOfRef(resource), expression },
      this.#planOptions,
      signal,
    ).catch((error: unknown) => {
      throw backendError(error);
    });
    if (found !== undefined && 'problem' in found)
      return { kind: 'failed', message: found.problem, reads: [] };
    return evaluationView(definite(found, resource));
  }

  async save({ file, text }: ManifestText): Promise<void> {
    const { files, info } = this.#options;
    if (files?.write === undefined || !info.canEdit)
      throw new BackendError('forbidden', 'Sources cannot be written here');
    if ((await files.read(file)) === undefined)
      throw new BackendError(
        'forbidden',
        `"${file}" is not a file with definitions of this process`,
      );
    await files.write(file, text);
  }

  async *reconciles(
    resource: ResourceRef,
    signal: AbortSignal,
  ): AsyncGenerator<ReconcileRecord, void, undefined> {
    const { records } = this.#options;
    if (records === undefined)
      throw new BackendError('not-found', 'Reconciles are not recorded here');
    yield* records.follow(resource, signal);
  }

  async *queues(signal: AbortSignal): AsyncGenerator<QueueDepths, void, undefined> {
    const { records, clock } = this.#options;
    if (records === undefined) throw new BackendError('not-found', 'Queues are not known here');
    let last: QueueDepths | undefined;
    while (!signal.aborted) {
      const depths = await records.queues(signal);
      if (!deepEqual(depths, last)) yield depths;
      last = depths;
      await pause(clock, queuesMs, signal);
    }
  }

  get #planOptions() {
    const { cluster, clock, random, logger, runtimeNamespace, guardedNamespaces } = this.#options;
    return {
      ...{ cluster, clock, random, logger, runtimeNamespace, metrics: silentMetrics },
      ...(guardedNamespaces && { guardedNamespaces }),
    };
  }

  #requireEdits(name: string | undefined): void {
    if (!this.#options.info.canEdit)
      throw new BackendError('forbidden', 'The console is read-only; start it with --allow-edits');
    if (name === undefined)
      throw new BackendError('forbidden', 'The console writes single objects only');
  }

  /** Responses with an error status are returned. */
  async #send(request: ApiRequest, signal: AbortSignal): Promise<KubeResponse> {
    try {
      return await this.#options.cluster.api.request(request, signal);
    } catch (error) {
      if (!(error instanceof KubeError) || error.status === 0) throw backendError(error);
      const { status, message } = error;
      return { status, body: { kind: 'Status', status: 'Failure', message, code: status } };
    }
  }

  async #definitionObject(name: string, signal: AbortSignal): Promise<KubeObject> {
    const stored = await this.#options.cluster
      .get({ gvk: definitionGvk, name }, { flow }, signal)
      .catch((error: unknown) => {
        throw backendError(error);
      });
    if (stored === undefined)
      throw new BackendError('not-found', `There is no definition "${name}"`);
    return stored.object;
  }

  /** The accepted revision of the definition that serves a kind. */
  async #definitionFor(
    { apiVersion, kind }: ResourceRef,
    signal: AbortSignal,
  ): Promise<LocatedDefinition> {
    const { api } = this.#options.cluster;
    const path = `/apis/${definitionGvk.group}/${definitionGvk.version}/operatordefinitions`;
    const { body } = await api
      .request({ method: 'GET', path, flow }, signal)
      .catch((error: unknown) => {
        throw backendError(error);
      });
    const items = isJsonObject(body) && Array.isArray(body.items) ? body.items : [];
    for (const item of items as readonly KubeObject[]) {
      const object: KubeObject = {
        ...item,
        apiVersion: `${definitionGvk.group}/${definitionGvk.version}`,
        kind: definitionGvk.kind,
      };
      const status = isJsonObject(object.status) ? object.status : {};
      if (status.kind !== kind) continue;
      const located = await this.#acceptedRevision(object, signal);
      if (located !== undefined && servesKind(located, apiVersion, kind)) return located;
    }
    throw new BackendError('not-found', `No definition serves ${kind} of "${apiVersion}"`);
  }

  /** With the positions of the manifest as the user wrote it, if that is the accepted revision. Undefined: it does not compile. */
  async #acceptedRevision(
    object: KubeObject,
    signal: AbortSignal,
  ): Promise<LocatedDefinition | undefined> {
    const { cluster, files } = this.#options;
    const { name } = object.metadata;
    const printed = this.#check({ file: name, text: printedSource(object) }).documents[0]?.located;
    const source = await sourceOf(object, { cluster, files }, signal).catch(() => undefined);
    if (source?.isWritten !== true) return printed;
    const written = this.#check(source).documents.find((each) => each.name === name)?.located;
    return written?.definition.revision === printed?.definition.revision ? written : printed;
  }

  async #previewDefinitions(manifest: ManifestText, signal: AbortSignal): Promise<PreviewView> {
    const { documents, diagnostics } = this.#check(manifest);
    const views: PreviewView[] = [];
    for (const { located, plan } of documents) {
      if (located === undefined || plan === undefined) continue;
      views.push(previewView(await planDefinition(located, this.#planOptions, signal)));
    }
    return {
      diagnostics: [...diagnosticViews(diagnostics), ...views.flatMap((view) => view.diagnostics)],
      resources: views.flatMap(({ resources }) => resources),
      problems: views.flatMap(({ problems }) => problems),
    };
  }

  async #previewResource(found: LocatedObject, signal: AbortSignal): Promise<PreviewView> {
    const { object } = found;
    const located = await this.#definitionFor({ ...object, ...object.metadata }, signal);
    try {
      return previewView(
        await planDefinition(located, { ...this.#planOptions, resources: [object] }, signal),
      );
    } catch (error) {
      if (!(error instanceof KubeError) || error.status === 0) throw error;
      // The server rejects the edited resource.
      return { diagnostics: rejections(error, found), resources: [], problems: [error.message] };
    }
  }
}

/** What the server says of fields, at their positions. */
function rejections(
  { causes }: KubeError,
  { source, pointer }: LocatedObject,
): readonly DiagnosticView[] {
  return (causes ?? []).flatMap(({ field, message }) => {
    if (field === undefined || field === '') return [];
    const steps = field
      .replace(/^\./, '')
      .split(/\.|\[|\]\.?/)
      .filter((step) => step !== '');
    const at = source.valueAt(pointer + steps.map((step) => `/${step}`).join(''));
    const path = field.replace(/^\./, '');
    return [{ severity: 'error' as const, message: `${field}: ${message}`, field: path, ...at }];
  });
}

function evaluationView({ result, reads }: EvaluatedExpression): EvaluationView {
  const shown = reads.map(({ reference, value }) => ({ name: reference, value: valueText(value) }));
  switch (result.kind) {
    case 'value':
      return {
        kind: 'value',
        type: typeName(result.value),
        json: JSON.stringify(result.value, undefined, 2),
        reads: shown,
      };
    case 'sensitive':
      return { kind: 'value', type: 'sensitive', json: '(sensitive)', reads: shown };
    case 'failed':
      return { kind: 'failed', message: result.failure.message, reads: shown };
    case 'waiting':
      return { kind: 'waiting', on: result.on, reads: shown };
    default:
      return { kind: 'missing', reads: shown };
  }
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? `list of ${value.length}` : typeof value;
}

/** @throws BackendError for a missing resource, and for a definition that the cluster rejects */
function definite<Found extends object>(
  found: Found | { readonly problem: string } | undefined,
  { kind, name }: ResourceRef,
): Found {
  if (found === undefined)
    throw new BackendError(
      'not-found',
      `There is no ${kind} "${name}", or its definition does not select it`,
    );
  if ('problem' in found) throw new BackendError('failed', String(found.problem));
  return found;
}

function rightViews(rules: ReturnType<typeof definitionRights>['rules']): readonly RightView[] {
  return rules.map(({ apiGroup, resource, names, verbs, namespaces, reasons }) => ({
    resource: `${resource}${apiGroup === '' ? '' : `.${apiGroup}`}${names === undefined ? '' : ` ${names.join(', ')}`}`,
    verbs,
    ...(namespaces !== undefined && { where: namespaces.join(', ') }),
    reasons,
  }));
}

function keyOfRef({ namespace, name }: ResourceRef): string {
  return keyOf(namespace, name);
}

/** An error of the cluster as the pages know it. */
function backendError(error: unknown): BackendError {
  if (error instanceof BackendError) return error;
  if (!(error instanceof KubeError)) {
    const message = messageOf(error);
    return new BackendError('failed', message, { cause: error });
  }
  return new BackendError(codeOf(error), error.message, { cause: error });
}

function codeOf({ status }: KubeError): BackendErrorCode {
  switch (status) {
    case 0:
      return 'unreachable';
    case 401:
    case 403:
      return 'forbidden';
    case 404:
      return 'not-found';
    case 410:
      return 'gone';
    default:
      return 'failed';
  }
}
