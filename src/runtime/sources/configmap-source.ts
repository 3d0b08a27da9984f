import type { Watcher } from '../../kube/roles.ts';
import { isJsonObject, type JsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { definitionsLabel } from '../objects/index.ts';
import { sinceMsOf } from './created-ms.ts';
import { isDefinitionFile } from './definition-file.ts';
import type { DefinitionSource, SourceText } from './definition-source.ts';
import { createInformerSource } from './informer-source.ts';
import { isMadeForResource } from './passed-over.ts';

export interface ConfigMapSourceOptions {
  readonly cluster: Watcher;
  readonly namespace: string;
}

const configMapGvk = { group: '', version: 'v1', kind: 'ConfigMap' };

/** The keys that end in `.yaml`, `.yml` or `.json` of the ConfigMaps of a namespace that are labelled `homeostat.dev/definitions: "true"`. */
export function createConfigMapSource(options: ConfigMapSourceOptions): DefinitionSource {
  const { cluster, namespace } = options;
  const labelSelector = `${definitionsLabel}=true`;
  return createInformerSource({
    name: `ConfigMaps of ${namespace}`,
    covers: ({ source, ref }) => source === 'configmap' && ref.startsWith(`${namespace}/`),
    cluster,
    query: { gvk: configMapGvk, namespace, labelSelector },
    textsOf: textsInConfigMap,
  });
}

/** In the order of their keys. */
export function textsInConfigMap(configMap: KubeObject): readonly SourceText[] {
  const { metadata, data, binaryData } = configMap;
  if (isMadeForResource(configMap)) return [];
  const written = Object.entries(fieldsOf(data)).flatMap(([key, text]) =>
    typeof text === 'string' ? [{ key, text }] : [],
  );
  const binary = Object.keys(fieldsOf(binaryData)).map((key) => ({
    key,
    text: '',
    unreadable: 'It stands under binaryData, and is no text in UTF-8',
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
