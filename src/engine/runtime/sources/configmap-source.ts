import type { Informer, InformerState, Watcher } from '#kube/roles.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { definitionsLabel } from '#util/stored-names.ts';
import { whenAborted } from '#util/when-aborted.ts';
import { isChildOfResource, isDefinitionFile } from './definition-names.ts';
import type { DefinitionSource, SourceListener, SourceManifest } from './definition-source.ts';

interface ConfigMapSourceOptions {
  readonly cluster: Watcher;
  readonly namespace: string;
}

const configMapGvk = { group: '', version: 'v1', kind: 'ConfigMap' };

/** Reads keys that end in `.yaml`, `.yml` or `.json` from ConfigMaps of a namespace with the label `homeostat.dev/definitions: "true"`. */
export function createConfigMapSource(options: ConfigMapSourceOptions): DefinitionSource {
  const { namespace } = options;
  return {
    name: `ConfigMaps in ${namespace}`,
    covers: ({ source, ref }) => source === 'configmap' && ref.startsWith(`${namespace}/`),
    run: (listener, signal) => follow(options, listener, signal),
  };
}

async function follow(
  { cluster, namespace }: ConfigMapSourceOptions,
  listener: SourceListener,
  signal: AbortSignal,
): Promise<void> {
  const informer = acquireConfigMaps(cluster, namespace);
  /** Whether a list has completed. */
  let isListed = false;
  let isScheduled = false;
  let hasError = false;
  // A list causes many changes at once: report them together.
  const reportSoon = () => {
    if (!isListed || isScheduled) return;
    isScheduled = true;
    queueMicrotask(() => {
      isScheduled = false;
      const manifests = Iterator.from(informer.list()).flatMap(({ object }) =>
        manifestsInConfigMap(object),
      );
      if (!signal.aborted) listener.onManifests(manifests.toArray());
    });
  };
  const note = (state: InformerState) => {
    isListed ||= state.kind === 'synced';
    if (state.kind === 'failing') listener.onError(state.error.message);
    else if (hasError) listener.onError(undefined);
    hasError = state.kind === 'failing';
    reportSoon();
  };
  const stops = [informer.onState(note), informer.subscribe(reportSoon)];
  note(informer.state);
  await whenAborted(signal);
  for (const stop of stops) stop();
  informer.release();
}

/** Lists and watches the ConfigMaps with definitions in a namespace. */
export function acquireConfigMaps(cluster: Watcher, namespace: string): Informer {
  const labelSelector = `${definitionsLabel}=true`;
  return cluster.acquire({ gvk: configMapGvk, namespace, labelSelector });
}

/** Sorted by key. */
export function manifestsInConfigMap(configMap: KubeObject): readonly SourceManifest[] {
  const { metadata, data, binaryData } = configMap;
  if (isChildOfResource(configMap)) return [];
  const written = Object.entries(fieldsOf(data)).flatMap(([key, text]) =>
    typeof text === 'string' ? [{ key, text }] : [],
  );
  const binary = Object.keys(fieldsOf(binaryData)).map((key) => ({
    key,
    text: '',
    unreadable: 'it is in binaryData, not UTF-8 text',
  }));
  return [...written, ...binary]
    .filter(({ key }) => isDefinitionFile(key))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ key, ...text }) => {
      const ref = `${metadata.namespace}/${metadata.name}/${key}`;
      return {
        file: `configmap ${ref}`,
        origin: { source: 'configmap', ref },
        sinceMs: sinceMsOf(configMap),
        ...text,
      };
    });
}

function fieldsOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** Creation time of the object, in ms since the epoch; a far future time if unknown. */
function sinceMsOf({ metadata }: KubeObject): number {
  const ms = Date.parse(metadata.creationTimestamp ?? '');
  return Number.isNaN(ms) ? Number.MAX_SAFE_INTEGER : ms;
}
