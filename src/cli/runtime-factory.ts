import { getHeapStatistics } from 'node:v8';
import {
  createCheckCache,
  createManifestCheck,
  type DefinitionManifest,
  type ManifestCheck,
} from '#check';
import { bundledSchemas } from '#compile';
import { arrangeDiagnostics, type Diagnostic } from '#definition';
import type { KubeCluster } from '#kube';
import {
  ClusterRuntime,
  type ClusterRuntimeOptions,
  type ConnectMember,
  type ConversionTarget,
} from '#runtime';
import { ByteSemaphore } from '#util/byte-semaphore.ts';
import { FairTimeSlicer } from '#util/time-slicer.ts';
import { createSources } from './definition-sources.ts';
import { FindingsReporter } from './findings-reporter.ts';
import { createHttpController, type HttpControllerOptions } from './http-controller.ts';
import type { Output } from './output.ts';
import { printDiagnostics } from './print-diagnostics.ts';
import type { RunOptions } from './run-options.ts';
import { runtimeName, toLabelValue } from './runtime-name.ts';
import type { SourceKind } from './source-flags.ts';

/**
 * The modules that work on definitions. Loaded when needed (`import()`): a process that only waits to become the leader
 * needs none of them.
 */

/** Result of the first check of the manifests. */
export interface InitialCheck {
  /** Numbers of definitions without and with errors. */
  readonly accepted: number;
  readonly rejected: number;
  readonly diagnostics: readonly Diagnostic[];
  /** The check, which caches the results of these manifests. */
  readonly check: ManifestCheck;
}

/** Checks manifests and prints their errors. Sends no request: which of two definitions owns a name or a kind depends on the cluster. */
export function checkInitialManifests(
  manifests: readonly DefinitionManifest[],
  output: Output,
): InitialCheck {
  const { fill, take } = createCheckCache(createManifestCheck(bundledSchemas()));
  const checked = manifests.map(fill);
  const documents = checked.flatMap((each) => each.documents);
  const accepted = documents.filter(({ plan }) => plan !== undefined).length;
  const diagnostics = arrangeDiagnostics(checked.flatMap((each) => each.diagnostics));
  printDiagnostics(diagnostics, manifests, output);
  return { accepted, rejected: documents.length - accepted, diagnostics, check: take };
}

interface RuntimeFactoryOptions
  extends Pick<ClusterRuntimeOptions, 'clock' | 'random' | 'logger' | 'metrics' | 'observer'> {
  readonly options: RunOptions;
  readonly output: Output;
  /** The sources of definitions, in the order in which they are read. */
  readonly kinds: readonly SourceKind[];
  /** Manifests that were read at the start: standard input can be read only once. */
  readonly manifests: readonly DefinitionManifest[];
  /** @default nothing was checked */
  readonly initialCheck?: InitialCheck;
  /** Namespace of Homeostat's own objects. */
  readonly namespace: string;
  /** Whether the namespace belongs to this runtime. */
  readonly ownsNamespace: boolean;
  /** Where objects are converted between versions of a kind. @default nowhere */
  readonly conversion?: (cluster: KubeCluster) => ConversionTarget | undefined;
  /** Of objects behind HTTP. */
  readonly http: Pick<
    HttpControllerOptions,
    'allowed' | 'election' | 'environment' | 'isAlwaysServed' | 'server'
  >;
}

/** Creates cluster runtimes, one after another. They share the manifest check and the capacity. */
export function createRuntimeFactory(
  all: RuntimeFactoryOptions,
): (cluster: KubeCluster, connect: ConnectMember) => ClusterRuntime {
  const {
    options,
    output,
    kinds,
    manifests,
    initialCheck: first,
    clock,
    random,
    logger,
    metrics,
  } = all;
  const { namespace, ownsNamespace, observer, http, conversion } = all;
  const { definitions: paths = [], definitionsNamespace = namespace } = options;
  const check = first?.check ?? createManifestCheck(bundledSchemas());
  const reporter = new FindingsReporter({
    logger,
    output,
    printed: first?.diagnostics ?? [],
  });
  const capacity = createCapacity();
  const name = runtimeName({ ...options, namespace, ownsNamespace });
  const gone = options.takeOver === undefined ? name : toLabelValue(options.takeOver);
  const sources = { kinds, paths, manifests, namespace: definitionsNamespace, clock, logger };
  const secrets = { namespace, allowed: options.clusterSecrets ?? [namespace] };
  return (cluster, connect) => {
    const target = conversion?.(cluster);
    return new ClusterRuntime({
      clock,
      random,
      logger,
      metrics,
      cluster,
      check,
      ...capacity,
      ...(observer && { observer }),
      sources: createSources({ ...sources, cluster }),
      definitionsNamespace: kinds.includes('configmaps') ? definitionsNamespace : undefined,
      withdrawalDelays: { stopMs: options.withdrawAfter, deleteMs: 20 * options.withdrawAfter },
      readsObjects: kinds.includes('objects'),
      guardedNamespaces: new Set([namespace, definitionsNamespace]),
      namespace,
      name,
      ...(gone !== name && { takeOverFrom: gone }),
      members: { secrets, connect },
      ownControllers: [
        createHttpController({
          ...{ cluster, clock, random, logger, metrics, namespace, ...http },
          ...{ memory: capacity.memory, timeSlicer: capacity.timeSlicer, runtime: name },
          ...(gone !== name && { takeOverFrom: gone }),
        }),
      ],
      ...(target && { conversion: target }),
      onFindings: (findings) => reporter.report(findings),
    });
  };
}

/** The rest of the heap is for the cache, requests and responses. */
const shareOfHeap = 1 / 4;

/** Resources that all definitions of a process share: the thread, and the memory of all reconciles. */
export function createCapacity() {
  return {
    timeSlicer: new FairTimeSlicer({ defer: (callback) => void setImmediate(callback), workedMs }),
    memory: new ByteSemaphore(getHeapStatistics().heap_size_limit * shareOfHeap),
  };
}

/** CPU time of this thread in ms, or of the process where Node does not report it by thread. */
function workedMs(): number {
  const { user, system } = process.threadCpuUsage?.() ?? process.cpuUsage();
  return (user + system) / 1_000;
}
