import type { Clock } from '#util/clock.ts';
import type { Json, JsonObject } from '#util/json.ts';
import type { Random } from '#util/random.ts';
import { type CreateVerdict, handleRequest, judgeCreate } from './api/handler.ts';
import { bootstrap } from './bootstrap.ts';
import { createPolicyCompiler } from './cel/policy-cel.ts';
import { ControllerClient } from './controllers/controller-client.ts';
import { GarbageCollector } from './controllers/garbage-collector.ts';
import { NamespaceController } from './controllers/namespace-controller.ts';
import type { PodOutcome } from './controllers/pod-simulator.ts';
import { PolicyStatusController } from './controllers/policy-status.ts';
import { WorkloadControllers } from './controllers/workload-controllers.ts';
import { CrdController } from './crd/crd-controller.ts';
import { crdNames, crdRules } from './crd/crd-rules.ts';
import { type Descriptions, OpenApiDocuments } from './discovery/openapi.ts';
import { admissionPolicyNames, admissionPolicyRules } from './kinds/admission-policy-kinds.ts';
import { type BuiltinSchemas, builtinKinds, modelledNames } from './kinds/builtin-kinds.ts';
import { objectMetaComponent } from './kinds/custom-openapi.ts';
import { KindRegistry } from './kinds/kind-registry.ts';
import { sandboxUser } from './kinds/review-kinds.ts';
import type { ResourceNames } from './kinds/served-kind.ts';
import { PolicyAdmission } from './policies/policy-admission.ts';
import { ProtobufReader } from './protobuf/read-protobuf.ts';
import type { ApiAnswer, ApiRequest } from './request/write-options.ts';
import type { RestContext } from './rest/rest-context.ts';
import { GoTypeBuilder } from './schema/go-type-builder.ts';
import { ObjectStore } from './store/object-store.ts';
import { readSnapshot } from './store/stored-object.ts';

export interface SandboxOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** The documents of the built-in kinds, from a real server. */
  readonly schemas: BuiltinSchemas;
  /** The Kubernetes version that the sandbox reports: `v1.36.3`. */
  readonly kubernetesVersion: string;
  /**
   * Loads the server's descriptions of the built-in kinds, for OpenAPI documents with descriptions. @default no descriptions of
   * built-in kinds
   */
  readonly loadDescriptions?: () => Promise<Descriptions>;
  /** Explains why a pattern in the schema of a CRD is invalid in RE2, which servers use. @default all patterns are accepted */
  readonly patternProblem?: (pattern: string) => string | undefined;
  /** Parses YAML bodies. @default only JSON is accepted, which most clients send */
  readonly parseYaml?: (text: string) => Json;
  /** Prints YAML texts that conversions between versions of a kind make. @default JSON, which is YAML */
  readonly printYaml?: (value: unknown) => string;
  /** The prefix of all paths, as clients see it: `/secret`. @default '' */
  readonly basePath?: string;
  /**
   * Runs the garbage collector, the namespace controller and the workload controllers. Without them the sandbox is only an API
   * server. @default true
   */
  readonly controllers?: boolean;
  /** Simulates a node that runs pods and provides volumes. Otherwise pods stay pending until a client writes their status. @default true */
  readonly runsPods?: boolean;
  /** Do the controllers record Events? @default true */
  readonly hasEvents?: boolean;
  /** The number of events kept for watches. @default 10_000 */
  readonly historyLength?: number;
  /** The initial state: a result of {@link Sandbox.snapshot}. @default a new cluster */
  readonly snapshot?: string;
  /** Called with errors that are bugs of the sandbox; the client gets a 500. */
  readonly onInternalError: (error: unknown) => void;
}

/** A Kubernetes API server in this process. */
export interface Sandbox {
  /** Answers a request synchronously. A stream lasts until its reader calls `return` or the watch times out. Never throws. */
  handle(request: ApiRequest): ApiAnswer;
  /**
   * Answers like a strict dry run of a POST to the collection of this path, without texts and field owners: for an object that is nested
   * at most 1,000 deep, and is not changed afterwards.
   */
  judgeCreate(path: string, object: JsonObject): CreateVerdict;
  /** Resolves when the simulated controllers have nothing to do right now. */
  settle(): Promise<void>;
  /** Sets the outcome of the simulated pods with these labels, including running ones. */
  setPodOutcome(labels: Readonly<Record<string, string>>, outcome: PodOutcome): void;
  /** Lets all conversion webhooks fail, as if no process listened; or answer again. */
  setWebhooksReachable(areReachable: boolean): void;
  /** Returns all objects as text, to restore them with the option `snapshot`. */
  snapshotText(): string;
  /** Calls the listener after every change; returns the unsubscribe function. */
  onChange(listener: () => void): () => void;
  /** Stops the controllers. Watches end when their readers stop. */
  stop(): void;
}

