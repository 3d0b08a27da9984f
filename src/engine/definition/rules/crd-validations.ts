import { pointerTo } from '#util/json.ts';
import { namedNodes, type SchemaNode } from '../crd/schema-node.ts';
import { acceptsStandardField, standardStatusFields } from '../crd/standard-status.ts';
import type { Finding } from '../finding.ts';
import { fieldOf, mapsAt } from '../tree.ts';
import { schemaNodesOf, schemaRootsOf } from './crd-versions.ts';
import type { Rule } from './rule.ts';

/** The messages of `x-kubernetes-validations` are valid for the API server. The server validates the CEL expressions. */
export const checkCrdValidations: Rule = function* (document) {
  for (const node of schemaNodesOf(document)) {
    for (const { value, path } of mapsAt(node.value, '/x-kubernetes-validations')) {
      yield* checkValidation(value, node.path + path);
    }
  }
};

function* checkValidation(validation: unknown, path: string): Iterable<Finding> {
  const rule = fieldOf(validation, 'rule');
  const message = fieldOf(validation, 'message');
  if (typeof message === 'string' && message.trim().includes('\n')) {
    const found = 'Expected a message on one line, found a line break';
    yield { code: 'invalid-crd', path: pointerTo(path, 'message'), message: found };
  }
  if (typeof rule === 'string' && rule.trim().includes('\n') && message === undefined) {
    yield {
      code: 'invalid-crd',
      path: pointerTo(path, 'message'),
      at: 'parent-key',
      message: 'Missing field "message": a rule with line breaks requires one',
    };
  }
}

/** Patterns in a CRD schema are RE2, which has no look-around and no backreferences. */
export const checkCrdPatterns: Rule = function* (document) {
  for (const node of schemaNodesOf(document)) {
    const pattern = fieldOf(node.value, 'pattern');
    if (typeof pattern !== 'string') continue;
    const rejected = /\(\?<?[=!]|\\[1-9]/.exec(pattern.replaceAll('\\\\', ''))?.[0];
    if (rejected === undefined) continue;
    yield {
      code: 'invalid-crd',
      path: pointerTo(node.path, 'pattern'),
      message: `The API server does not support look-around and backreferences in patterns (RE2), found "${rejected}"`,
      hint: 'Use "x-kubernetes-validations"',
    };
  }
};

/** The status schema of the CRD allows the fields that Homeostat writes. */
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
      message: 'The status cannot be a map with arbitrary keys: Homeostat adds fields to it',
      hint: 'Move the map to a field of the status, or use "x-kubernetes-preserve-unknown-fields: true"',
    };
  }
  yield* checkStandardFields(status);
}

function* checkStandardFields(status: SchemaNode): Iterable<Finding> {
  const properties = namedNodes(status);
  for (const field of standardStatusFields) {
    const property = properties.get(field);
    if (property === undefined || acceptsStandardField(field, property.value)) continue;
    yield {
      code: 'invalid-crd',
      path: property.path,
      at: 'key',
      message: `Homeostat writes "status.${field}", and this schema is not compatible with it`,
      hint: `Rename the field, or remove it to use the standard schema`,
    };
  }
}
