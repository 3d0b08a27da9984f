import { isJsonObject } from '../../util/json.ts';
import { pointerTo } from '../../util/json-pointer.ts';
import { fieldOf, mapsAt, valueAt } from '../tree.ts';
import { childLists } from './child-lists.ts';
import { checkCrossNamespace, checkNamespaceUse } from './cross-namespace.ts';
import type { Rule } from './rule.ts';

/** A child leaves the namespace of its resource on purpose only. */
export const checkChildNamespaces: Rule = function* (document) {
  const isCluster = valueAt(document, '/spec/crd/scope') === 'Cluster';
  for (const list of childLists) {
    for (const { value: child, path } of mapsAt(document, list)) {
      const { crossNamespace } = child;
      yield* checkCrossNamespace(crossNamespace, pointerTo(path, 'crossNamespace'));
      const template = fieldOf(child, 'template');
      const metadata = isJsonObject(template) ? fieldOf(template, 'metadata') : undefined;
      if (!isJsonObject(metadata) || !Object.hasOwn(metadata, 'namespace')) continue;
      const at = `${pointerTo(path, 'template')}/metadata/namespace`;
      const value = metadata.namespace;
      yield* checkNamespaceUse({ value, path: at, crossNamespace, isCluster });
    }
  }
};
