import { pointerTo } from '../../util/json-pointer.ts';
import { namedNodes, type SchemaNode } from '../crd/schema-node.ts';
import { standardStatusFields, takesStandardField } from '../crd/standard-status.ts';
import type { Finding } from '../finding.ts';
import { fieldOf } from '../tree.ts';
import { schemaRootsOf } from './crd-versions-of.ts';
import type { Rule } from './rule.ts';

/** The status of the CRD has room for the fields that Homeostat writes. */
export const checkCrdStatusSchema: Rule = function* (document) {
  for (const root of schemaRootsOf(document)) {
    const status = namedNodes(root).get('status');
    if (status !== undefined) yield* checkStatus(status);
  }
};

function* checkStatus(status: SchemaNode): Iterable<Finding> {
  const type = fieldOf(status.value, 'type');
  if (typeof type === 'string' && type !== 'object') {
    yield {
      code: 'invalid-crd',
      path: pointerTo(status.path, 'type'),
      message: `Expected "object" as the type of the status, found "${type}"`,
    };
    return;
  }
  const additional = fieldOf(status.value, 'additionalProperties');
  if (additional !== undefined && additional !== true && namedNodes(status).size === 0) {
    yield {
      code: 'invalid-crd',
      path: pointerTo(status.path, 'additionalProperties'),
      at: 'key',
      message: 'The status cannot be a map of free names: Homeostat adds fields to it',
      hint: 'Put the map into a field of the status, or use "x-kubernetes-preserve-unknown-fields: true"',
    };
  }
  yield* checkStandardFields(status);
}

function* checkStandardFields(status: SchemaNode): Iterable<Finding> {
  const properties = namedNodes(status);
  for (const field of standardStatusFields) {
    const property = properties.get(field);
    if (property === undefined || takesStandardField(field, property.value)) continue;
    yield {
      code: 'invalid-crd',
      path: property.path,
      at: 'key',
      message: `Homeostat writes "status.${field}" itself, and this schema has another "${field}"`,
      hint: `Rename the field, or leave it out if it is meant to be the standard one`,
    };
  }
}
