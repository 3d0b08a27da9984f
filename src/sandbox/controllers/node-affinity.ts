import { isJsonObject, type JsonObject } from '../../util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import type { StoredObject } from '../store/index.ts';
import { partOf } from './controller-world.ts';

const required = 'requiredDuringSchedulingIgnoredDuringExecution';

/** An affinity to one node by its name, instead of what it says of nodes otherwise. */
export function affinityTo(nodeName: string, affinity: JsonObject): JsonObject {
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [nodeName] }];
  const nodeAffinity = objectField(affinity, 'nodeAffinity') ?? {};
  return {
    ...affinity,
    nodeAffinity: { ...nodeAffinity, [required]: { nodeSelectorTerms: [{ matchFields }] } },
  };
}

/** The node that a pod is bound to, or would be by its affinity; empty when any will do. */
export function nodeOf(pod: StoredObject): string {
  const spec = partOf(pod, 'spec');
  const bound = stringField(spec, 'nodeName') ?? '';
  if (bound !== '') return bound;
  const nodeAffinity = objectField(objectField(spec, 'affinity') ?? {}, 'nodeAffinity') ?? {};
  const names = listField(objectField(nodeAffinity, required) ?? {}, 'nodeSelectorTerms')
    .filter(isJsonObject)
    .flatMap((term) => listField(term, 'matchFields').filter(isJsonObject))
    .filter(({ key }) => key === 'metadata.name')
    .flatMap((field) => listField(field, 'values'));
  return String(names[0] ?? '');
}
