import type { EventRecorder, Informer, Watcher } from '../../kube/roles.ts';
import type { Logger } from '../../telemetry/roles.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { whyPassedOver } from '../sources/passed-over.ts';
import type { DefinitionOrigin, RefusedText } from '../wanted-definition.ts';
import { refusalText } from './definition-conditions.ts';
import { definitionsLabel } from './names.ts';
import type { StatusEvent } from './status-events.ts';

export interface ConfigMapEventsOptions {
  readonly cluster: Watcher & { readonly events: EventRecorder };
  readonly namespace: string;
  readonly logger: Logger;
}

const configMapGvk = { group: '', version: 'v1', kind: 'ConfigMap' };

/** Events on the ConfigMaps in which definitions stand: for those who edit them and look nowhere else. */
export class ConfigMapEvents {
  readonly #events: EventRecorder;
  readonly #logger: Logger;
  readonly #configMaps: Informer;
  /** What was told of texts without a name, by where they stand. */
  #told: ReadonlyMap<string, ReadonlySet<string>> = new Map();
  /** What was told of each ConfigMap that is not read as a whole. */
  readonly #passedOver = new Map<string, string>();

  constructor({ cluster, namespace, logger }: ConfigMapEventsOptions) {
    this.#events = cluster.events;
    this.#logger = logger;
    // The same as the source's own: it is one watch.
    const labelSelector = `${definitionsLabel}=true`;
    this.#configMaps = cluster.acquire({ gvk: configMapGvk, namespace, labelSelector });
  }

  /** Tells an Event of a definition on the ConfigMap that holds it, if one does and is there. */
  tell(definition: string, origin: DefinitionOrigin, event: StatusEvent): void {
    const place = placeOf(origin);
    const regarding = place && this.#find(place.namespace, place.name);
    if (place === undefined || regarding === undefined) return;
    const note = `${place.key}, definition ${definition}: ${event.note}`;
    this.#events.record({ ...event, regarding, note, definition });
  }

  /** Tells what is refused and has no object: once, until it changes. */
  tellNameless(texts: readonly RefusedText[]): void {
    const told = new Map<string, Set<string>>();
    for (const text of texts) {
      const { origin, name, refusal } = text;
      const key = keyOf(text);
      const note = refusalText(refusal);
      const place = placeOf(origin);
      const regarding = place && this.#find(place.namespace, place.name);
      if (regarding === undefined) continue;
      // Two documents without a name in one text have the same place.
      const notes = told.get(key) ?? new Set();
      told.set(key, notes.add(note));
      if (this.#told.get(key)?.has(note)) continue;
      const event = { type: 'Warning', reason: 'Refused', action: 'Load', note } as const;
      this.#events.record({ ...event, regarding, definition: name ?? 'homeostat' });
    }
    this.#told = told;
  }

  /** Tells from now on what of the ConfigMaps is not read, whoever has meant it so: once, until it changes. */
  tellPassedOver(): void {
    this.#configMaps.subscribe(({ name, current }) => this.#notePassedOver(name, current?.object));
  }

  #notePassedOver(name: string, regarding: KubeObject | undefined): void {
    const note = regarding && whyPassedOver(regarding);
    const before = this.#passedOver.get(name);
    if (regarding === undefined || note === undefined) this.#passedOver.delete(name);
    else this.#passedOver.set(name, note);
    if (regarding === undefined || note === undefined || note === before) return;
    const configMap = `${regarding.metadata.namespace}/${name}`;
    this.#logger.info({ configMap, reason: note }, 'ConfigMap is not read as a whole');
    const event = { type: 'Normal', reason: 'Ignored', action: 'Load', note } as const;
    this.#events.record({ ...event, regarding, definition: 'homeostat' });
  }

  stop(): void {
    this.#configMaps.release();
  }

  #find(namespace: string, name: string): KubeObject | undefined {
    return this.#configMaps.get(namespace, name)?.object;
  }
}

function keyOf({ origin: { source, ref }, name }: RefusedText): string {
  return JSON.stringify([source, ref, name]);
}

/** Of a text in a ConfigMap. */
export interface Place {
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
}

/** The parts of `namespace/name/key`; undefined for a text that stands elsewhere. */
export function placeOf({ source, ref }: DefinitionOrigin): Place | undefined {
  const [namespace, name, key] = ref.split('/');
  if (source !== 'configmap' || namespace === undefined || name === undefined) return undefined;
  return { namespace, name, key: key ?? '' };
}
