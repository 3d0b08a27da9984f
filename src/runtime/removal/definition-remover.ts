import type { Logger } from '../../telemetry/roles.ts';
import { backoffMs } from '../../util/backoff.ts';
import { failureFields } from '../../util/failure-fields.ts';
import { apiVersionOf, type Gvk } from '../../util/gvk.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { whenAborted } from '../../util/when-aborted.ts';
import {
  bringsCrd,
  type CrdDefinition,
  crdFlowOf,
  crdGvk,
  formerKindsOf,
  isGoing,
} from '../crd/index.ts';
import type { DefinitionState, DefinitionView } from '../definition-view.ts';
import { definitionCrdName, definitionGvk } from '../objects/index.ts';
import { messageOf } from '../runner/index.ts';
import type { SharedOptions } from '../runner-options.ts';
import type { RemovalTerms, WantedDefinition } from '../wanted-definition.ts';
import { setFinalizer } from './let-go.ts';
import { hasRemovalFinalizer } from './removal-terms.ts';
import { removeCrd } from './remove-crd.ts';
import { runRetiree } from './run-retiree.ts';

export interface DefinitionRemoverOptions extends SharedOptions {
  /** With {@link WantedDefinition.removal}. */
  readonly wanted: WantedDefinition;
}

const retry = { baseDelayMs: 1_000, maxDelayMs: 60_000 };

/**
 * The end of a definition that a user deletes together with what it has made: first the children of its resources, then its CRD, then
 * the object itself is let go. Every step finds what the last one has left, so that another process can go on with it.
 */
export class DefinitionRemover {
  readonly #options: DefinitionRemoverOptions;
  readonly #logger: Logger;
  #wanted: WantedDefinition;
  #news = new AbortController();
  #state: DefinitionState = { kind: 'running' };
  #message = 'It is being removed';
  #left = 0;

  constructor(options: DefinitionRemoverOptions) {
    this.#options = options;
    this.#wanted = options.wanted;
    const { name } = options.wanted.located.definition;
    this.#logger = options.logger.child({ definition: name });
  }

  get view(): DefinitionView {
    const { located, origin } = this.#wanted;
    const { name, revision, kind } = located.definition;
    return {
      name,
      revision,
      apiVersion: apiVersionOf(kind.gvk),
      kind: kind.gvk.kind,
      state: this.#state,
      instances: this.#left,
      leftInPlace: 0,
      queued: 0,
      problems: [],
      removal: this.#message,
      ...(origin && { origin }),
    };
  }

  /** Nothing is counted of what goes. */
  observe(): void {}

  /** What is to go it asks for itself. */
  hold(): void {}

  /** Others may have its CRD as soon as the cluster says so. */
  get crdDecided(): Promise<void> {
    return Promise.resolve();
  }

