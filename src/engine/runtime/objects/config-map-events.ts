import type { EventRecorder, Informer, Watcher } from '#kube/roles.ts';
import type { Logger } from '#telemetry/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { configMapKeyOf, type DefinitionOrigin } from '../desired-definition.ts';
import { acquireConfigMaps } from '../sources/configmap-source.ts';
import { ignoredReason } from '../sources/definition-names.ts';
import type { StatusEvent } from '../view-part.ts';

/** An error of a manifest that no object shows. */
interface ManifestError {
  readonly origin: DefinitionOrigin;
  /** Definition name as written. @default undefined: unknown */
  readonly name?: string;
  readonly note: string;
}

interface ConfigMapEventsOptions {
  readonly cluster: Watcher & { readonly events: EventRecorder };
  readonly namespace: string;
  readonly logger: Logger;
}

/** Records Events on ConfigMaps with definitions, for authors who look only there. */
export class ConfigMapEvents {
  readonly #events: EventRecorder;
  readonly #logger: Logger;
  readonly #configMaps: Informer;
  /** Recorded errors, by origin and name. */
  #recordedErrors: ReadonlyMap<string, ReadonlySet<string>> = new Map();
  /** Recorded notes about ignored keys, by ConfigMap. */
  readonly #recordedIgnored = new Map<string, string>();

  constructor({ cluster, namespace, logger }: ConfigMapEventsOptions) {
    this.#events = cluster.events;
    this.#logger = logger;
    // The same watch as the source's.
    this.#configMaps = acquireConfigMaps(cluster, namespace);
    this.#configMaps.subscribe(({ name, current }) => this.#recordIgnored(name, current?.object));
  }

  /** Records an Event of a definition on its ConfigMap, if there is one. */
  recordEvent(definition: string, origin: DefinitionOrigin, event: StatusEvent): void {
    const place = configMapKeyOf(origin);
    const regarding = place && this.#find(place.namespace, place.name);
    if (place === undefined || regarding === undefined) return;
    const note = `${place.key}, definition ${definition}: ${event.note}`;
    this.#events.record({ ...event, regarding, note, definition });
  }

  /** Records errors that no object shows, once until they change. */
  recordErrors(errors: readonly ManifestError[]): void {
    const recorded = new Map<string, Set<string>>();
    for (const { origin, name, note } of errors) {
      const key = JSON.stringify([origin.source, origin.ref, name]);
      const place = configMapKeyOf(origin);
      const regarding = place && this.#find(place.namespace, place.name);
      if (regarding === undefined) continue;
      // Documents without a name share one key.
      const notes = recorded.get(key) ?? new Set();
      recorded.set(key, notes.add(note));
      if (this.#recordedErrors.get(key)?.has(note)) continue;
      const event = { type: 'Warning', reason: 'Rejected', action: 'Load', note } as const;
      this.#events.record({ ...event, regarding, definition: name ?? 'homeostat' });
    }
    this.#recordedErrors = recorded;
  }

  /** Records ignored keys of a ConfigMap, once until they change. */
  #recordIgnored(name: string, regarding: KubeObject | undefined): void {
    const note = regarding && ignoredReason(regarding);
    const before = this.#recordedIgnored.get(name);
    if (regarding === undefined || note === undefined) this.#recordedIgnored.delete(name);
    else this.#recordedIgnored.set(name, note);
    if (regarding === undefined || note === undefined || note === before) return;
    const configMap = `${regarding.metadata.namespace}/${name}`;
    this.#logger.info({ configMap, reason: note }, 'Part of a ConfigMap is ignored');
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
