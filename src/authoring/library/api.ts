// The public types of the package, by hand: the build ships this file as `dist/index.d.mts`, so it imports nothing. `library.test.ts` has
// the compiler compare it with what `index.ts` exports.

/** Any Kubernetes object. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

/** The metadata of an object. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly generateName?: string;
  readonly managedFields?: readonly unknown[];
  readonly deletionGracePeriodSeconds?: number;
  readonly selfLink?: string;
}

/** A reference from an object to its owner. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** A file with its text. */
export interface SourceFile {
  /** Path or any other name; it is shown in diagnostics. */
  readonly file: string;
  /** YAML or JSON, one or more documents. */
  readonly text: string;
}

/** Definitions: the text of one file, or files. {@link loadDefinitions} reads them from a disk. */
export type Definitions = string | readonly SourceFile[];

/** An error or a warning in a file, as `homeostat validate -o json` prints it. */
export interface Diagnostic {
  readonly severity: 'error' | 'warning';
  /** Stable code, see `docs/diagnostics.md`. */
  readonly code: string;
  readonly message: string;
  /** What to do. */
  readonly hint?: string;
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
  /** JSON pointer of the value: `/spec/children/0`. */
  readonly path: string;
}

/** What {@link compile} finds. */
export interface CompileResult {
  /** The definitions without errors. */
  readonly definitions: readonly CompiledDefinition[];
  /** Errors and warnings by file and line. */
  readonly diagnostics: readonly Diagnostic[];
}

/** A definition without errors, and what it creates. */
export interface CompiledDefinition {
  readonly name: string;
  readonly file: string;
  /** Hash of the content: two definitions with the same revision do the same. */
  readonly revision: string;
  /** The kind of the resources. */
  readonly apiVersion: string;
  readonly kind: string;
  /** The CustomResourceDefinition that it installs. @default undefined: it works on an existing kind */
  readonly crd?: KubeObject;
  /** Objects that it reads. */
  readonly reads: readonly ReadPlan[];
  /** Objects that it creates, in the order of their creation; those of `onDelete` last. */
  readonly children: readonly ChildPlan[];
  /** Status fields, conditions, Events and patches. */
  readonly reports: readonly ReportPlan[];
}

/** An object that a definition creates. */
export interface ChildPlan {
  readonly id: string;
  readonly apiVersion: string;
  readonly kind: string;
  /** The name as written. @default undefined: it is not one text */
  readonly name?: string;
  /** `onDelete`: created only while the resource is being deleted. */
  readonly stage: 'always' | 'onDelete';
  /** Children of a tier are created after those of earlier tiers that they wait for; from 1. */
  readonly tier: number;
  /** Ids of the children that it waits for. */
  readonly waitsFor: readonly string[];
  /** `when` as written. @default undefined: it is always created */
  readonly when?: string;
  /** `forEach` as written. @default undefined: one object */
  readonly forEach?: string;
  /** What its expressions read: `spec.size`, `children.db.status`. */
  readonly inputs: readonly string[];
}

/** An object that a definition reads. */
export interface ReadPlan {
  readonly id: string;
  readonly apiVersion: string;
  readonly kind: string;
  /** `names`: a list of objects by their names. */
  readonly by: 'name' | 'names' | 'selector';
  readonly optional: boolean;
  readonly inputs: readonly string[];
}

/** Something that a definition reports. */
export interface ReportPlan {
  /** `status.ready`, `condition Degraded`, `event Scaled`, `patch labels`. */
  readonly name: string;
  readonly inputs: readonly string[];
}

/** Options of {@link render}. */
export interface RenderOptions {
  /** Objects that exist before, such as those that the definition reads. @default [] */
  readonly with?: readonly KubeObject[];
  /** Whether simulated controllers make children ready. Otherwise what reads them waits. @default true */
  readonly simulate?: boolean;
}

