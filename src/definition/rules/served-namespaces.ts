import { found } from '../describe-value.ts';
import { itemsAt, mapAt, valueAt } from '../tree.ts';
import type { Rule } from './rule.ts';

const globPattern = /^[a-z0-9*?](?:[-a-z0-9*?]*[a-z0-9*?])?$/;

/** Globs that can match the name of a namespace; only resources that live in one are chosen by it. */
export const checkServedNamespaces: Rule = function* (document) {
  const path = '/spec/controller/namespaces';
  for (const list of ['include', 'exclude']) {
    for (const { value, path: at } of itemsAt(document, `${path}/${list}`)) {
      if (typeof value !== 'string' || globPattern.test(value)) continue;
      const message = `Expected a glob of namespaces such as "team-*", found ${found(value)}`;
      yield { code: 'invalid-value', path: at, message };
    }
  }
  const isCluster = valueAt(document, '/spec/crd/scope') === 'Cluster';
  if (!isCluster || Object.keys(mapAt(document, path)).length === 0) return;
  const message = 'Cluster-scoped resources have no namespace to be chosen by';
  yield { code: 'invalid-value', path, at: 'key', message };
};