  update(wanted: WantedDefinition): void {
    const isNews =
      wanted.isPaused !== this.#wanted.isPaused ||
      !isSame(wanted.removal, this.#wanted.removal) ||
      wanted.located.definition.revision !== this.#wanted.located.definition.revision;
    this.#wanted = wanted;
    if (!isNews) return;
    this.#news.abort(new Error('Something else is wanted'));
    this.#news = new AbortController();
  }

  /** Until the signal aborts and all passes have ended. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      const attempt = AbortSignal.any([signal, this.#news.signal]);
      try {
        await this.#remove(attempt);
        // Its object goes, and with it we do.
        await whenAborted(attempt);
        failures = 0;
      } catch (error) {
        if (attempt.aborted) continue;
        this.#fail(error, failures);
        await this.#options.clock.sleep(backoffMs(failures++, retry), attempt).catch(() => {});
      }
    }
  }

  async #remove(signal: AbortSignal): Promise<void> {
    const { cluster } = this.#options;
    const { located, removal, isPaused = false } = this.#wanted;
    const { name } = located.definition;
    if (removal === undefined) return;
    const flow = { name, priority: 'world' } as const;
    const object = (await cluster.get({ gvk: definitionGvk, name }, { flow }, signal))?.object;
    if (object === undefined || !hasRemovalFinalizer(object) || !isGoing(object)) return;
    if (isPaused) return this.#tell('Paused: annotation homeostat.dev/paused is on it');
    const definitions = await cluster.get(
      { gvk: crdGvk, name: definitionCrdName },
      { flow },
      signal,
    );
    // Then nobody has asked for this definition to go.
    if (definitions !== undefined && wentWithItsKind(object, definitions.object)) {
      this.#logger.warn({}, 'The kind of definitions is deleted: what they have made stays');
    } else if (await this.#hasLostItsCrd(signal)) {
      this.#logger.info({}, 'CustomResourceDefinition is gone, and all resources with it');
    } else {
      this.#logger.info({ ...removal }, 'Definition is being removed');
      const sinceMs = Date.parse(object.metadata.deletionTimestamp ?? '');
      if (removal.children) await this.#removeChildren(sinceMs, signal);
      if (removal.crd) await this.#removeCrd(removal, sinceMs, signal);
    }
    await setFinalizer(cluster, { object, isWanted: false }, signal);
    this.#tell('Nothing is left of it');
    this.#logger.info({}, 'Definition removed');
  }

  /** Then there is nothing to work on, and nobody to ask for resources. It may have gone by our own doing, a moment before a failure. */
  async #hasLostItsCrd(signal: AbortSignal): Promise<boolean> {
    const { definition } = this.#wanted.located;
    return bringsCrd(definition) && (await this.#crdOf(definition, signal)) === undefined;
  }

  async #crdOf(definition: CrdDefinition, signal: AbortSignal): Promise<KubeObject | undefined> {
    const ref = { gvk: crdGvk, name: definition.kind.crd.metadata.name };
    const flow = crdFlowOf(definition);
    return (await this.#options.cluster.get(ref, { flow }, signal))?.object;
  }

  async #removeChildren(sinceMs: number, signal: AbortSignal): Promise<void> {
    this.#tell('The children of its resources are looked for');
    const isOver = new AbortController();
    const onLeft = (left: number) => {
      this.#noteLeft(left, 'with children that are to go');
      if (left === 0) isOver.abort(new Error('All are gone'));
    };
    await this.#work(
      { removesChildren: true, sinceMs, onLeft },
      AbortSignal.any([signal, isOver.signal]),
    ).catch((error: unknown) => {
      if (!isOver.signal.aborted) throw error;
    });
    signal.throwIfAborted();
    this.#logger.info({}, 'Children removed');
  }

  async #removeCrd(
    { children }: RemovalTerms,
    sinceMs: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { cluster } = this.#options;
    const { definition } = this.#wanted.located;
    if (!bringsCrd(definition)) return;
    this.#tell('Its CustomResourceDefinition is to go');
    const onLeft = (left: number) => this.#noteLeft(left, 'to go with their kind');
    const work = (ending: AbortSignal) =>
      this.#work({ removesChildren: children, sinceMs, onLeft }, ending);
    const result = await removeCrd({ definition, cluster, work }, signal);
    if (result.kind === 'kept')
      this.#logger.warn({ reason: result.reason }, 'CustomResourceDefinition stays');
    else this.#logger.info({}, 'CustomResourceDefinition removed');
  }

  async #work(
    terms: Pick<Parameters<typeof runRetiree>[0], 'removesChildren' | 'sinceMs' | 'onLeft'>,
    signal: AbortSignal,
  ): Promise<void> {
    const { wanted: _, ...shared } = this.#options;
    const { located } = this.#wanted;
    const formerKinds = await this.#formerKinds(signal);
    await runRetiree({ ...shared, located, formerKinds, ...terms }, signal);
  }

  /** Kinds that the definition has had children of in the time of an earlier text. */
  async #formerKinds(signal: AbortSignal): Promise<readonly Gvk[]> {
    const { cluster } = this.#options;
    const { definition } = this.#wanted.located;
    if (!bringsCrd(definition)) return [];
    const live = await this.#crdOf(definition, signal);
    const found: Gvk[] = [];
    for (const kind of formerKindsOf(definition, live)) {
      const type = await cluster.findKind(kind, signal);
      if (type !== undefined) found.push(type.gvk);
    }
    return found;
  }

  #noteLeft(left: number, what: string): void {
    this.#left = left;
    if (left > 0) this.#tell(`${left === 1 ? 'One resource' : `${left} resources`} ${what}`);
  }

  #tell(message: string): void {
    if (message === this.#message && this.#state.kind === 'running') return;
    this.#message = message;
    this.#state = { kind: 'running' };
    this.#options.bell.ring();
  }

  #fail(error: unknown, failures: number): void {
    this.#message = `It cannot be removed: ${messageOf(error)}`;
    this.#state = { kind: 'failing', message: this.#message };
    this.#options.bell.ring();
    this.#logger[failures === 0 ? 'warn' : 'debug'](
      failureFields(error),
      'Definition cannot be removed, will retry',
    );
  }
}

/**
 * Is the kind being deleted, or was it and is there anew? What a server deletes with a kind stays in its store as long as a finalizer is on
 * it, and is to be seen again under a kind that comes later. Both times are of the server's clock, in whole seconds.
 */
function wentWithItsKind(object: KubeObject, crd: KubeObject): boolean {
  const { deletionTimestamp = '' } = object.metadata;
  const { creationTimestamp = '' } = crd.metadata;
  return isGoing(crd) || Date.parse(deletionTimestamp) <= Date.parse(creationTimestamp);
}

function isSame(a: RemovalTerms | undefined, b: RemovalTerms | undefined): boolean {
  return a?.children === b?.children && a?.crd === b?.crd;
}