/** What {@link render} finds; the same as `homeostat render -o json`. */
export interface RenderResult {
  /** In the order of their creation. Empty if a definition has errors. */
  readonly children: readonly RenderedChild[];
  /** Ids of children without an object. */
  readonly missing: readonly string[];
  /** The status of the resource. @default undefined: it has none */
  readonly status?: Readonly<Record<string, unknown>>;
  /** Why the resource is not ready. @default undefined: it is ready */
  readonly problem?: string;
  /** Errors and warnings of the definitions. */
  readonly diagnostics: readonly Diagnostic[];
}

/** An object that a definition creates for a resource. */
export interface RenderedChild {
  /** Id of the child in its definition. */
  readonly child: string;
  /** Ids of the children that it waits for. */
  readonly waitsFor: readonly string[];
  readonly manifest: KubeObject;
  /** Name of the member cluster that it is in. @default undefined: it is on the hub */
  readonly cluster?: string;
}

/** Options of {@link runTests}. */
export interface RunTestsOptions {
  /** Runs only tests whose name contains this. @default '': all */
  readonly filter?: string;
  /** Tests may name files outside of the current folder and of the folder above that of the test. @default false: that is an error */
  readonly outsideFiles?: boolean;
}

/** What {@link runTests} finds. */
export interface TestRun {
  /** In the order of the files. */
  readonly results: readonly TestResult[];
  /** Errors in tests and in their definitions. A test with an error does not run. */
  readonly diagnostics: readonly Diagnostic[];
  /** Whether there are results, all of them passed, and no file has an error. */
  readonly passed: boolean;
}

/** The result of one document of kind `OperatorTest`. */
export interface TestResult {
  readonly name: string;
  readonly file: string;
  readonly passed: boolean;
  /** Empty: the test has passed. */
  readonly failures: readonly TestFailure[];
  /** Simulated time that has passed, in ms. */
  readonly simulatedMs: number;
}

/** An expectation that is not true. */
export interface TestFailure {
  /** Name of the step. @default undefined: the test failed before its first step */
  readonly step?: string;
  readonly message: string;
  /** Place of the expectation in the file of the test; from 1. */
  readonly line: number;
  readonly column: number;
  /** Fields that differ. */
  readonly mismatches: readonly {
    /** JSON pointer in the object. */
    readonly path: string;
    readonly expected: unknown;
    /** Undefined: the field does not exist. */
    readonly found: unknown;
  }[];
}

/** Options of {@link createSandbox}. */
export interface SandboxOptions {
  /**
   * `fake`: time stands still until {@link Sandbox.advance}. `system`: time passes as on the machine; for clients in other processes that
   * wait for schedules and timeouts. @default 'fake'
   */
  readonly clock?: 'fake' | 'system';
  /** Time of the fake clock at the start. @default 2026-01-01T00:00:00Z */
  readonly startTime?: Date;
  /** Operators that run in the sandbox. @default none */
  readonly definitions?: Definitions;
  /** Whether controllers and Pods are simulated. Otherwise it is only an API server. @default true */
  readonly controllers?: boolean;
  /** The same seed gives the same names and UIDs. @default 1 */
  readonly seed?: number;
}

/** A request to the API server. */
export interface SandboxRequest {
  /** @default 'GET' */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query: `/api/v1/namespaces/default/pods?limit=1`. */
  readonly path: string;
  /** An object is sent as JSON, a text as it is. @default no body */
  readonly body?: unknown;
  /** @default JSON; for PATCH `application/merge-patch+json` */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The response of the API server. */
export interface SandboxResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The parsed JSON, or a text. */
  readonly body: unknown;
}

/** An event of a watch. */
export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: KubeObject;
}

/** The `signal` of an `AbortController`, written out so that the types need no others. */
export interface StopSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** Options of {@link Sandbox.listen}. */
export interface ListenOptions {
  /** @default 0: any free port */
  readonly port?: number;
  /** File for the kubeconfig, written with mode 0600. @default undefined: no file */
  readonly writeKubeconfig?: string;
}

/** A sandbox that serves HTTP on 127.0.0.1. */
export interface SandboxListener {
  /** `http://127.0.0.1:PORT/SECRET`. The secret path grants full access. */
  readonly url: string;
  /** A kubeconfig for kubectl and all clients. */
  readonly kubeconfig: string;
  /** Closes all connections, and removes the file of the kubeconfig. */
  close(): Promise<void>;
}

