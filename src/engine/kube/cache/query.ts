import { canonicalJson } from '#util/canonical-json.ts';
import { gvkKey } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { matchesRequirements } from '#util/label-selector.ts';
import { formatLabelSelector, parseLabelSelector } from '#util/label-selector-text.ts';
import type { InformerQuery } from '../roles.ts';
import { createRetainFields, type RetainFields } from './stored-object.ts';

const byName = /^metadata\.name=([^=,!]+)$/;

/** A parsed informer query with a canonical key. */
export interface ResolvedQuery {
  readonly query: InformerQuery;
  /** Equal for queries with the same selection and logging rules. */
  readonly key: string;
  /** The name, if the query selects one object. */
  readonly name: string | undefined;
  readonly selects: (object: KubeObject) => boolean;
  /** Returns the object with the fields to cache. Undefined: the whole object. */
  readonly retainFields?: RetainFields;
}

/** @throws RangeError for an invalid selector. */
export function resolveQuery(query: InformerQuery): ResolvedQuery {
  const { gvk, namespace, fullObjects, isPrivate } = query;
  const requirements = parseLabelSelector(query.labelSelector ?? '');
  const labelSelector = formatLabelSelector(requirements);
  const fieldSelector = query.fieldSelector ?? '';
  const name = nameOf(fieldSelector);
  return {
    query: {
      gvk,
      ...(namespace === undefined ? {} : { namespace }),
      ...(labelSelector === '' ? {} : { labelSelector }),
      ...(fieldSelector === '' ? {} : { fieldSelector }),
      ...(fullObjects && { fullObjects }),
      ...(isPrivate && { isPrivate }),
    },
    key: JSON.stringify([
      gvkKey(gvk),
      namespace ?? null,
      labelSelector,
      fieldSelector,
      ...(fullObjects ? [canonicalJson(fullObjects)] : []),
      ...(isPrivate ? ['private'] : []),
    ]),
    name,
    selects: ({ metadata }) =>
      (namespace === undefined ||
        metadata.namespace === undefined ||
        metadata.namespace === namespace) &&
      (name === undefined || metadata.name === name) &&
      matchesRequirements(requirements, metadata.labels),
    ...(fullObjects && { retainFields: createRetainFields(fullObjects) }),
  };
}

function nameOf(fieldSelector: string): string | undefined {
  if (fieldSelector === '') return undefined;
  const [, name] = byName.exec(fieldSelector) ?? [];
  if (name !== undefined) return name;
  throw new RangeError(
    `Expected a field selector "metadata.name=<name>", found "${fieldSelector}"`,
  );
}
