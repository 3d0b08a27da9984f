import { canonicalJson } from '../../util/canonical-json.ts';
import { gvkKey } from '../../util/gvk.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { meetsAll } from '../../util/label-selector.ts';
import type { InformerQuery } from '../roles.ts';
import { formatLabelSelector, parseLabelSelector } from './label-selector.ts';
import { createKeep, type Keep } from './slim-object.ts';

const byName = /^metadata\.name=([^=,!]+)$/;

/** An informer's query, understood: what it selects, and one key for all ways to write it. */
export interface ResolvedQuery {
  readonly query: InformerQuery;
  /** Equal for queries that select the same, and whose log may say so. */
  readonly key: string;
  /** The one name it selects, if it does. */
  readonly name: string | undefined;
  readonly selects: (object: KubeObject) => boolean;
  /** What is held of an object; undefined: all of it. */
  readonly keep?: Keep;
}

/** @throws RangeError for a selector that cannot be read. */
export function resolveQuery(query: InformerQuery): ResolvedQuery {
  const { gvk, namespace, wholeIf, isPrivate } = query;
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
      ...(wholeIf && { wholeIf }),
      ...(isPrivate && { isPrivate }),
    },
    key: JSON.stringify([
      gvkKey(gvk),
      namespace ?? null,
      labelSelector,
      fieldSelector,
      ...(wholeIf ? [canonicalJson(wholeIf)] : []),
      ...(isPrivate ? ['private'] : []),
    ]),
    name,
    selects: ({ metadata }) =>
      (namespace === undefined ||
        metadata.namespace === undefined ||
        metadata.namespace === namespace) &&
      (name === undefined || metadata.name === name) &&
      meetsAll(requirements, metadata.labels),
    ...(wholeIf && { keep: createKeep(wholeIf) }),
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
