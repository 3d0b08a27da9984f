import { Controller } from '../controller/index.ts';
import type { OperatorDefinition, ServedKind } from '../definition/index.ts';
import type { Informer } from '../kube/roles.ts';
import {
  childKindsAnnotation,
  createFinisher,
  definitionLabel,
  hasLeftFinalizers,
  parseKinds,
  whenNoFinalizersLeft,
} from '../reconcile/index.ts';
import { failureFields } from '../util/failure-fields.ts';
import { type GroupKind, gvkKey } from '../util/gvk.ts';
import type { KubeObject } from '../util/kube-object.ts';
import { firstOf, isEstablished, storedKind } from './crd/index.ts';
import { crdsOnRecord, type RecordedDefinition } from './definitions-on-record.ts';
import { forController, forOperator, type SharedOptions } from './runner-options.ts';

export interface DefinitionFinisherOptions
  extends Pick<SharedOptions, 'cluster' | 'clock' | 'random' | 'logger' | 'metrics' | 'graceMs'> {
  /** What is known of the definition that is broken, or on record of one that is gone. Of a kind that it brings the CRD tells, as the server has it. */
  readonly definition: OperatorDefinition | RecordedDefinition;
  /** Called when nothing is left that could wait for it. @default nobody is told */
  readonly onDone?: () => void;
  /** The definition is there, and broken: its CRD may come back, and is waited for. @default false: where there is none, nothing waits */
  readonly isBroken?: boolean;
  /** Another kind has the definition's name by now, and runs: what is left in this kind, and nothing else. @default false */
  readonly isOfBefore?: boolean;
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
 * Makes and changes nothing else. Runs until it is stopped, the signal aborts or nothing can be left. Never beside the operator of the same definition.
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
  const { clock, logger, definition, isOfBefore = false, onDone } = options;
  const { name, kind } = definition;
  while (!signal.aborted) {
    try {
      if (!isOfBefore && (!isWhole(definition) || kind.source === 'crd')) {
        await finishCrds(options, signal);
        return;
      } else if (await finishLeft(options, signal)) {
        onDone?.();
        return;
      }
    } catch (error) {
      if (signal.aborted) return;
      logger.warn({ definition: name, ...failureFields(error) }, 'Deletions wait, will retry');
    }
    await clock.sleep(retry.afterFailureMs, signal).catch(() => {});
  }
}

/**
 * Works on the kind while something of it has our finalizer: nobody puts a new one on. A kind of others is not watched for a definition
 * that has left nothing in it. True: nothing is left.
 */
async function finishLeft(
  options: DefinitionFinisherOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const { cluster, definition } = options;
  const { name, kind } = definition;
  const about = { name, kind, watcher: cluster };
  if (!(await hasLeftFinalizers(about, signal))) return true;
  const ending = new AbortController();
  const end = AbortSignal.any([signal, ending.signal]);
  const done = whenNoFinalizersLeft(about, end).then(
    () => {
      ending.abort(new Error('Nothing is left'));
      return true;
    },
    () => false,
  );
  try {
    await finishKind(options, { kind }, end);
  } catch (error) {
    if (!ending.signal.aborted) throw error;
  } finally {
    ending.abort(new Error('It has ended'));
  }
  return done;
}

/**
 * Works on the kind of the CRD that carries the definition's name, whatever its text says by now, until none does: the watch is one for
 * all definitions.
 */
async function finishCrds(options: DefinitionFinisherOptions, signal: AbortSignal): Promise<void> {
  const { cluster, definition, isBroken = false } = options;
  const crds = cluster.acquire(crdsOnRecord);
  const ours = () => carriersOf(crds, definition.name);
  try {
    // Before the list is there nothing counts as absent.
    await crds.whenSynced(signal);
    while (!signal.aborted) {
      const next = await firstOf(crds, signal, () => {
        const [crd] = ours().filter(isEstablished);
        const kind = crd && storedKind(crd);
        const isOver = !isBroken && ours().length === 0;
        return kind !== undefined || isOver ? { kind, crd } : undefined;
      });
      if (next.kind === undefined) return;
      const recordedKinds = parseKinds(next.crd?.metadata.annotations?.[childKindsAnnotation]);
      await finishWhileServed(options, { crds, kind: next.kind, recordedKinds }, signal);
    }
  } finally {
    crds.release();
  }
}

async function finishWhileServed(
  options: DefinitionFinisherOptions,
  { crds, kind, recordedKinds }: Finishable & { readonly crds: Informer },
  signal: AbortSignal,
): Promise<void> {
  const ending = new AbortController();
  const unsubscribe = crds.subscribe(() => {
    const kinds = kindsOf(carriersOf(crds, options.definition.name));
    if (!kinds.some(({ gvk }) => gvkKey(gvk) === gvkKey(kind.gvk))) ending.abort();
  });
  try {
    await finishKind(options, { kind, recordedKinds }, AbortSignal.any([signal, ending.signal]));
  } catch (error) {
    if (!ending.signal.aborted) throw error;
  } finally {
    unsubscribe();
  }
}

/** What deletions are brought to an end in. */
interface Finishable {
  readonly kind: ServedKind;
  /** Kinds of children on record. @default undefined: none is kept of a kind of others */
  readonly recordedKinds?: readonly GroupKind[] | undefined;
}

async function finishKind(
  options: DefinitionFinisherOptions,
  { kind, recordedKinds }: Finishable,
  signal: AbortSignal,
): Promise<void> {
  const { definition } = options;
  const { name } = definition;
  const namespaces = isWhole(definition) ? definition.controller.namespaces : undefined;
  const operator = createFinisher({
    name,
    kind,
    recordedKinds,
    ...(namespaces && { namespaces }),
    // Nothing in the cluster says whether another process has the definition that is only on record.
    isQuiet: !isWhole(definition),
    ...forOperator(options),
    enqueue: (key, priority) => controller.enqueue(key, priority),
  });
  const controller = new Controller({
    ...forController(options, name),
    reconciler: operator,
    concurrency,
    baseDelayMs: retry.initialMs,
    maxDelayMs: retry.maxMs,
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

/** The CRDs that carry the definition's name. */
function carriersOf(crds: Informer, name: string): readonly KubeObject[] {
  return Array.from(crds.list(), ({ object }) => object).filter(
    ({ metadata }) => metadata.labels?.[definitionLabel] === name,
  );
}

function kindsOf(crds: readonly KubeObject[]): readonly ServedKind[] {
  return crds.filter(isEstablished).flatMap((crd) => storedKind(crd) ?? []);
}
