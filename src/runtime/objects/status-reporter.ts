import { type EventRecorder, KubeError, type Writer } from '../../kube/roles.ts';
import type { Clock } from '../../util/clock.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import { isJsonObject, type JsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { DefinitionView } from '../definition-view.ts';
import type { ConfigMapEvents } from './config-map-events.ts';
import { factsOf } from './definition-facts.ts';
import { flowOf, passOf } from './definition-flow.ts';
import {
  type DefinitionStatus,
  differsInCountsOnly,
  liveStatus,
  saysAlready,
  statusOf,
} from './definition-status.ts';
import { eventsBetween } from './status-events.ts';
import { documentsOf, type ToldDefinition } from './told-definitions.ts';
import { WritePace } from './write-pace.ts';

/** The field manager of the status of definitions. */
const statusManager = 'homeostat/operatordefinitions.status';

/** Counts, for which nobody waits, are written at most so often. */
const countsMs = 1_000;

export interface StatusReporterOptions {
  readonly cluster: Writer & { readonly events: EventRecorder };
  readonly clock: Clock;
  /** @default undefined: definitions stand in no ConfigMap */
  readonly configMaps: ConfigMapEvents | undefined;
}

export interface Report {
  readonly told: ToldDefinition;
  readonly views: ReadonlyMap<string, DefinitionView>;
  /** Undefined: there are no objects; what changes is told all the same. */
  readonly object: KubeObject | undefined;
}

/** Writes the status of definitions, and tells Events of what has changed in it. */
export class StatusReporter {
  readonly #options: StatusReporterOptions;
  readonly #pace: WritePace;
  /** What was said last of a definition without an object. */
  readonly #said = new Map<string, DefinitionStatus>();

  constructor(options: StatusReporterOptions) {
    this.#options = options;
    this.#pace = new WritePace(options.clock, { burst: 5, refillMs: 1_000 });
  }

  /** @returns how long the report has to wait, in ms; 0: it is made. @throws KubeError */
  async report({ told, views, object }: Report, signal: AbortSignal): Promise<number> {
    const { name } = told;
    const subject = object ?? nobody(name, this.#said.get(name));
    const wanted = statusOf({
      facts: factsOf(told, views, object),
      object: subject,
      generation: generationOf(told, object),
      now: new Date(this.#options.clock.nowMs()).toISOString(),
    });
    if (saysAlready(subject, wanted)) return 0;
    if (object !== undefined) {
      const delayMs = this.#pace.delayOf(name, differsInCountsOnly(object, wanted) ? countsMs : 0);
      if (delayMs > 0) return delayMs;
      this.#pace.written(name);
      await this.#write(object, wanted, signal);
    }
    this.#tell({ told, object, before: liveStatus(subject), wanted });
    this.#said.set(name, wanted);
    return 0;
  }

  forget(name: string): void {
    this.#pace.forget(name);
    this.#said.delete(name);
  }

  async #write(object: KubeObject, status: DefinitionStatus, signal: AbortSignal): Promise<void> {
    const { apiVersion, kind, metadata } = object;
    const { name, uid = '' } = metadata;
    try {
      await this.#options.cluster.apply(
        { apiVersion, kind, metadata: { name, uid }, status },
        {
          fieldManager: statusManager,
          force: true,
          subresource: 'status',
          flow: flowOf(name),
          pass: passOf(name),
        },
        signal,
      );
    } catch (error) {
      const isGone =
        error instanceof KubeError && (error.code === 'not-found' || error.code === 'uid-mismatch');
      if (!isGone) throw error;
    }
  }

  #tell({
    told: { name, origin },
    object,
    before,
    wanted,
  }: {
    readonly told: ToldDefinition;
    readonly object: KubeObject | undefined;
    readonly before: JsonObject;
    readonly wanted: DefinitionStatus;
  }): void {
    const { cluster, configMaps } = this.#options;
    for (const event of eventsBetween(before, wanted)) {
      configMaps?.tell(name, origin, event);
      if (object !== undefined)
        cluster.events.record({ ...event, regarding: object, definition: name });
    }
  }
}

/** Stands for the object that there is none of. */
function nobody(name: string, status: DefinitionStatus | undefined): KubeObject {
  return { apiVersion: '', kind: '', metadata: { name }, ...(status && { status }) };
}

/** Of the object, if it holds the newest text that was looked at. */
function generationOf(told: ToldDefinition, object: KubeObject | undefined): number | undefined {
  if (object === undefined) return undefined;
  const { generation } = object.metadata;
  const [newest] = documentsOf(told);
  // A mirror was made of it just now.
  if (told.origin.source !== 'object' || newest === undefined) return generation;
  return isJsonObject(newest) && deepEqual(newest.spec, object.spec) ? generation : undefined;
}
