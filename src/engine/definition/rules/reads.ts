import { isJsonObject, type Json, type JsonObject, pointerTo } from '#util/json.ts';
import type { Finding } from '../finding.ts';
import { describeFound, fieldOf, itemsAt, mapsAt, valueAt } from '../tree.ts';
import { checkKindLiteral } from './kind-literal.ts';
import { checkCrossNamespace, checkNamespaceReference, needsCrossNamespace } from './namespaces.ts';
import { containsExpression, type Rule } from './rule.ts';
import { checkSelector } from './selector.ts';

const namespaceFields = ['namespace', 'namespaces', 'namespaceSelector'] as const;

/** A read names its namespaces in one way, and reads from other namespaces only with `crossNamespace`. */
export const checkReadNamespaces: Rule = function* (document) {
  const isCluster = valueAt(document, '/spec/crd/scope') === 'Cluster';
  for (const { value: read, path } of mapsAt(document, '/spec/reads')) {
    const used = namespaceFields.filter((field) => Object.hasOwn(read, field));
    const [first, second] = used;
    if (second !== undefined)
      yield conflictingFields(pointerTo(path, second), [first, second].join('" or "'));
    yield* checkCrossNamespace(read.crossNamespace, pointerTo(path, 'crossNamespace'));
    if (first === undefined) yield* checkUnusedCrossNamespace(read, path);
    else if (first !== 'namespace' && Object.hasOwn(read, 'name')) yield listByName(path, first);
    else if (second === undefined) yield* checkNamespaceField({ read, path, isCluster }, first);
  }
};

interface Read {
  readonly read: JsonObject;
  readonly path: string;
  readonly isCluster: boolean;
}

function* checkNamespaceField(
  place: Read,
  field: (typeof namespaceFields)[number],
): Iterable<Finding> {
  const { read, path, isCluster } = place;
  const { crossNamespace } = read;
  const at = pointerTo(path, field);
  switch (field) {
    case 'namespace':
      yield* checkNamespaceReference({
        value: read.namespace,
        path: at,
        crossNamespace,
        isCluster,
      });
      return;
    case 'namespaces':
      yield* checkList(place, at);
      return;
    case 'namespaceSelector':
      yield* checkNamespaceSelector(read, at);
      if (!allowsOtherNamespaces(crossNamespace)) yield needsCrossNamespace(at);
  }
}

function* checkList({ read, isCluster }: Read, path: string): Iterable<Finding> {
  const { namespaces, crossNamespace } = read;
  if (typeof namespaces !== 'string') {
    for (const { value, path: at } of itemsAt({ namespaces }, '/namespaces')) {
      const where = path.slice(0, -'/namespaces'.length) + at;
      yield* checkNamespaceReference({ value, path: where, crossNamespace, isCluster });
    }
  } else if (namespaces === '*') {
    if (!allowsOtherNamespaces(crossNamespace)) yield needsCrossNamespace(path);
  } else if (containsExpression(namespaces)) {
    yield* checkNamespaceReference({ value: namespaces, path, crossNamespace, isCluster });
  } else {
    yield {
      code: 'wrong-type',
      path,
      message: `Expected a list of namespaces or "*", found ${describeFound(namespaces)}`,
      hint: `Write "namespace: ${namespaces}" for a single namespace`,
    };
  }
}

function* checkNamespaceSelector(read: JsonObject, path: string): Iterable<Finding> {
  const { namespaceSelector: selector, crossNamespace } = read;
  const hint = 'Write "namespaces: \'*\'" to read from all namespaces';
  yield* checkSelector(selector, path, { insteadOfEmpty: hint });
  if (isJsonObject(crossNamespace) || !isComputed(selector)) return;
  yield {
    code: 'forbidden-expression',
    path,
    message: 'A computed "namespaceSelector" requires "crossNamespace" with globs',
    hint: 'Users who can create the resource choose the namespaces; restrict them with "crossNamespace: { namespaces: [team-*] }"',
  };
}

function isComputed(value: Json | undefined): boolean {
  if (typeof value === 'string') return containsExpression(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(isComputed);
}

function allowsOtherNamespaces(crossNamespace: Json | undefined): boolean {
  return crossNamespace === true || isJsonObject(crossNamespace);
}

function* checkUnusedCrossNamespace(read: JsonObject, path: string): Iterable<Finding> {
  if (!allowsOtherNamespaces(fieldOf(read, 'crossNamespace') as Json | undefined)) return;
  yield {
    code: 'invalid-value',
    path: pointerTo(path, 'crossNamespace'),
    at: 'key',
    message: '"crossNamespace" has no effect: the read uses the namespace of the resource',
    hint: 'Add "namespace", "namespaces" or "namespaceSelector", or remove it',
  };
}

function listByName(path: string, field: string): Finding {
  return {
    code: 'invalid-value',
    path: pointerTo(path, field),
    at: 'key',
    message: `A read by "name" supports only "namespace", found "${field}"`,
    hint: 'Use "selector" to read a list',
  };
}

function conflictingFields(path: string, both: string): Finding {
  return {
    code: 'invalid-value',
    path,
    at: 'key',
    message: `Expected only one of "${both}", found both`,
  };
}

/** A read selects one object by name, or a list by names or a selector that is not empty. */
export const checkReads: Rule = function* (document) {
  for (const { value: read, path } of mapsAt(document, '/spec/reads')) {
    for (const field of ['apiVersion', 'kind']) {
      if (Object.hasOwn(read, field)) yield* checkKindLiteral({ parent: read, path, field });
    }
    yield* checkChoice(read, path);
    if (Object.hasOwn(read, 'selector')) {
      yield* checkSelector(read.selector, pointerTo(path, 'selector'), {
        all: 'objects of the kind',
        mayBeComputed: true,
      });
    }
  }
};

function* checkChoice(read: JsonObject, path: string): Iterable<Finding> {
  const hasName = Object.hasOwn(read, 'name');
  const hasSelector = Object.hasOwn(read, 'selector');
  if (hasName && hasSelector) {
    yield {
      code: 'invalid-value',
      path: pointerTo(path, 'selector'),
      at: 'key',
      message: 'A read has either "name" or "selector", found both',
    };
  } else if (!hasName && !hasSelector) {
    yield {
      code: 'missing-field',
      path: pointerTo(path, 'name'),
      at: 'parent-key',
      message: 'A read requires "name" or "selector", found neither',
      hint: 'Write "selector: all" to read all objects of the kind',
    };
  }
  if (hasName) yield* checkName(read.name, pointerTo(path, 'name'));
}

function* checkName(name: Json | undefined, path: string): Iterable<Finding> {
  const code = 'invalid-value';
  if (name === '') yield { code, path, message: 'Expected a name, found an empty string' };
  if (!Array.isArray(name)) return;
  if (name.length === 0) {
    const hint = 'Write the names, or an expression that returns them';
    yield { code, path, message: 'Expected at least one name, found an empty list', hint };
  }
  for (const [index, each] of name.entries()) {
    const at = pointerTo(path, index);
    if (each === '') yield { code, path: at, message: 'Expected a name, found an empty string' };
    else if (name.indexOf(each) < index && typeof each === 'string')
      yield { code, path: at, message: `The name ${describeFound(each)} is listed twice` };
  }
}
