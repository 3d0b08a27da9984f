/** What the pages need, and what a home (server, worker, recorded file) provides. Contract between web and console. */
import type { Json } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';

/** Everything that the pages read and write. Implementations: requests to the same origin, a worker, a recorded file. */
export interface ConsoleBackend {
  /** What this home is and permits. @throws BackendError */
  info(signal: AbortSignal): Promise<ConsoleInfo>;
  /** A request to the Kubernetes API. Responses with an error status are returned. @throws BackendError without a response */
  request(request: KubeRequest, signal: AbortSignal): Promise<KubeResponse>;
  /** The events of a watch, until the API server ends it. @throws BackendError when it cannot be opened, or breaks */
  watch(request: WatchRequest, signal: AbortSignal): AsyncIterable<WatchEvent>;
  /** A definition with its source, graph and rights. @throws BackendError */
  definition(name: string, signal: AbortSignal): Promise<DefinitionView>;
  /** The diagnostics of a text. @throws BackendError */
  check(manifest: ManifestText, signal: AbortSignal): Promise<readonly DiagnosticView[]>;
  /** The object that a YAML text describes. @throws BackendError */
  parse(text: string, signal: AbortSignal): Promise<ParsedText>;
  /** Why the children of a resource are as they are. Writes nothing. @throws BackendError */
  explain(resource: ResourceRef, signal: AbortSignal): Promise<ResourceView>;
  /** What an edited resource or definition would change. Writes nothing. @throws BackendError */
  preview(change: Change, signal: AbortSignal): Promise<PreviewView>;
  /** Evaluates an expression over a resource and what its definition reads. @throws BackendError */
  evaluate(request: EvaluateRequest, signal: AbortSignal): Promise<EvaluationView>;
  /** Writes the source of a definition back to its file. Only where {@link ConsoleInfo.canSave}. @throws BackendError */
  save(manifest: ManifestText, signal: AbortSignal): Promise<void>;
  /**
   * The reconciles of a resource: those that are recorded, oldest first, then each that ends. Only where
   * {@link ConsoleInfo.hasRecords}. @throws BackendError
   */
  reconciles(resource: ResourceRef, signal: AbortSignal): AsyncIterable<ReconcileRecord>;
  /** The work queues now, then each time that they differ. Only where {@link ConsoleInfo.hasRecords}. @throws BackendError */
  queues(signal: AbortSignal): AsyncIterable<QueueDepths>;
  /** Time in ms since the home was last heard; undefined: not yet. @default undefined: it is in the same window */
  readonly silentMs?: () => number | undefined;
}

/** Numbers of resources that wait for a reconcile, by definition. */
export type QueueDepths = Readonly<Record<string, number>>;

export interface ConsoleInfo {
  readonly home: 'dev' | 'console' | 'playground';
  /** Of Homeostat. */
  readonly version: string;
  /** For people: the context of the kubeconfig, or `sandbox`. */
  readonly cluster: string;
  /** Whether writes to the cluster are permitted. */
  readonly canEdit: boolean;
  /** Whether sources of definitions can be written. */
  readonly canSave: boolean;
  /** Whether the records of reconciles can be read. */
  readonly hasRecords: boolean;
  /** Why not, and what to do. @default undefined: they can be read */
  readonly recordsProblem?: string;
}

export interface KubeRequest {
  readonly method: 'GET' | 'PATCH' | 'DELETE';
  /** `/apis/apps/v1/namespaces/x/deployments/y`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Json;
  /** Of a patch. @default 'application/merge-patch+json' */
  readonly patch?: 'merge' | 'apply';
  /** Values of a Secret are sent as they are. Only for one object. @default false: they are masked */
  readonly reveal?: boolean;
}

export interface KubeResponse {
  readonly status: number;
  /** A `Status` if the request failed. */
  readonly body: unknown;
}

export interface WatchRequest {
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
}

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: KubeObject;
}

/** An object of the API by its full name. */
export interface ResourceRef {
  readonly apiVersion: string;
  readonly kind: string;
  /** Undefined: cluster-scoped. */
  readonly namespace?: string;
  readonly name: string;
}

export interface ManifestText {
  /** Name in diagnostics: a path. */
  readonly file: string;
  readonly text: string;
}

export interface DiagnosticView {
  readonly severity: 'error' | 'warning';
  readonly message: string;
  readonly hint?: string;
  /** Path of the field that the server rejects: `spec.port`. @default undefined: the position only */
  readonly field?: string;
  /** From 1 on. */
  readonly line: number;
  readonly column: number;
}

export interface DefinitionView extends ManifestText {
  readonly name: string;
  /** Whether the text is the manifest that the user wrote. Otherwise it is printed from the object. */
  readonly isWritten: boolean;
  /** Of the whole text. */
  readonly diagnostics: readonly DiagnosticView[];
  /** Undefined: the text has errors. */
  readonly graph?: DefinitionGraph;
  /** What the runtime must be permitted to do. */
  readonly rights: readonly RightView[];
}

export interface DefinitionGraph {
  readonly nodes: readonly GraphNodeView[];
  readonly edges: readonly GraphEdgeView[];
}

export interface GraphNodeView {
  readonly id: string;
  readonly shape: 'resource' | 'read' | 'child' | 'list' | 'status';
  readonly title: string;
  /** The kind. */
  readonly subtitle: string;
  /** `when`, `forEach`, order: one line each. */
  readonly notes: readonly string[];
}