/**
 * Creates a sandbox with only the namespaces that every cluster has, or with the objects of a snapshot.
 * @throws Error when the snapshot is invalid
 */
export function createSandbox(options: SandboxOptions): Sandbox {
  const {
    clock,
    schemas,
    onInternalError,
    kubernetesVersion,
    loadDescriptions,
    basePath = '',
    controllers = true,
    runsPods = true,
    hasEvents = true,
  } = options;
  const internal = createRestContext(options);
  const rest = { ...internal, admission: new PolicyAdmission(internal) };
  const { components, droppedZeros } = schemas;
  const objectMeta = new GoTypeBuilder(components, droppedZeros).component(objectMetaComponent);
  const client = new ControllerClient(internal, { clock, hasEvents, admission: rest.admission });
  const workloads = new WorkloadControllers(client, { runsPods, onInternalError });
  const webhooks = { areReachable: true };
  const stops = [
    new CrdController({
      context: internal,
      components,
      objectMeta,
      webhooks: {
        areReachable: () => webhooks.areReachable,
        yaml: {
          parse: options.parseYaml ?? JSON.parse,
          print: options.printYaml ?? JSON.stringify,
        },
      },
    }).start(),
  ];
  if (controllers) {
    stops.push(new NamespaceController(client).start(), new GarbageCollector(client).start());
    stops.push(new PolicyStatusController(client).start());
    stops.push(workloads.start());
  }
  bootstrap(internal, { version: kubernetesVersion, hasNode: controllers });
  const openApi = new OpenApiDocuments({ components, kubernetesVersion, loadDescriptions });
  const version = versionDocument(kubernetesVersion);
  const protobuf = new ProtobufReader();
  const context = { rest, clock, protobuf, openApi, version, basePath, onInternalError };
  return {
    handle: (request) => handleRequest(context, request),
    judgeCreate: (path, object) => judgeCreate(rest, path, object),
    settle: () => workloads.untilIdle(),
    setPodOutcome: (labels, outcome) => workloads.setPodOutcome(labels, outcome),
    setWebhooksReachable(areReachable) {
      webhooks.areReachable = areReachable;
    },
    snapshotText: () => rest.store.snapshotText(),
    onChange: (listener) => rest.store.subscribe(() => listener()),
    stop() {
      for (const stop of stops.splice(0)) stop();
    },
  };
}

/** The names of the kinds that every sandbox serves, those of the core group first. */
export function builtinNames(): readonly ResourceNames[] {
  const names = [...modelledNames(), crdNames, ...admissionPolicyNames];
  return [
    ...names.filter(({ group }) => group === ''),
    ...names.filter(({ group }) => group !== ''),
  ];
}

function createRestContext(options: SandboxOptions): RestContext {
  const { clock, random, schemas, parseYaml, historyLength, snapshot } = options;
  const { patternProblem = () => undefined } = options;
  const later = (seconds: number) => timeText(clock.nowMs() + seconds * 1000);
  const now = cachedBySecond(clock);
  const storeOptions = {
    // Versions of an earlier run must be expired, not in the future.
    startVersion: clock.nowMs(),
    ...(historyLength === undefined ? {} : { historyLength }),
    ...(snapshot === undefined ? {} : { snapshot: readSnapshot(snapshot) }),
  };
  return {
    store: new ObjectStore(storeOptions),
    kinds: new KindRegistry(
      builtinKinds({
        schemas,
        now,
        more: [crdRules(patternProblem), ...admissionPolicyRules(createPolicyCompiler())],
      }),
    ),
    user: sandboxUser,
    now,
    later,
    newUid: () => newUid(random),
    newSuffix: () => random.text(5, 'bcdfghjklmnpqrstvwxz2456789'),
    parseYaml,
  };
}

/** Formats the time once a second: each write needs it several times. */
function cachedBySecond(clock: Clock): () => string {
  let known = { second: -1, text: '' };
  return () => {
    const second = Math.floor(clock.nowMs() / 1000);
    if (second !== known.second) known = { second, text: timeText(second * 1000) };
    return known.text;
  };
}

/** RFC 3339 with seconds. */
function timeText(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** A random UUID, version 4. */
function newUid(random: Random): string {
  const digits = '0123456789abcdef';
  const hex = random.text(31, digits);
  const variant = '89ab'.charAt(digits.indexOf(hex.charAt(30)) % 4);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(12, 15)}`,
    `${variant}${hex.slice(15, 18)}`,
    hex.slice(18, 30),
  ].join('-');
}

function versionDocument(gitVersion: string) {
  const [, major = '', minor = ''] = /^v(\d+)\.(\d+)/.exec(gitVersion) ?? [];
  return {
    major,
    minor,
    gitVersion: `${gitVersion}+sandbox`,
    platform: 'sandbox',
  };
}