/** A Kubernetes API server in this process. Requests are answered without a network, and time passes only when you say so. */
export interface Sandbox {
  /** Time of the sandbox. */
  readonly now: Date;
  /** Sends a request. A response with an error status is a result, no exception. */
  request(request: SandboxRequest): Promise<SandboxResponse>;
  /**
   * Applies objects by server-side apply, as `kubectl apply --server-side --force-conflicts`. A text is YAML or JSON with one or more
   * objects. Resolves with the stored objects.
   * @throws Error with the message of the server
   */
  apply(objects: KubeObject | readonly KubeObject[] | string): Promise<readonly KubeObject[]>;
  /**
   * Reads an object: `Deployment/web` in the namespace `default` or cluster-scoped, `Deployment/shop/web` in another namespace. Undefined:
   * it does not exist. `T` is not checked: it is the type that you expect.
   * @throws Error if the kind is not served
   */
  get<T = KubeObject>(reference: string): Promise<T | undefined>;
  /** All objects of a kind, in all namespaces: `Pod`. `T` is not checked. @throws Error if the kind is not served */
  list<T = KubeObject>(kind: string): Promise<readonly T[]>;
  /** Deletes an object, see {@link Sandbox.get}. @throws Error with the message of the server */
  delete(reference: string): Promise<void>;
  /** Reads the events of a watch: `watch('/api/v1/pods')`. Ends with `break`, or when the signal aborts. @throws Error if the server rejects it */
  watch(path: string, options?: { readonly signal?: StopSignal }): AsyncIterable<WatchEvent>;
  /** Resolves when controllers and operators have done what they can do without time passing. */
  settle(): Promise<void>;
  /** Lets time pass, in ms; all that is due meanwhile happens in order. Only with the fake clock. @throws Error */
  advance(ms: number): Promise<void>;
  /**
   * Lets time pass until `check` returns a value that is not `undefined` or `false`, and resolves with it.
   * @param options `withinMs`: limit, in ms of the sandbox's clock. Default 5_000
   * @throws Error if the limit is reached
   */
  until<T>(
    check: () => T | Promise<T>,
    options?: { readonly withinMs?: number },
  ): Promise<Exclude<T, undefined | false>>;
  /** Sets what simulated Pods with these labels do, including running ones. */
  setPodOutcome(
    labels: Readonly<Record<string, string>>,
    outcome: 'ready' | 'never-ready' | 'fail',
  ): void;
  /** Serves HTTP for clients of any language. {@link Sandbox.close} ends it, too. @throws Error if the port is in use */
  listen(options?: ListenOptions): Promise<SandboxListener>;
  /** Ends everything: servers, controllers and operators. */
  close(): Promise<void>;
}

/**
 * Reads definitions from files and folders (all files `.yaml`, `.yml` and `.json` directly in them).
 * @throws Error if a path cannot be read
 */
export declare function loadDefinitions(
  ...paths: readonly string[]
): Promise<readonly SourceFile[]>;

/** Checks definitions without a cluster, as `homeostat validate`. Errors of definitions are data; it throws for none. */
export declare function compile(definitions: Definitions): Promise<CompileResult>;

/**
 * Renders what definitions create for a resource, as `homeostat render`: it runs them on a sandbox. The resource is an object, or a text
 * with one object.
 * @throws Error if the text is not one object
 */
export declare function render(
  definitions: Definitions,
  resource: KubeObject | string,
  options?: RenderOptions,
): Promise<RenderResult>;

/**
 * Runs documents of kind `OperatorTest`, as `homeostat test`: those in files and folders, or those of given texts. Paths in a text are
 * relative to the folder of its `file`.
 * @throws Error if a path cannot be read
 */
export declare function runTests(
  tests: string | readonly (string | SourceFile)[],
  options?: RunTestsOptions,
): Promise<TestRun>;

/** Creates a sandbox. @throws Error if definitions have errors, with their positions in the message */
export declare function createSandbox(options?: SandboxOptions): Promise<Sandbox>;
