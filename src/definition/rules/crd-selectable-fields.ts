import { didYouMean } from '../../util/did-you-mean.ts';
import { pointerTo } from '../../util/json-pointer.ts';
import { namedNodes, type SchemaNode, subnode } from '../crd/schema-node.ts';
import { found } from '../describe-value.ts';
import type { Finding } from '../finding.ts';
import { fieldOf, mapsAt } from '../tree.ts';
import { versionsOf } from './crd-versions-of.ts';
import type { Rule } from './rule.ts';

/** Selectable fields are texts, whole numbers or booleans of the schema. */
export const checkCrdSelectableFields: Rule = function* (document) {
  for (const version of versionsOf(document)) {
    const schema = subnode(version, 'schema');
    const root = schema && subnode(schema, 'openAPIV3Schema');
    if (root === undefined) continue;
    for (const { value, path } of mapsAt(version.value, '/selectableFields')) {
      const jsonPath = fieldOf(value, 'jsonPath');
      const at = pointerTo(version.path + path, 'jsonPath');
      if (typeof jsonPath === 'string') yield* checkPath({ root, jsonPath, at });
    }
  }
};

function* checkPath(options: {
  readonly root: SchemaNode;
  readonly jsonPath: string;
  readonly at: string;
}): Iterable<Finding> {
  const { root, jsonPath, at } = options;
  if (!/^(?:\.[A-Za-z_][\w-]*)+$/.test(jsonPath)) {
    const message = `Expected a path such as ".spec.color", found ${found(jsonPath)}`;
    yield { code: 'invalid-crd', path: at, message };
    return;
  }
  let node = root;
  for (const step of jsonPath.slice(1).split('.')) {
    const properties = namedNodes(node);
    const next = properties.get(step);
    if (next === undefined) {
      const message = `The schema has no field "${step}" at ${found(jsonPath)}`;
      yield { code: 'invalid-crd', path: at, message, hint: didYouMean(step, properties.keys()) };
      return;
    }
    node = next;
  }
  const type = fieldOf(node.value, 'type');
  if (typeof type !== 'string' || ['string', 'integer', 'boolean'].includes(type)) return;
  const message = `Expected a field of type "string", "integer" or "boolean", found "${type}"`;
  yield { code: 'invalid-crd', path: at, message };
}
