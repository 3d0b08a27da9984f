import { isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { pointerTo } from '../../util/json-pointer.ts';
import { found } from '../describe-value.ts';
import type { Finding } from '../finding.ts';
import { fieldOf, itemsAt, mapsAt, valueAt } from '../tree.ts';
import { checkCrossNamespace, checkNamespaceUse, needsCrossNamespace } from './cross-namespace.ts';
import { holdsExpression } from './expression-text.ts';
import type { Rule } from './rule.ts';
import { checkSelector } from './selector.ts';

const choices = ['namespace', 'namespaces', 'namespaceSelector'] as const;

/** A read says in one way where it looks, and leaves the resource's namespace on purpose only. */
export const checkReadNamespaces: Rule = function* (document) {
  const isCluster = valueAt(document, '/spec/crd/scope') === 'Cluster';
  for (const { value: read, path } of mapsAt(document, '/spec/reads')) {
    const used = choices.filter((field) => Object.hasOwn(read, field));
    const [first, second] = used;
    if (second !== undefined)
      yield twoPlaces(pointerTo(path, second), [first, second].join('" or "'));
    yield* checkCrossNamespace(read.crossNamespace, pointerTo(path, 'crossNamespace'));
    if (first === undefined) yield* checkUseless(read, path);
    else if (first !== 'namespace' && Object.hasOwn(read, 'name')) yield listByName(path, first);
    else if (second === undefined) yield* checkPlace({ read, path, isCluster }, first);
  }
};

interface Read {
  readonly read: JsonObject;
  readonly path: string;
  readonly isCluster: boolean;
}

function* checkPlace(place: Read, field: (typeof choices)[number]): Iterable<Finding> {
  const { read, path, isCluster } = place;
  const { crossNamespace } = read;
  const at = pointerTo(path, field);
  switch (field) {
    case 'namespace':
      yield* checkNamespaceUse({ value: read.namespace, path: at, crossNamespace, isCluster });
      return;
    case 'namespaces':
      yield* checkList(place, at);
      return;
    case 'namespaceSelector':
      yield* checkNamespaceSelector(read, at);
      if (!isAllowed(crossNamespace)) yield needsCrossNamespace(at);
  }
}

function* checkList({ read, isCluster }: Read, path: string): Iterable<Finding> {
  const { namespaces, crossNamespace } = read;
  if (typeof namespaces !== 'string') {
    for (const { value, path: at } of itemsAt({ namespaces }, '/namespaces')) {
      const where = path.slice(0, -'/namespaces'.length) + at;
      yield* checkNamespaceUse({ value, path: where, crossNamespace, isCluster });
    }
  } else if (namespaces === '*') {
    if (!isAllowed(crossNamespace)) yield needsCrossNamespace(path);
  } else if (holdsExpression(namespaces)) {
    yield* checkNamespaceUse({ value: namespaces, path, crossNamespace, isCluster });
  } else {
    yield {
      code: 'wrong-type',
      path,
      message: `Expected a list of namespaces or "*", found ${found(namespaces)}`,
      hint: `Write "namespace: ${namespaces}" for one`,
    };
  }
}

function* checkNamespaceSelector(read: JsonObject, path: string): Iterable<Finding> {
  const { namespaceSelector: selector, crossNamespace } = read;
  const hint = 'Write "namespaces: \'*\'" to read from all of them';
  yield* checkSelector(selector, path, { insteadOfEmpty: hint });
  if (isJsonObject(crossNamespace) || !isComputed(selector)) return;
  yield {
    code: 'forbidden-expression',
    path,
    message: 'A computed selector of namespaces needs "crossNamespace" with globs',
    hint: 'Whoever may create the resource chooses them: write which they may be, "crossNamespace: { namespaces: [team-*] }"',
  };
}

function isComputed(value: Json | undefined): boolean {
  if (typeof value === 'string') return holdsExpression(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(isComputed);
}

function isAllowed(crossNamespace: Json | undefined): boolean {
  return crossNamespace === true || isJsonObject(crossNamespace);
}

function* checkUseless(read: JsonObject, path: string): Iterable<Finding> {
  if (!isAllowed(fieldOf(read, 'crossNamespace') as Json | undefined)) return;
  yield {
    code: 'invalid-value',
    path: pointerTo(path, 'crossNamespace'),
    at: 'key',
    message:
      '"crossNamespace" does nothing beside no namespace: the read looks into the resource\'s own',
    hint: 'Write "namespace", "namespaces" or "namespaceSelector", or leave it out',
  };
}

function listByName(path: string, field: string): Finding {
  return {
    code: 'invalid-value',
    path: pointerTo(path, field),
    at: 'key',
    message: `A read by "name" is of one object and takes "namespace", found "${field}"`,
    hint: 'Read a list by "selector"',
  };
}

function twoPlaces(path: string, both: string): Finding {
  return {
    code: 'invalid-value',
    path,
    at: 'key',
    message: `A read has "${both}", found both`,
  };
}
