import { isFinalizing } from '../compile/index.ts';
import { Controller } from '../controller/index.ts';
import type { OperatorDefinition, ServedKind } from '../definition/index.ts';
import type { Informer } from '../kube/roles.ts';
import { createFinisher, definitionLabel, hasLeftFinalizers } from '../reconcile/index.ts';
import type { Logger, MetricRegistry } from '../telemetry/roles.ts';
import type { Clock } from '../util/clock.ts';
import { failureFields } from '../util/failure-fields.ts';
import { gvkKey } from '../util/gvk.ts';
import type { KubeObject } from '../util/kube-object.ts';
import type { Random } from '../util/random.ts';
import type { RecordedDefinition } from './definitions-on-record.ts';
import type { RuntimeCluster } from './runtime-cluster.ts';
import { crdGvk, storedKind } from './stored-kind.ts';

export interface DefinitionFinisherOptions {
  /** What is known of the definition that is broken, or on record of one that is gone. Of a kind that it brings the CRD tells, as the server has it. */
  readonly definition: OperatorDefinition | RecordedDefinition;
  readonly cluster: RuntimeCluster;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  /** How long running passes may go on after the signal, in ms. @default 20_000 */
  readonly graceMs?: number;
}

/** Resources that are being deleted and worked on at once. */
const concurrency = 4;
const retry = { initialMs: 5, maxMs: 300_000, afterFailureMs: 30_000 };

/** Brings deletions of one definition to their end. */
export interface Finisher {
  /** Resolves when its last pass has ended. Never rejects. */
  readonly ended: Promise<void>;
  /** Resolves as {@link Finisher.ended} does. */
  stop(): Promise<void>;
}

/**
 * Brings to an end what is being deleted while its definition is broken or gone, so that resources with our finalizer do not hang.
 * Makes and changes nothing else. Runs until it is stopped or the signal aborts. Never beside the operator of the same definition.
 */
export function startFinisher(options: DefinitionFinisherOptions, signal: AbortSignal): Finisher {
  const stopper = new AbortController();
  const ended = finishDeletions(options, AbortSignal.any([signal, stopper.signal]));
  return {
    ended,
    stop() {
      stopper.abort(new Error('The definition runs again'));
      return ended;
    },
  };
}

async function finishDeletions(
  options: DefinitionFinisherOptions,
  signal: AbortSignal,
): Promise<void> {
  const { clock, logger, definition } = options;
  const { name, kind } = definition;
  while (!signal.aborted) {
    try {
      if (!isWhole(definition) || kind.source === 'crd') await finishCrds(options, signal);
      else if (await hasLeftAnything(definition, options, signal))
        await finishKind(options, kind, signal);
      else return;
    } catch (error) {
      if (signal.aborted) return;
      logger.warn({ definition: name, ...failureFields(error) }, 'Deletions wait, will retry');
    }
    await clock.sleep(retry.afterFailureMs, signal).catch(() => {});
  }
}

/** A kind of others is not watched for a definition that has left nothing in it, also in the time of an earlier text. */
async function hasLeftAnything(
  definition: OperatorDefinition,
  { cluster }: DefinitionFinisherOptions,
  signal: AbortSignal,
): Promise<boolean> {
  return (
    isFinalizing({ definition, scope: undefined }) ||
    (await hasLeftFinalizers({ ...definition, watcher: cluster }, signal))
  );
}

/** Works on the kind of the CRD that carries the definition's name, whatever its text says by now. */
async function finishCrds(options: DefinitionFinisherOptions, signal: AbortSignal): Promise<void> {
  const { cluster, definition } = options;
  const labelSelector = `${definitionLabel}=${definition.name}`;
  const crds = cluster.acquire({ gvk: crdGvk, labelSelector });
  try {
    await crds.whenSynced(signal);
    while (!signal.aborted) {
      const kind = await firstKind(crds, signal);
      const ending = new AbortController();
      const unsubscribe = crds.subscribe(() => {
        if (!kindsOf(crds).some(({ gvk }) => gvkKey(gvk) === gvkKey(kind.gvk))) ending.abort();
      });
      try {
        await finishKind(options, kind, AbortSignal.any([signal, ending.signal]));
      } finally {
        unsubscribe();
      }
    }
  } finally {
    crds.release();
  }
}

async function finishKind(
  options: DefinitionFinisherOptions,
  kind: ServedKind,
  signal: AbortSignal,
): Promise<void> {
  const { definition, cluster, clock, random, metrics, logger, graceMs } = options;
  const { name } = definition;
  const namespaces = isWhole(definition) ? definition.controller.namespaces : undefined;
  const operator = createFinisher({
    name,
    kind,
    ...(namespaces && { namespaces }),
    // Nothing in the cluster says whether another process has the definition that is only on record.
    isQuiet: !isWhole(definition),
    cluster,
    clock,
    random,
    metrics,
    logger,
    enqueue: (key, priority) => controller.enqueue(key, priority),
    hold: (isHeld) => (isHeld ? controller.hold() : controller.release()),
  });
  const controller = new Controller({
    name,
    reconciler: operator,
    clock,
    metrics,
    logger: logger.child({ definition: name }),
    concurrency,
    baseDelayMs: retry.initialMs,
    maxDelayMs: retry.maxMs,
    ...(graceMs === undefined ? {} : { graceMs }),
  });
  try {
    await operator.start(signal);
    await controller.run(signal);
  } finally {
    operator.stop();
  }
}

function isWhole(
  definition: OperatorDefinition | RecordedDefinition,
): definition is OperatorDefinition {
  return 'revision' in definition;
}

function kindsOf(crds: Informer) {
  return Array.from(crds.list(), ({ object }) => object)
    .filter(isEstablished)
    .flatMap((crd) => storedKind(crd) ?? []);
}

/** The kind, as soon as there is one. */
function firstKind(crds: Informer, signal: AbortSignal): Promise<ServedKind> {
  return new Promise((resolve, reject) => {
    const onAbort = () => end(() => reject(signal.reason));
    const look = () => {
      const [kind] = kindsOf(crds);
      if (kind !== undefined) end(() => resolve(kind));
    };
    let unsubscribe = () => {};
    function end(finish: () => void): void {
      signal.removeEventListener('abort', onAbort);
      unsubscribe();
      finish();
    }
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    unsubscribe = crds.subscribe(look);
    // An answer that came while subscribing came before there was anything to end.
    look();
  });
}

function isEstablished({ status }: KubeObject): boolean {
  // The first event of a CRD has a list that is null.
  const { conditions } = (status ?? {}) as { readonly conditions?: readonly Condition[] | null };
  return (conditions ?? []).some(
    (condition) => condition.type === 'Established' && condition.status === 'True',
  );
}

interface Condition {
  readonly type: string;
  readonly status: string;
}