export interface GraphEdgeView {
  readonly from: string;
  readonly to: string;
  /** Of `observed` and reads: not waited for. */
  readonly isDotted: boolean;
  /** Of the expressions that make the edge, `line: field: expression`. */
  readonly reasons: readonly string[];
}

export interface RightView {
  /** `apps` `deployments`. */
  readonly resource: string;
  readonly verbs: readonly string[];
  /** @default everywhere */
  readonly where?: string;
  readonly reasons: readonly string[];
}

export interface ResourceView {
  readonly definition: string;
  /** Whether the resource is reconciled: it is not paused, and not being deleted. */
  readonly isReconciled: boolean;
  /** By order of creation. */
  readonly children: readonly ChildView[];
  /** What the next reconcile would change. */
  readonly changes: readonly ChangeView[];
}

/** A child of a definition: one object, or an entry without an object. */
export interface ChildView {
  readonly id: string;
  readonly kind: string;
  readonly apiVersion: string;
  readonly namespace: string;
  /** Empty: it could not be rendered. */
  readonly name: string;
  readonly verdict: string;
  readonly state: string;
  readonly message: string;
  readonly expressions: readonly ExpressionView[];
}

export interface ExpressionView {
  readonly field: string;
  readonly text: string;
  readonly line: number;
  readonly reads: readonly { readonly name: string; readonly value: string }[];
}

export interface ChangeView {
  readonly action: 'create' | 'change' | 'replace' | 'delete';
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  /** The deleted or replaced object holds data. @default undefined: it holds none */
  readonly losesData?: true;
  readonly fields: readonly FieldChangeView[];
}

export interface FieldChangeView {
  readonly path: string;
  /** As JSON; undefined: the field is added. */
  readonly before?: string;
  /** Undefined: the field is removed. */
  readonly after?: string;
}

export interface ParsedText {
  /** Undefined: the text has errors. */
  readonly object?: KubeObject;
  readonly diagnostics: readonly DiagnosticView[];
}

/** An edited resource, as YAML, or an edited definition. */
export type Change =
  | { readonly kind: 'resource'; readonly text: string }
  | { readonly kind: 'definition'; readonly manifest: ManifestText };

export interface PreviewView {
  readonly diagnostics: readonly DiagnosticView[];
  /** By resource. */
  readonly resources: readonly {
    readonly title: string;
    readonly changes: readonly ChangeView[];
    readonly unresolved: readonly { readonly child: string; readonly message: string }[];
  }[];
  /** Why the plan is rejected or incomplete. */
  readonly problems: readonly string[];
}

export interface EvaluateRequest {
  readonly resource: ResourceRef;
  readonly expression: string;
}

export type EvaluationView = {
  /** What it reads, with the values now. */
  readonly reads: readonly { readonly name: string; readonly value: string }[];
} & (
  | { readonly kind: 'value'; readonly type: string; readonly json: string }
  | { readonly kind: 'missing' }
  | { readonly kind: 'waiting'; readonly on: readonly string[] }
  | { readonly kind: 'failed'; readonly message: string }
);

/** One reconcile: what started it, what it decided, and what it sent. */
export interface ReconcileRecord {
  /** Counts from 1 within the process. */
  readonly number: number;
  /** Of its end, RFC 3339. */
  readonly time: string;
  readonly durationMs: number;
  /** From the first cause to its start. */
  readonly queuedMs: number;
  readonly trigger: ReconcileTrigger;
  readonly revision: string;
  /** Each child and each of its elements. */
  readonly children: readonly ReconciledChild[];
  /** In the order in which they were sent. */
  readonly requests: readonly RequestView[];
  /** In order; steps that repeat are added up. */
  readonly phases: readonly { readonly name: string; readonly durationMs: number }[];
  /** What happened to the status: `written`, `unchanged`, ... Empty: it stopped early. */
  readonly status: string;
  readonly isReady: boolean;
  /** `done`, `requeue`, `retry`, `failed`, `error`. */
  readonly end: string;
  /** Why it runs again, or the code of its error. Empty: neither. */
  readonly reason: string;
}

export type TriggerKind = 'edit' | 'event' | 'timer' | 'retry' | 'reload' | 'start' | 'resync';

/** What enqueued a reconcile. */
export interface ReconcileTrigger {
  readonly kind: TriggerKind;
  /** For people: `Deployment default/web changed its status`. */
  readonly text: string;
  /** The objects that changed, at most three. */
  readonly objects: readonly ResourceRef[];
}

export interface ReconciledChild {
  readonly id: string;
  readonly kind: string;
  readonly apiVersion: string;
  readonly namespace: string;
  /** The member cluster. */
  readonly cluster?: string;
  readonly name: string;
  readonly verdict: string;
  readonly message: string;
  /** Of the verdict: changed fields, what it waits for, the code of a rejection, the other owner. Empty: nothing to add. */
  readonly detail: string;
  /** Of the desired object; comparable within one process. Empty: it was not rendered. */
  readonly digest: string;
}

/** A request of a reconcile. */
export interface RequestView {
  /** `apply`, `delete`, `get`, ... */
  readonly verb: string;
  /** `Deployment default/web`, with `/status`. */
  readonly object: string;
  /** Status code of the response; 0: none. */
  readonly code: number;
  /** With its time in the queue of the client. */
  readonly durationMs: number;
}

/** Why a backend gave no answer. `unreachable`: no response. `invalid`: the question itself. */
export type BackendErrorCode =
  | 'unreachable'
  | 'invalid'
  | 'forbidden'
  | 'not-found'
  | 'gone'
  | 'failed';
