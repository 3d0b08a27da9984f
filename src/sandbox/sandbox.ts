import type { Clock } from '../util/clock.ts';
import type { Json } from '../util/json.ts';
import type { Random } from '../util/random.ts';
import { handleRequest } from './api/index.ts';
import { bootstrap } from './bootstrap.ts';
import {
  ControllerWorld,
  GarbageCollector,
  NamespaceController,
  WorkloadControllers,
} from './controllers/index.ts';
import { CrdController, crdRules } from './crd/index.ts';
import { type Descriptions, OpenApiDocuments } from './discovery/index.ts';
import {
  type BuiltinSchemas,
  builtinKinds,
  KindRegistry,
  objectMetaComponent,
} from './kinds/index.ts';
import { ProtobufReader } from './protobuf/index.ts';
import type { ApiAnswer, ApiRequest } from './request/index.ts';
import type { RestContext } from './rest/index.ts';
import { GoTypeBuilder } from './schema/index.ts';
import { ObjectStore, readWorld } from './store/index.ts';

export interface SandboxOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** The documents of the built-in kinds, from a real server. */
  readonly schemas: BuiltinSchemas;
  /** The Kubernetes version that it claims to be: `v1.36.3`. */
  readonly kubernetesVersion: string;
  /** What the server says of these kinds. Asked for when somebody wants an OpenAPI document with descriptions. Without it there are none of built-in kinds. */
  readonly loadDescriptions?: () => Promise<Descriptions>;
  /** Says why a pattern in the schema of a CRD is none for RE2, which servers read patterns with. Without it every pattern is taken. */
  readonly patternProblem?: (pattern: string) => string | undefined;
  /** Reads YAML bodies. Without it only JSON is read, which is what most clients send. */
  readonly parseYaml?: (text: string) => Json;
  /** The path before all paths, as clients see it: `/secret`. @default '' */
  readonly basePath?: string;
  /** Collects garbage, empties namespaces, runs workloads. Without them the sandbox is an API server alone. @default true */
  readonly controllers?: boolean;
  /** Is there a node that runs pods and gives volumes? Otherwise they wait for somebody who writes their status. @default true */
  readonly runsPods?: boolean;
  /** Events kept for watches. @default 10_000 */
  readonly historyLength?: number;
  /** A world to go on with: the text that {@link Sandbox.worldText} gave. @default a new one */
  readonly world?: string;
  /** Told of failures that are our own bugs; the client gets a 500. */
  readonly onFailure: (error: unknown) => void;
}

/** A Kubernetes API server in this process. */
export interface Sandbox {
  /** Answers a request, at once. A stream lasts until its reader returns it or the watch times out. Never throws. */
  handle(request: ApiRequest): ApiAnswer;
  /** Resolves when the simulated controllers have nothing to do right now. */
  settle(): Promise<void>;
  /** All that is there, as text to go on with another time. */
  worldText(): string;
  /** Calls the listener after every change; returns the unsubscribe function. */
  onChange(listener: () => void): () => void;
  /** Ends what the sandbox does by itself. Watches end with their readers. */
  stop(): void;
}

/**
 * Creates a sandbox with the namespaces that every cluster has, and nothing else; or with a world of earlier.
 * @throws Error when `world` is none.
 */
export function createSandbox(options: SandboxOptions): Sandbox {
  const {
    clock,
    schemas,
    onFailure,
    kubernetesVersion,
    loadDescriptions,
    basePath = '',
    controllers = true,
    runsPods = true,
  } = options;
  const rest = createRestContext(options);
  const { components, droppedZeros } = schemas;
  const objectMeta = new GoTypeBuilder(components, droppedZeros).component(objectMetaComponent);
  const world = new ControllerWorld(rest, clock);
  const workloads = new WorkloadControllers(world, { runsPods, onFailure });
  const stops = [new CrdController({ context: rest, components, objectMeta }).start()];
  if (controllers) {
    stops.push(new NamespaceController(world).start(), new GarbageCollector(world).start());
    stops.push(workloads.start());
  }
  bootstrap(rest, { version: kubernetesVersion, hasNode: controllers });
  const openApi = new OpenApiDocuments(components, loadDescriptions);
  const version = versionDocument(kubernetesVersion);
  const protobuf = new ProtobufReader();
  const context = { rest, clock, protobuf, openApi, version, basePath, onFailure };
  return {
    handle: (request) => handleRequest(context, request),
    settle: () => workloads.untilIdle(),
    worldText: () => rest.store.worldText(),
    onChange: (listener) => rest.store.subscribe(() => listener()),
    stop() {
      for (const stop of stops.splice(0)) stop();
    },
  };
}

function createRestContext(options: SandboxOptions): RestContext {
  const { clock, random, schemas, parseYaml, historyLength, world } = options;
  const { patternProblem = () => undefined } = options;
  const later = (seconds: number) => timeText(clock.nowMs() + seconds * 1000);
  const now = eachSecond(clock);
  const storeOptions = {
    // Versions of an earlier run must be too old, not from the future.
    startVersion: clock.nowMs(),
    ...(historyLength === undefined ? {} : { historyLength }),
    ...(world === undefined ? {} : { world: readWorld(world) }),
  };
  return {
    store: new ObjectStore(storeOptions),
    kinds: new KindRegistry(builtinKinds({ schemas, now, more: [crdRules(patternProblem)] })),
    now,
    later,
    newUid: () => newUid(random),
    newSuffix: () => random.text(5, 'bcdfghjklmnpqrstvwxz2456789'),
    parseYaml,
  };
}

/** The time as text, written once a second: each write asks for it several times. */
function eachSecond(clock: Clock): () => string {
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

/** A random uid of version 4. */
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
