import { isJsonObject } from '../../util/json.ts';
import { pointerTo } from '../../util/json-pointer.ts';
import { fieldOf, mapsAt, valueAt } from '../tree.ts';
import { childLists } from './child-lists.ts';
import {
  checkCrossNamespace,
  checkNamespaceName,
  checkNamespaceUse,
  isNamespaceKind,
} from './cross-namespace.ts';
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
      if (!isJsonObject(metadata)) continue;
      const at = `${pointerTo(path, 'template')}/metadata`;
      if (isNamespaceKind(template)) {
        const named = { value: metadata.name, path: `${at}/name` };
        yield* checkNamespaceName({ ...named, crossNamespace });
      }
      if (!Object.hasOwn(metadata, 'namespace')) continue;
      const placed = { value: metadata.namespace, path: `${at}/namespace` };
      yield* checkNamespaceUse({ ...placed, crossNamespace, isCluster, isWritten: true });
    }
  }
};
