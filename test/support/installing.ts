import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import {
  type Condition,
  conditionOf,
  type StandardStatus,
  statusOf,
  thingDefinition,
} from './definitions.ts';

/** What the status of a definition says of its own objects. */
export function installOf(object: KubeObject | undefined): StandardStatus {
  const { install } = statusOf(object);
  return isJsonObject(install) ? (install as unknown as StandardStatus) : {};
}

/** Whether the definition is ready, with its own objects. */
export function isReady(object: KubeObject | undefined): boolean {
  return conditionOf(object)?.status === 'True';
}

/** Whether `Ready` of the definition has this reason. */
export function hasReason(object: KubeObject | undefined, reason: Condition['reason']): boolean {
  return conditionOf(object)?.reason === reason;
}

/** An entry of `install`, in YAML: a ConfigMap with a text. `more`: further fields, in flow style. */
export function installedMap(
  id: string,
  namespace: string,
  { name = id, text = 'one', more = '' } = {},
): string {
  return `
    - id: ${id}${more === '' ? '' : `\n      ${more}`}
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ definition.metadata.name }-${name}", namespace: ${namespace} }
        data: { text: ${text} }`;
}

/** A definition of a kind of its own with these entries of `install`, and further fields of `spec`. */
export function installing(name: string, entries: string, more = ''): string {
  const install = entries === '' ? '' : `  install:${entries}\n`;
  return thingDefinition(name, `${install}${more}`);
}
