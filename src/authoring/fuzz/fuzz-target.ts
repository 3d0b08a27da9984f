import {
  childKindsOf,
  type FuzzRule,
  type LocatedDefinition,
  type OperatorDefinition,
} from '#definition';
import { apiVersionOf } from '#util/gvk.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { Content } from './history.ts';

/** A definition, and what is needed to create its resources. */
export interface FuzzTarget {
  readonly definition: OperatorDefinition;
  /** Labels and annotations of each resource. */
  readonly metadata: Pick<KubeObject['metadata'], 'labels' | 'annotations'>;
  /** Values of earlier reconciles or the time are in the result, so that a reverse edit may lead to another state. */
  readonly hasMemory: boolean;
  /** The time is in the result, so that a reconcile may find that it has passed. */
  readonly usesTime: boolean;
  /** Rules that do not hold by intention. */
  readonly skip: ReadonlySet<FuzzRule>;
}

/** @param samples resources of any kind */
export function fuzzTarget(
  { definition, document }: LocatedDefinition,
  samples: readonly KubeObject[],
  skip: readonly FuzzRule[] = [],
): FuzzTarget {
  const sample = samplesOf(definition, samples)[0];
  const { labels, annotations } = sample?.metadata ?? {};
  const text = JSON.stringify(document.spec);
  const usesTime = /\$(?:now|millis)\b/.test(text);
  return {
    definition,
    usesTime,
    skip: new Set(skip),
    metadata: { ...(labels && { labels }), ...(annotations && { annotations }) },
    hasMemory:
      usesTime ||
      definition.children.some(({ leave, gate }) => (leave ?? gate) !== undefined) ||
      /\bobserved\b|(?<![\w.])status\./.test(text),
  };
}

/** The samples of the kind that the definition serves. */
export function samplesOf(
  { kind }: OperatorDefinition,
  samples: readonly KubeObject[],
): readonly KubeObject[] {
  return samples.filter(
    (sample) => sample.kind === kind.gvk.kind && sample.apiVersion.startsWith(kind.gvk.group),
  );
}

export function resourceOf(
  { definition, metadata }: FuzzTarget,
  name: string,
  { metadata: own, ...content }: Content,
): KubeObject {
  const { gvk } = definition.kind;
  // Values may be given for labels and annotations.
  const { labels = metadata.labels, annotations = metadata.annotations } = (
    isJsonObject(own) ? own : {}
  ) as FuzzTarget['metadata'];
  return {
    apiVersion: apiVersionOf(gvk),
    kind: gvk.kind,
    metadata: { name, ...(labels && { labels }), ...(annotations && { annotations }) },
    ...content,
  };
}

/** `Kind/name`, with the group where a child or read is of another kind with the same name. */
export function referenceOf({ definition }: FuzzTarget, name: string): string {
  const { kind, group } = definition.kind.gvk;
  const others = [...childKindsOf(definition), ...definition.reads.map(({ gvk }) => gvk)];
  const isAmbiguous = others.some((gvk) => gvk.kind === kind && gvk.group !== group);
  return `${kind}${isAmbiguous ? `.${group}` : ''}/${name}`;
}

/** The schema of a field of the status. */
export function statusFieldSchema(schema: JsonObject, field: string): JsonObject | undefined {
  return propertyOf(propertyOf(schema, 'status'), field);
}

function propertyOf(schema: JsonObject | undefined, name: string): JsonObject | undefined {
  const properties = schema?.properties;
  const property = isJsonObject(properties) ? properties[name] : undefined;
  return isJsonObject(property) ? property : undefined;
}
